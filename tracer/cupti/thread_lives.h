// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which track the events of a thread are on, also after it has ended: CUPTI hands over the records
// of its calls up to a second later, when its ring may be another's, and its id, too. Times are
// ticks.
//
// The drain thread, or whoever holds its pass.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/cupti/place_index.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

// A track, and from when until before when what the thread did is on it.
struct ThreadLife {
  uint32_t track = 0;
  uint64_t since = 0, until = 0;
};

class ThreadLives {
 public:
  // The newest of those that ended: more than end while CUPTI holds a record back.
  static constexpr size_t kMostEnded = 8192;
  // Of those without a ring, once they have been told. Beyond it those are forgotten that have
  // ended and were looked for least recently; beyond twice as many, any of these.
  static constexpr size_t kMostMade = 1u << 15;

  explicit ThreadLives(const Host* host) : host_(host) {}
  ThreadLives(const ThreadLives&) = delete;
  ThreadLives& operator=(const ThreadLives&) = delete;

  // The ring's thread has gone.
  void AddEnded(const proto::RingHeader& ring);
  // Of whoever had the id `tid` at `ticks`, as far as is known at `now`: of the threads with this
  // id the one that came last by then. One that came before its first own event, when nobody else
  // is known, has that, too; of one without a ring a track is made.
  ThreadLife Find(uint32_t tid, uint64_t ticks, uint64_t now);

  // Appends a serialized Threads message of the tracks made since the last time; returns how many.
  uint32_t TakeMade(uint64_t now, std::vector<uint8_t>* out);

  size_t made() const { return made_.size(); }

 private:
  struct Ended {
    uint32_t tid, track;
    uint64_t opened;
  };
  // A thread without a ring.
  struct Made {
    uint32_t tid, track;
    uint32_t used;  // times that made ones were told by then
  };

  void ForgetOldest();

  const Host* host_;
  std::vector<Ended> ended_;
  size_t oldest_ = 0;  // of them, once there are kMostEnded
  std::vector<Made> made_;
  PlaceIndex made_index_;  // by tid
  size_t told_ = 0;        // of the made ones
  uint32_t times_told_ = 0;
};

}  // namespace gpuprof::tracer::cupti
