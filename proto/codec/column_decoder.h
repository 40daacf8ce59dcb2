// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decodes one column's bytes to values: the reader's hot loop. Any thread; the bytes are hostile,
// but the eight bytes behind them must be readable (they are not used). Nothing is allocated.

#pragma once

#include <cstdint>

#include "proto/schema.h"

namespace gpuprof::codec {

// How far behind a column's end the decoder may look.
inline constexpr uint64_t kReadAhead = 8;

// What a column's values are relative to, and what they must lie within. Times are in shifted
// ticks.
struct ColumnFrame {
  uint32_t time_shift = 0;
  uint64_t base_time = 0;
  uint64_t first_time = 0;
  uint64_t last_time = 0;
  const uint64_t* end = nullptr;  // the decoded time column, for durations (ticks)
  const uint64_t* key = nullptr;  // the decoded key column of a chained table, for kKeyed
};

// Decodes `count` values into `out`. Of kGap and kDuration these are residuals, for DecodeSpans.
// Returns null, or what is wrong (static text).
const char* DecodeColumn(proto::Encoding encoding, const ColumnFrame& frame, const uint8_t* data,
                         uint64_t bytes, uint64_t* out, uint32_t count);

// Reads `count` varints. Returns the byte behind them, or null if they do not fit in [at, end).
const uint8_t* DecodeVarints(const uint8_t* at, const uint8_t* end, uint64_t* out, uint32_t count);

}  // namespace gpuprof::codec
