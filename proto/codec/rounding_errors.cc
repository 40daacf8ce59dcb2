// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/codec/rounding_errors.h"

#include <algorithm>

#include "proto/codec/span_clock.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {

bool DecodeRoundingErrors(const uint8_t* data, uint64_t bytes, uint64_t tick, uint64_t* joined,
                          uint32_t count) {
  std::fill(joined, joined + count, 0);
  const SpanClock clock(0, {tick, 0, false});
  const uint8_t* const end = data + bytes;
  for (uint64_t row = 0; data != end; ++row) {
    uint64_t value = 0;
    data = GetVarint(data, end, &value);
    if (data == nullptr || value / RoundingErrors::kCodes >= count - row) return false;
    row += value / RoundingErrors::kCodes;
    const uint64_t code = value % RoundingErrors::kCodes;
    if (code == RoundingErrors::kExplicit) {
      data = GetVarint(data, end, &value);
      if (data == nullptr) return false;
      joined[row] = UnZigZag(value);
    } else {
      int64_t start_error, end_error;
      RoundingErrors::Split(code, &start_error, &end_error);
      joined[row] = clock.Joined(start_error, end_error);
    }
  }
  return true;
}

}  // namespace gpuprof::codec
