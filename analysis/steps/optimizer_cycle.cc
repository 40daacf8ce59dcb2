// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See optimizer_cycle.h.

#include "analysis/steps/optimizer_cycle.h"

#include <algorithm>
#include <utility>

#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kLongestCycle = 4;
// Parts of the comparisons that must agree. A step that now and then logs or saves differs twice
// for each time.
constexpr double kSingleAgreement = 0.5;
constexpr double kCycleAgreement = 0.9;

// A rhythm must show this often, and by this part of the usual length.
constexpr size_t kLeastGroups = 10;
constexpr int64_t kRhythmPart = 20;

bool SameWork(int64_t a, int64_t b) {
  const int64_t most = std::max(a, b);
  return std::abs(a - b) <= std::max<int64_t>(3, most / 10);
}

// The names of the operations before an optimizer step, each once.
using Names = std::vector<uint32_t>;

// Whether each has operations that the other lacks. A step that logs or saves only has more.
bool OtherWork(const Names& a, const Names& b) {
  return !std::includes(a.begin(), a.end(), b.begin(), b.end()) &&
         !std::includes(b.begin(), b.end(), a.begin(), a.end());
}

// What ran before each optimizer step, from the second on.
struct Work {
  std::vector<int64_t> counts;
  std::vector<Names> names;
};

Work WorkBefore(const std::vector<Mark>& optimizer, const OpTable& ops) {
  Work work;
  auto position = [&](int64_t time) {
    return std::upper_bound(ops.end_ns.begin(), ops.end_ns.end(), time) - ops.end_ns.begin();
  };
  for (size_t i = 1; i < optimizer.size(); ++i) {
    const auto first = position(optimizer[i - 1].span.end);
    const auto last = std::max(position(optimizer[i].span.end), first);
    work.counts.push_back(last - first);
    Names names;
    // Ranges of the user may have a number in their name.
    for (auto row = static_cast<size_t>(first); row < static_cast<size_t>(last); ++row)
      if (!IsUserRange(ops, row)) names.push_back(ops.name[row]);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    work.names.push_back(std::move(names));
  }
  return work;
}

// Returns how many names of optimizers come again and again in the same order, at least twice. 1: a
// single name, or no order.
size_t PeriodOfNames(const std::vector<Mark>& optimizer) {
  const auto is_period = [&](size_t length) {
    for (size_t i = length; i < optimizer.size(); ++i)
      if (optimizer[i].name != optimizer[i - length].name) return false;
    return true;
  };
  if (is_period(1)) return 1;
  for (size_t length = 2; length <= kLongestCycle && optimizer.size() >= 2 * length; ++length)
    if (is_period(length)) return length;
  return 1;
}

// Of how many optimizer steps always the same one takes longest.
size_t FindRhythm(const std::vector<Mark>& optimizer) {
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < optimizer.size(); ++i)
    lengths.push_back(optimizer[i].span.end - optimizer[i - 1].span.end);
  for (size_t period = 2; period <= kLongestCycle; ++period) {
    const size_t groups = lengths.size() / period;
    if (groups < kLeastGroups) break;
    std::vector<size_t> longest_at(period, 0);
    for (size_t group = 0; group < groups; ++group) {
      std::vector<int64_t> order(lengths.begin() + static_cast<ptrdiff_t>(group * period),
                                 lengths.begin() + static_cast<ptrdiff_t>((group + 1) * period));
      const auto longest = std::max_element(order.begin(), order.end());
      const auto place = static_cast<size_t>(longest - order.begin());
      std::sort(order.begin(), order.end());
      const int64_t lead = order[period - 1] - order[period - 2];
      if (lead * kRhythmPart > order[period - 1]) ++longest_at[place];
    }
    const size_t most = *std::max_element(longest_at.begin(), longest_at.end());
    if (static_cast<double>(most) >= kCycleAgreement * static_cast<double>(groups)) return period;
  }
  return 1;
}

}  // namespace

OptimizerCycle FindOptimizerCycle(const std::vector<Mark>& optimizer, const OpTable& ops) {
  const Work work = WorkBefore(optimizer, ops);
  auto agreement = [&](size_t lag) {
    size_t same = 0, compared = 0;
    // The first cycle is no measure: optimizers make their state in it.
    for (size_t i = lag; i + lag < optimizer.size(); ++i) {
      ++compared;
      same += optimizer[i].name == optimizer[i + lag].name &&
              SameWork(work.counts[i - 1], work.counts[i - 1 + lag]) &&
              !OtherWork(work.names[i - 1], work.names[i - 1 + lag]);
    }
    return compared == 0 ? 0.0 : static_cast<double>(same) / static_cast<double>(compared);
  };
  if (optimizer.size() < 3) return {};
  if (const size_t length = PeriodOfNames(optimizer); length > 1) return {length, true, 1};
  if (agreement(1) >= kSingleAgreement) return {1, true, FindRhythm(optimizer)};
  for (size_t lag = 2; lag <= kLongestCycle; ++lag) {
    if (optimizer.size() >= 3 * lag && agreement(lag) >= kCycleAgreement) return {lag, true, 1};
  }
  return {1, false, 1};
}

}  // namespace gpuprof::analysis
