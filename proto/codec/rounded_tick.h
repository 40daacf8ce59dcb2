// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the tick of a clock whose times were put on another's line and rounded (span_clock.h).
// Pure.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/span_clock.h"

namespace gpuprof::codec {

inline constexpr uint64_t kMostRoundedTick = 60;
// Longer spans say nothing: the line's steepness makes of so many ticks one more or less.
inline constexpr uint64_t kMostTicksOfASpan = 8192;
inline constexpr uint64_t kLongestTellingSpan = kMostRoundedTick * kMostTicksOfASpan;

// `spans`: some durations and pauses of one chunk in ns, none longer than kLongestTellingSpan. An
// exact tick of 1 where none shines through.
SpanTick FindRoundedTick(const std::vector<uint32_t>& spans);

}  // namespace gpuprof::codec
