// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See optimizer_cycle.h.

#include "analysis/steps/optimizer_cycle.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

constexpr size_t kLongestCycle = 4;
// Parts of the comparisons that must agree. A step that now and then logs or saves differs twice
// for each time.
constexpr double kSingleAgreement = 0.5;
constexpr double kCycleAgreement = 0.9;

bool SameWork(int64_t a, int64_t b) {
  const int64_t most = std::max(a, b);
  return std::abs(a - b) <= std::max<int64_t>(3, most / 10);
}

}  // namespace

OptimizerCycle FindOptimizerCycle(const std::vector<Mark>& optimizer,
                                  const Column<int64_t>& op_ends) {
  // Work before each optimizer step, counted in ops, from the second on.
  std::vector<int64_t> work;
  auto position = [&](int64_t time) {
    return std::upper_bound(op_ends.begin(), op_ends.end(), time) - op_ends.begin();
  };
  for (size_t i = 1; i < optimizer.size(); ++i) {
    work.push_back(position(optimizer[i].span.end) - position(optimizer[i - 1].span.end));
  }
  auto agreement = [&](size_t lag) {
    size_t same = 0, compared = 0;
    for (size_t i = 1; i + lag < optimizer.size(); ++i) {
      ++compared;
      same +=
          optimizer[i].name == optimizer[i + lag].name && SameWork(work[i - 1], work[i - 1 + lag]);
    }
    return compared == 0 ? 0.0 : static_cast<double>(same) / static_cast<double>(compared);
  };
  if (optimizer.size() < 3 || agreement(1) >= kSingleAgreement) return {1, true};
  for (size_t lag = 2; lag <= kLongestCycle; ++lag) {
    if (optimizer.size() >= 3 * lag && agreement(lag) >= kCycleAgreement) return {lag, true};
  }
  return {1, false};
}

}  // namespace gpuprof::analysis
