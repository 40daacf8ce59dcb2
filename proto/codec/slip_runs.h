// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Slips of a chunk's spans (span_clock.h), of which most are none: the others alone, each with the
// rows since the last one that have none (FORMAT.md, "From ticks to times"). Writer and reader.
//
// One thread; nothing is allocated.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

class SlipRuns {
 public:
  static constexpr uint64_t kCodes = 9;
  static constexpr uint64_t kToldApart = 8;  // by a value of its own

  // Of slips that are at most 1 either way, and not both 0. Others: kToldApart.
  static uint64_t CodeOf(int64_t start_slip, int64_t end_slip) {
    if (start_slip < -1 || start_slip > 1 || end_slip < -1 || end_slip > 1) return kToldApart;
    const auto place = static_cast<uint64_t>(3 * (start_slip + 1) + end_slip + 1);
    return place > 4 ? place - 1 : place;
  }
  static void Part(uint64_t code, int64_t* start_slip, int64_t* end_slip) {
    const auto place = static_cast<int64_t>(code < 4 ? code : code + 1);
    *start_slip = place / 3 - 1;
    *end_slip = place % 3 - 1;
  }
};

// Fills `joined` with what Chunk.slip would have said of each row, for chunks of this tick. False:
// it makes no sense.
bool DecodeSlipRuns(const uint8_t* data, uint64_t bytes, uint64_t tick, uint64_t* joined,
                    uint32_t count);

}  // namespace gpuprof::codec
