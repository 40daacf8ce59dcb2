// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The drain's part of GPU recording: buffers that CUPTI has filled become rows, and rows become
// blocks of the trace. What writes the blocks is the drain's own.
//
// The drain thread, or whoever holds its pass.

#pragma once

#include <vector>

#include "tracer/cupti/activity_sorter.h"
#include "tracer/cupti/block_sink.h"
#include "tracer/cupti/clock_readings.h"
#include "tracer/cupti/table_writer.h"
#include "tracer/cupti/thread_lives.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class ActivityDrain : public ThreadTracks {
 public:
  ActivityDrain(const Host* host, codec::InternTables* strings);

  // Empties what CUPTI has filled since the last time; writes when there is enough, or `now` (in
  // ticks) is a second after the oldest row came.
  void Pass(uint64_t now, BlockSink* sink);
  // Nothing more comes of this capture: what waited for it waits no longer.
  void EndCapture();
  // Everything that is there.
  void FlushAll(BlockSink* sink);

  // Rows that could not be recorded: dropped by CUPTI, for want of buffers, or without times.
  uint64_t dropped() const;
  uint64_t without_times() const;
  uint64_t signatures_refused() const { return sorter_.signatures_refused(); }
  // Streams that rested while very many others had work: one that went on is there twice.
  uint64_t streams_forgotten() const { return sorter_.streams_forgotten(); }
  const RateBudget& budget() const { return sorter_.budget(); }
  // Events of graphs that are being made, of streams and of contexts, for which there was no room.
  uint64_t graph_events_refused() const;
  uint64_t stream_events_refused() const;
  uint64_t context_events_refused() const;

  // Of CUPTI's time, to some microseconds, by the newest reading of both clocks; now where there is
  // none yet.
  uint64_t TicksOf(uint64_t cupti_ns) const;

  // A ring is given back: its thread has ended, though not all that CUPTI tells of it is here.
  void ThreadEnded(const proto::RingHeader& ring) { lives_.AddEnded(ring); }

  // The same at a time in ticks, for marks of another recorder.
  uint32_t TrackOf(uint32_t tid, uint64_t ticks);
  // Writes the threads that got a track of their own since the last time.
  void WriteThreads(BlockSink* sink);
  Answer TrackAt(uint32_t tid, uint64_t time) override;
  uint32_t NewTrack() override;

 private:
  uint64_t CuptiTimeOf(uint64_t ticks) const;
  // CUPTI's time before which the capture's work cannot have begun; 0: not known.
  uint64_t EarliestWork() const;
  void TakeBuffers();
  // What the callbacks left: of graphs, streams and contexts.
  void TakeEvents();
  // Rows, what they refer to, and what is new of devices.
  void Consume(const FilledBuffer& filled);
  // Those that came since it was told last.
  void AdaptBudget(BlockSink* sink);
  uint32_t TakeGraphs(std::vector<uint8_t>* out);
  void WriteRows(BlockSink* sink);
  void WriteTables(BlockSink* sink);
  void WriteClocks(BlockSink* sink);
  // For recovery: where no row waits, what CUPTI had delivered by then is in the trace.
  void NoteWritten(uint64_t handed_over);
  template <typename Take>
  void WriteTable(proto::ChunkKind kind, int field, BlockSink* sink, Take take);

  const Host* host_;
  ActivitySorter sorter_;
  TableWriter tables_;
  std::vector<uint8_t> message_;
  ThreadLives lives_;
  ClockReading reading_ = {};  // the newest; without cupti_ns: none yet
  uint64_t first_ticks_ = 0;   // when the oldest unwritten row came; 0: none
};

}  // namespace gpuprof::tracer::cupti
