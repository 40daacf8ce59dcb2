// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Turns CUPTI's activity records into rows: kernels, copies, sets, waits and allocations on a track
// for each stream, API calls on their threads' tracks. Beside the rows it keeps what they refer to:
// signatures, streams, devices, names of functions.
//
// One thread at a time (the drain's pass).

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "proto/codec/span_buffer.h"
#include "tracer/cupti/abi.h"
#include "tracer/cupti/api_functions.h"
#include "tracer/cupti/buffers.h"
#include "tracer/cupti/calling_threads.h"
#include "tracer/cupti/context_events.h"
#include "tracer/cupti/device_records.h"
#include "tracer/cupti/driver_calls.h"
#include "tracer/cupti/event_times.h"
#include "tracer/cupti/graph_table.h"
#include "tracer/cupti/library.h"
#include "tracer/cupti/memory_records.h"
#include "tracer/cupti/rate_budget.h"
#include "tracer/cupti/record_walk.h"
#include "tracer/cupti/signatures.h"
#include "tracer/cupti/stream_events.h"
#include "tracer/cupti/stream_table.h"
#include "tracer/cupti/thread_tracks.h"

namespace gpuprof::tracer::cupti {

struct ActivityCounters {
  uint64_t records = 0;
  uint64_t kernels = 0;
  // Records without times: the library ran out of room on the device.
  uint64_t without_times = 0;
  // Still running when they were asked for by force, now or at the end of an earlier capture.
  uint64_t unfinished = 0;
  // Buffers that the library did not read to their ends.
  uint64_t unread = 0;
  // Of kinds that nobody asked for.
  uint64_t unknown = 0;
};

class ActivitySorter {
 public:
  ActivitySorter(codec::InternTables* strings, ThreadTracks* tracks);
  ActivitySorter(const ActivitySorter&) = delete;
  ActivitySorter& operator=(const ActivitySorter&) = delete;

  void Consume(const FilledBuffer& buffer, NextRecordFunction next_record,
               const FunctionNames& names);
  // After a pass over what there was: the driver's calls that no call of the runtime has claimed
  // become rows, and recordings of events whose call has come. With `all` nothing waits any longer.
  void Release(uint64_t now, uint64_t ticks_per_second, bool all, const FunctionNames& names);

  // CUPTI's time before which no work of this capture can have begun; 0: all of it is the
  // capture's. What began before is of an earlier one, whose end CUPTI has made up when it was
  // asked again (as pytorch/kineto says in pull 1105).
  void SetEarliest(uint64_t cupti_ns) { earliest_ = cupti_ns; }

  void SetCode(const KernelCode* code) { signatures_.SetCode(code); }
  // Whether what records lead to is ours to free; by default it is nobody's business here.
  void OwnData(bool is_own) { owns_data_ = is_own; }

  RateBudget& budget() { return budget_; }
  const RateBudget& budget() const { return budget_; }

  // Rows that wait to be written, in buffers of which some may be empty.
  uint64_t rows() const { return rows_; }
  std::vector<std::unique_ptr<codec::SpanBuffer>>& buffers() { return buffers_; }
  // Of buffers that nobody needs now some are gone after it.
  void RowsAreWritten();

  // Tables that rows refer to, to be written before them; each returns the number of entries.
  uint32_t TakeSignatures(std::vector<uint8_t>* out) { return signatures_.Take(out); }
  uint32_t TakeStreams(std::vector<uint8_t>* out) { return streams_.Take(devices_, out); }
  uint32_t TakeDevices(const OwnBuffers& own, std::vector<uint8_t>* out) {
    return devices_.Take(own, out);
  }
  uint32_t TakeFunctions(std::vector<uint8_t>* out);

  // Both empty the queue.
  void TakeHandles(StreamEvents* events);
  void TakeContexts(ContextEvents* events);
  void NoteCudaHadBegun() { devices_.NoteCudaHadBegun(); }
  // Of devices and contexts: they are worth writing even where nothing refers to them.
  bool has_news() const { return devices_.has_news(); }
  GraphTable& graphs() { return graphs_; }
  const GraphTable& graphs() const { return graphs_; }

  const ActivityCounters& counters() const { return counters_; }
  uint64_t signatures_refused() const { return signatures_.refused(); }
  uint64_t streams_forgotten() const { return streams_.forgotten(); }
  uint64_t memory_bytes() const;

 private:
  void Take(const Record& record, const FunctionNames& names);
  void TakeCall(const Record& record, const FunctionNames& names);
  void TakeKernel(const Record& record);
  void AppendKernel(const Record& record, uint8_t device_launched);
  void TakeCopy(const Record& record);
  void TakePeerCopy(const Record& record);
  void TakeSet(const Record& record);
  void AppendCall(const ApiCall& call, const FunctionNames& names);
  void NameFunction(uint32_t function, const FunctionNames& names);
  void TakeWait(const Record& record);
  void TakeEvent(const Record& record);
  void AppendEvent(const EventRecording& recording);
  void TakeMemory(const Record& record);
  void TakePool(const Record& record);
  void TakeStream(const Record& record);
  void TakeGraphLaunch(const Record& record);
  void TakeHostLaunch(const Record& record);
  void TakeGraphHostNode(const Record& record);
  void TakeOverhead(const Record& record);
  void TakeJit(const Record& record);
  void TakeUnifiedMemory(const Record& record);
  // False: its times are not to be had, which is counted.
  bool HasTimes(uint64_t start, uint64_t end);
  // The same of the device's work.
  bool HasWorkTimes(uint64_t start, uint64_t end);
  Stream* StreamOf(uint32_t device, uint32_t context, uint32_t stream) {
    return streams_.Of(device, context, stream);
  }
  uint32_t DeviceOf(uint32_t context) const;
  // Nodes are a class of their own only where there is a limit.
  RateBudget::Class ClassOf(uint64_t graph) const {
    return graph != 0 && budget_.is_limited() ? RateBudget::kNodes : RateBudget::kCalls;
  }
  // Made where there is none yet.
  codec::SpanBuffer* BufferOf(codec::SpanBuffer** buffer, proto::ChunkKind kind, uint32_t track) {
    if (*buffer == nullptr) *buffer = NewBuffer(kind, track);
    return *buffer;
  }
  codec::SpanBuffer* NewBuffer(proto::ChunkKind kind, uint32_t track);
  void Append(codec::SpanBuffer** buffer, proto::ChunkKind kind, uint32_t track,
              const uint64_t* row);
  // Of what a call began: unless the budget leaves it out.
  template <size_t kColumns>
  void AppendChosen(RateBudget::Class of, uint64_t correlation, codec::SpanBuffer** buffer,
                    proto::ChunkKind kind, uint32_t track, const uint64_t (&row)[kColumns]);
  // Both on the track of a stream.
  template <proto::ChunkKind kKind>
  void Append(Stream* stream, const uint64_t* row);
  template <proto::ChunkKind kKind, size_t kColumns>
  void AppendChosen(RateBudget::Class of, uint64_t correlation, Stream* stream,
                    const uint64_t (&row)[kColumns]);
  codec::SpanBuffer* LateBuffer(proto::ChunkKind kind, uint32_t track, uint32_t one_in);

  Signatures signatures_;
  GraphTable graphs_;
  NameCache names_;  // of kernels, variables and libraries
  DeviceRecords devices_;
  codec::InternTables* strings_;
  StreamTable streams_;
  CallingThreads threads_;
  DriverCalls driver_calls_;
  RateBudget budget_;
  std::vector<ApiCall> calls_of_runtime_;  // of the buffer that is read, as those of the driver
  std::vector<ApiCall> calls_of_driver_;
  std::vector<ApiCall> released_;
  EventTimes event_times_;
  std::vector<EventRecording> recordings_;  // that have their times
  uint64_t earliest_ = 0;
  bool owns_data_ = false;
  std::vector<std::unique_ptr<codec::SpanBuffer>> buffers_;
  std::vector<const codec::SpanBuffer*> unused_;
  std::vector<codec::SpanBuffer*> late_;
  std::vector<bool> known_functions_;                         // by domain and callback id
  std::vector<std::pair<uint32_t, uint32_t>> new_functions_;  // function, string id
  uint32_t last_function_ = 0;                                // that was named
  uint64_t rows_ = 0;
  ActivityCounters counters_;
};

}  // namespace gpuprof::tracer::cupti
