// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The recording of a CUDA event that a wait was for, and so the awaited stream. From CUPTI 12.8 on
// both have a number in common. Before, it is the event's last recording before the wait's call. If
// the recording is not in the trace, nothing is guessed.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// CUpti_ActivitySynchronizationType.
inline constexpr uint32_t kEventWait = 1, kStreamEventWait = 2, kStreamWait = 3, kContextWait = 4;

struct EventRecord {
  int64_t time_ns = 0;       // when the call began
  uint32_t track = 0;        // of the stream, in Process::tracks; OfDevice
  uint32_t correlation = 0;  // of the call
};

class EventRecords {
 public:
  // Uses both arguments, which must outlive it.
  EventRecords(const Process& process, const CallIndex& calls);

  // Returns the index of the stream's other track, or `track` itself. A stream may have two tracks.
  // One holds the rows that came before CUPTI reported the device of the stream's context.
  uint32_t OfDevice(uint32_t track) const { return of_device_[track]; }

  // Finds the recording for a row of kind kEventWait or kStreamEventWait. Null: not known.
  const EventRecord* Find(const SyncTable& waits, size_t row) const;

 private:
  size_t CaptureOf(int64_t time_ns) const;

  void JoinTracks();

  const Process* process_;
  const CallIndex* calls_;
  std::vector<uint32_t> of_device_;
  std::vector<EventRecord> records_;                  // by time
  std::unordered_map<uint64_t, uint32_t> by_number_;  // index in records_
  // An event's number: its recordings by time, and whether only one context uses the number.
  struct OfEvent {
    std::vector<uint32_t> records;
    bool is_of_one_context = true;
  };
  std::unordered_map<uint32_t, OfEvent> by_id_;
  bool is_whole_ = true;  // no recording can be missing
};

}  // namespace gpuprof::analysis
