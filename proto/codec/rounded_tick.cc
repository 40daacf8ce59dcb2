// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rounded_tick.h.

#include "proto/codec/rounded_tick.h"

#include <cstddef>

namespace gpuprof::codec {
namespace {

constexpr uint32_t kLeastTick = 8;
// Spans that decide: short enough that what a tick is longer does not add up in them.
constexpr uint32_t kShortest = 32, kLongest = 65535;
constexpr size_t kLeastJudged = 32, kMostJudged = 256;
constexpr size_t kOneMissIn = 16;  // spans across a correction of the clock

// Whether nearly all spans are whole ticks long, to a nanosecond.
bool IsTick(uint32_t tick, const uint32_t* spans, size_t count) {
  size_t misses = 0;
  for (size_t i = 0; i < count && misses * kOneMissIn <= count; ++i) {
    misses += (spans[i] + 1) % tick > 2 ? 1 : 0;
  }
  return misses * kOneMissIn <= count;
}

int64_t Fraction(uint32_t tick, const std::vector<uint32_t>& spans) {
  int64_t ticks = 0, rest = 0;
  for (const uint32_t span : spans) {
    const uint32_t whole = (span + tick / 2) / tick;
    if (whole >= kMostTicksOfASpan) continue;
    ticks += whole;
    rest += int64_t{span} - int64_t{whole} * tick;
  }
  if (ticks == 0) return 0;
  const int64_t fraction = rest * (int64_t{1} << 32) / ticks;
  return fraction < kMostTickFraction && fraction > -kMostTickFraction ? fraction : 0;
}

}  // namespace

SpanTick FindRoundedTick(const std::vector<uint32_t>& spans) {
  uint32_t judged[kMostJudged];
  size_t count = 0;
  for (const uint32_t span : spans) {
    if (span >= kShortest && span <= kLongest) judged[count++] = span;
    if (count == kMostJudged) break;
  }
  if (count < kLeastJudged) return {};
  for (uint32_t tick = kMostRoundedTick; tick >= kLeastTick; --tick) {
    if (IsTick(tick, judged, count)) return {tick, Fraction(tick, spans), false};
  }
  return {};
}

}  // namespace gpuprof::codec
