// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the tick of a clock whose times were mapped onto another clock and rounded (span_clock.h).
// Pure.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/span_clock.h"

namespace gpuprof::codec {

inline constexpr uint64_t kMostRoundedTick = 60;
// Longer spans say nothing: after so many ticks the difference between the rates makes one tick.
inline constexpr uint64_t kMostTicksOfASpan = 8192;
inline constexpr uint64_t kLongestTellingSpan = kMostRoundedTick * kMostTicksOfASpan;

// Returns the tick, or an exact tick of 1 if the spans show none. `spans` are some durations and
// pauses of one chunk in ns, none longer than kLongestTellingSpan.
SpanTick FindRoundedTick(const std::vector<uint32_t>& spans);

}  // namespace gpuprof::codec
