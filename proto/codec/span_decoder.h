// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The residuals of foreseen spans (Chunk.foresight) to their times: the reader's hot loop for GPU
// activity. Any thread; the values are hostile. Memory is bounded by SpanHistory.

#pragma once

#include <cstdint>

#include "proto/codec/span_clock.h"

namespace gpuprof::codec {

// What times are relative to, and what they must lie within; in shifted ticks.
struct SpanFrame {
  uint64_t base_time = 0;
  uint64_t first_time = 0;
  uint64_t last_time = 0;
  uint32_t time_shift = 0;
  SpanTick tick;
  bool are_gaps_foreseen = false;
};

// In place: `end` holds the gaps' residuals and becomes ends, `duration` those of durations. `slip`
// is null where all are 0. False: a time lies outside of the range.
bool DecodeSpans(const SpanFrame& frame, const uint64_t* key, const uint64_t* slip, uint64_t* end,
                 uint64_t* duration, uint32_t count);

}  // namespace gpuprof::codec
