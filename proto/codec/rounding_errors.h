// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rounding errors of a chunk's spans (span_clock.h). Most spans are without errors. Only spans
// with errors are stored, each with the number of rows without errors before it (FORMAT.md, "From
// ticks to times"). The writer and the reader use this file.
//
// One thread; nothing is allocated.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

class RoundingErrors {
 public:
  static constexpr uint64_t kCodes = 9;
  static constexpr uint64_t kExplicit = 8;  // the next value holds both errors

  // Returns the code of a row's two errors. kExplicit unless each is -1, 0 or 1. Not for a row
  // without errors.
  static uint64_t CodeOf(int64_t start_error, int64_t end_error) {
    if (start_error < -1 || start_error > 1 || end_error < -1 || end_error > 1) return kExplicit;
    const auto place = static_cast<uint64_t>(3 * (start_error + 1) + end_error + 1);
    return place > 4 ? place - 1 : place;
  }
  // Finds the two errors of a code below kExplicit.
  static void Split(uint64_t code, int64_t* start_error, int64_t* end_error) {
    const auto place = static_cast<int64_t>(code < 4 ? code : code + 1);
    *start_error = place / 3 - 1;
    *end_error = place % 3 - 1;
  }
};

// Fills `joined` with SpanClock::Joined of each row's errors, for a chunk of this tick. Returns
// false if the bytes make no sense.
bool DecodeRoundingErrors(const uint8_t* data, uint64_t bytes, uint64_t tick, uint64_t* joined,
                          uint32_t count);

}  // namespace gpuprof::codec
