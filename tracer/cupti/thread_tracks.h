// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where tracks come from. The drain thread, or whoever holds its pass.

#pragma once

#include <cstdint>

namespace gpuprof::tracer::cupti {

// Says which track the events of a thread are on. Thread ids are given again: so it depends on the
// time, on CUPTI's clock.
class ThreadTracks {
 public:
  struct Answer {
    uint32_t track;
    uint64_t since, until;  // holds for these times; for none where both are 0
  };

  virtual ~ThreadTracks() = default;
  virtual Answer TrackAt(uint32_t tid, uint64_t time) = 0;
  // For a stream.
  virtual uint32_t NewTrack() = 0;
};

}  // namespace gpuprof::tracer::cupti
