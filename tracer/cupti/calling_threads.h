// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that records have told of, each with its track, and the buffers of those that were busy
// of late. Programs may make a thread for each call: one that goes on after it was forgotten is
// found anew by ThreadTracks.
//
// One thread at a time (the drain's pass).

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/codec/span_buffer.h"
#include "tracer/cupti/place_index.h"
#include "tracer/cupti/thread_tracks.h"

namespace gpuprof::tracer::cupti {

struct CallingThread {
  uint32_t tid, track;
  uint64_t since, until;  // as ThreadTracks::Answer
  uint32_t used = 0;      // times that rows were written by then
  codec::SpanBuffer* calls = nullptr;
  codec::SpanBuffer* overheads = nullptr;
};

class CallingThreads {
 public:
  // Up to so many nothing is given up; more than the latter are not known once rows are written.
  static constexpr size_t kMany = 1024;
  static constexpr size_t kMostKnown = 1u << 16;

  explicit CallingThreads(ThreadTracks* tracks) : tracks_(tracks) {}
  CallingThreads(const CallingThreads&) = delete;
  CallingThreads& operator=(const CallingThreads&) = delete;

  // Until the next call.
  CallingThread* Of(uint32_t tid, uint64_t time) {
    newest_ = std::max(newest_, time);
    if (last_ != PlaceIndex::kNone && IsIt(threads_[last_], tid, time)) return &threads_[last_];
    return Find(tid, time);
  }

  // No buffer holds a row any longer. To `unused` those that no thread needs now.
  void RowsAreWritten(std::vector<const codec::SpanBuffer*>* unused);

  size_t known() const { return threads_.size(); }
  uint64_t memory_bytes() const;

 private:
  static bool IsIt(const CallingThread& known, uint32_t tid, uint64_t time) {
    return known.tid == tid && known.since <= time && time < known.until;
  }
  CallingThread* Find(uint32_t tid, uint64_t time);

  ThreadTracks* tracks_;
  std::vector<CallingThread> threads_;
  PlaceIndex index_;  // by tid
  uint32_t last_ = PlaceIndex::kNone;
  uint32_t written_ = 0;
  uint64_t newest_ = 0;  // end of a call, on CUPTI's clock
};

}  // namespace gpuprof::tracer::cupti
