// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Turns the residuals of predicted spans into times: the reader's hot loop for GPU activity. Any
// thread; the values are hostile. SpanHistory bounds the memory.

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
  bool are_gaps_predicted = false;
};

// Replaces the gaps' residuals in `end` by the ends, and the residuals in `duration` by durations.
// `rounding_error` holds the joined errors of each row, or is null if all are 0. Returns false if a
// time lies outside of the range.
bool DecodeSpans(const SpanFrame& frame, const uint64_t* key, const uint64_t* rounding_error,
                 uint64_t* end, uint64_t* duration, uint32_t count);

}  // namespace gpuprof::codec
