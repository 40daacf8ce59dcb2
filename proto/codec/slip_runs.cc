// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/codec/slip_runs.h"

#include <algorithm>

#include "proto/codec/span_clock.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {

bool DecodeSlipRuns(const uint8_t* data, uint64_t bytes, uint64_t tick, uint64_t* joined,
                    uint32_t count) {
  std::fill(joined, joined + count, 0);
  const SpanClock clock(0, {tick, 0, false});
  const uint8_t* const end = data + bytes;
  for (uint64_t row = 0; data != end; ++row) {
    uint64_t value = 0;
    data = GetVarint(data, end, &value);
    if (data == nullptr || value / SlipRuns::kCodes >= count - row) return false;
    row += value / SlipRuns::kCodes;
    const uint64_t code = value % SlipRuns::kCodes;
    if (code == SlipRuns::kToldApart) {
      data = GetVarint(data, end, &value);
      if (data == nullptr) return false;
      joined[row] = UnZigZag(value);
    } else {
      int64_t start_slip, end_slip;
      SlipRuns::Part(code, &start_slip, &end_slip);
      joined[row] = clock.Joined(start_slip, end_slip);
    }
  }
  return true;
}

}  // namespace gpuprof::codec
