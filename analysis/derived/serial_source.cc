// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See serial_source.h.

#include "analysis/derived/serial_source.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kFewWaits = 30;

// Drops the waits below a tenth of the one in which the middle of all waiting time lies.
void DropShort(std::vector<Interval>* waits) {
  std::vector<int64_t> lengths;
  int64_t total = 0, sum = 0;
  for (const Interval& wait : *waits) {
    lengths.push_back(wait.length());
    total += wait.length();
  }
  std::sort(lengths.begin(), lengths.end());
  int64_t middle = 0;
  for (const int64_t length : lengths) {
    sum += length;
    middle = length;
    if (sum * 2 >= total) break;
  }
  std::erase_if(*waits, [&](const Interval& wait) { return wait.length() * 10 < middle; });
}

// Time with so many outstanding, and how many ended then.
struct Load {
  int64_t ns = 0;
  size_t ends = 0;
};

std::map<int, Load> LoadsOf(const std::vector<Interval>& waits) {
  std::vector<std::pair<int64_t, int>> changes;
  for (const Interval& wait : waits) {
    changes.emplace_back(wait.start, 1);
    changes.emplace_back(wait.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::map<int, Load> loads;
  int count = 0;
  int64_t last = 0;
  for (const auto& [time, change] : changes) {
    if (count > 0) loads[count].ns += time - last;
    if (change < 0) ++loads[count].ends;
    count += change;
    last = time;
  }
  return loads;
}

// Fits the exponent of the rate of ends over the number outstanding, weighted by ends.
void FitGrowth(const std::map<int, Load>& loads, SourceUse* use) {
  constexpr size_t kFewEnds = 10;
  double weight = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [outstanding, load] : loads) {
    if (load.ends < kFewEnds || load.ns <= 0) continue;
    const auto w = static_cast<double>(load.ends);
    const double at = std::log(outstanding), rate = std::log(w / static_cast<double>(load.ns));
    weight += w;
    x += w * at;
    y += w * rate;
    xx += w * at * at;
    xy += w * at * rate;
  }
  use->growth_error = 1;
  if (weight == 0) return;
  const double variance = xx - x * x / weight;
  if (variance < 1) return;
  use->growth = (xy - x * y / weight) / variance;
  use->growth_error = 1 / std::sqrt(variance);
}

}  // namespace

SourceUse JudgeSource(std::vector<Interval> waits) {
  constexpr double kMinOutstanding = 1.3, kEven = 0.5, kEvenForFew = 0.7;
  constexpr double kMostGrowth = 0.4, kMostError = 0.15;
  SourceUse use;
  DropShort(&waits);
  if (waits.size() < kFewWaits) return use;
  use.busy_ns = TotalLength(UnionOf(waits));
  use.outstanding = 0;
  for (const Interval& wait : waits) use.outstanding += static_cast<double>(wait.length());
  use.outstanding /= static_cast<double>(use.busy_ns);
  FitGrowth(LoadsOf(waits), &use);
  std::sort(waits.begin(), waits.end(),
            [](const Interval& a, const Interval& b) { return a.end < b.end; });
  std::vector<int64_t> served;
  int64_t last = waits.front().start;
  for (const Interval& wait : waits) {
    served.push_back(wait.end - std::max(wait.start, last));
    last = wait.end;
  }
  const Samples distances(std::move(served));
  use.served_ns = distances.median();
  use.evenness = Ratio(distances.Percentile(0.1), use.served_ns);
  if (use.outstanding < kMinOutstanding) return use;
  // Two that take equally long may end at even distances by chance.
  const bool is_even = use.evenness >= (use.outstanding < 2 ? kEvenForFew : kEven);
  use.is_serial = is_even || (use.growth_error <= kMostError && use.growth <= kMostGrowth);
  return use;
}

}  // namespace gpuprof::analysis
