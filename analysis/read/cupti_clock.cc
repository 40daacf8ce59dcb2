// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/cupti_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gpuprof::analysis {
namespace {

// Readings beyond this (the year 2043) are taken for damage.
constexpr uint64_t kLatestNs = uint64_t{1} << 61;
// The kernel slews its clock by 500 millionths at most; what is more, and more than a reading's own
// error, is a step.
constexpr double kMostSlew = 1e-3;
constexpr int64_t kLeastStepNs = 100'000;
// Lines between readings nearer than this would magnify the error of reading the clocks.
constexpr int64_t kShortestLineNs = 100'000'000;

int64_t StepBetween(const CuptiReading& from, const CuptiReading& to) {
  const int64_t by_cupti = static_cast<int64_t>(to.cupti_ns - from.cupti_ns);
  const int64_t passed = to.monotonic_ns - from.monotonic_ns;
  const int64_t step = by_cupti - passed;
  const double slew = kMostSlew * static_cast<double>(passed);
  return std::llabs(step) > kLeastStepNs + std::llround(slew) ? step : 0;
}

double PaceBetween(const CuptiReading& from, const CuptiReading& to) {
  return static_cast<double>(to.monotonic_ns - from.monotonic_ns) /
         static_cast<double>(static_cast<int64_t>(to.cupti_ns - from.cupti_ns));
}

// Of two readings that are close together the later goes, unless the clock was set between them.
std::vector<CuptiReading> Spread(const std::vector<CuptiReading>& readings) {
  std::vector<CuptiReading> kept;
  for (const CuptiReading& reading : readings) {
    if (reading.cupti_ns > kLatestNs) continue;
    if (!kept.empty()) {
      const int64_t passed = reading.monotonic_ns - kept.back().monotonic_ns;
      if (passed <= 0) continue;
      if (passed < kShortestLineNs && StepBetween(kept.back(), reading) == 0) continue;
    }
    kept.push_back(reading);
  }
  return kept;
}

}  // namespace

CuptiClock CuptiClockOf(const std::vector<CuptiReading>& readings) {
  CuptiClock clock;
  clock.readings = readings.size();
  const std::vector<CuptiReading> kept = Spread(readings);
  int64_t step_before = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const bool is_last = i + 1 == kept.size();
    const int64_t step = is_last ? 0 : StepBetween(kept[i], kept[i + 1]);
    // A line that ends in a step, or nowhere, keeps the pace of true nanoseconds.
    const double pace = is_last || step != 0 ? 1.0 : PaceBetween(kept[i], kept[i + 1]);
    clock.points.push_back({kept[i].cupti_ns, kept[i].monotonic_ns, pace});
    const bool is_between_lines = i != 0 && !is_last && step == 0 && step_before == 0;
    step_before = step;
    if (is_between_lines) {
      const double line = PaceBetween(kept[i - 1], kept[i + 1]) *
                          static_cast<double>(kept[i].cupti_ns - kept[i - 1].cupti_ns);
      const auto seen = static_cast<double>(kept[i].monotonic_ns - kept[i - 1].monotonic_ns);
      clock.residual_ns = std::max(clock.residual_ns, std::abs(line - seen));
    }
    if (step == 0) continue;
    clock.step_ns += step;
    const int64_t passed = kept[i + 1].monotonic_ns - kept[i].monotonic_ns;
    if (passed + step <= 0) {
      clock.is_lost = true;
      break;
    }
    // From the middle of what can be both on, it is taken for after.
    const int64_t middle = (passed + step) / 2;
    clock.points.push_back({kept[i].cupti_ns + static_cast<uint64_t>(middle),
                            kept[i].monotonic_ns + middle - step, 1.0});
  }
  return clock;
}

}  // namespace gpuprof::analysis
