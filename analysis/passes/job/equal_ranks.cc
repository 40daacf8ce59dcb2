// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See equal_ranks.h.

#include "analysis/passes/job/equal_ranks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Differences up to this share of a step do not make two kinds of ranks.
constexpr double kEqualShare = 0.03;
// Neither do differences of so many standard errors of a rank's mean.
constexpr int64_t kNoise = 5;

// What a rank does itself. The last one holds waits for other ranks, if nothing tells them apart.
constexpr std::array<RankTime, 8> kAllOwnTimes = {
    RankTime::kInput,   RankTime::kForward, RankTime::kBackward, RankTime::kOptimizer,
    RankTime::kCompute, RankTime::kCopy,    RankTime::kHost,     RankTime::kOther};
using OwnTimes = std::span<const RankTime>;

int64_t Part(const RankTimes& times, RankTime time) { return times[static_cast<size_t>(time)]; }

int64_t Length(const RankTimes& times) {
  return std::accumulate(times.begin(), times.end(), int64_t{0});
}

Samples SamplesOf(std::span<const RankTimes> means, const std::vector<size_t>& ranks,
                  RankTime time) {
  std::vector<int64_t> values;
  values.reserve(ranks.size());
  for (const size_t rank : ranks) values.push_back(Part(means[rank], time));
  return Samples(std::move(values));
}

// How far two ranks of a group may be apart in each part. What differs between ranks cannot tell
// the noise: there may be several kinds of ranks. What differs between the steps of a rank can.
RankTimes Tolerances(OwnTimes own, std::span<const RankTimes> means,
                     std::span<const RankTimes> errors, const std::vector<size_t>& all) {
  std::vector<int64_t> lengths;
  for (const RankTimes& mean : means) lengths.push_back(Length(mean));
  const auto least =
      static_cast<int64_t>(kEqualShare * static_cast<double>(Samples(std::move(lengths)).median()));
  RankTimes tolerances = {};
  for (const RankTime time : own) {
    tolerances[static_cast<size_t>(time)] =
        std::max(least, kNoise * SamplesOf(errors, all, time).median());
  }
  return tolerances;
}

bool AreEqual(OwnTimes own, const RankTimes& a, const RankTimes& b, const RankTimes& tolerances,
              int64_t width) {
  return std::all_of(own.begin(), own.end(), [&](RankTime time) {
    return std::abs(Part(a, time) - Part(b, time)) <= Part(tolerances, time) * width;
  });
}

// Returns the rank that is nearest to the median of all of them.
size_t Centre(OwnTimes own, std::span<const RankTimes> means, const std::vector<size_t>& ranks) {
  RankTimes median = {};
  for (const RankTime time : own)
    median[static_cast<size_t>(time)] = SamplesOf(means, ranks, time).median();
  const auto distance = [&](size_t rank) {
    int64_t sum = 0;
    for (const RankTime time : own) sum += std::abs(Part(means[rank], time) - Part(median, time));
    return sum;
  };
  return *std::min_element(ranks.begin(), ranks.end(),
                           [&](size_t a, size_t b) { return distance(a) < distance(b); });
}

std::vector<RankGroup> GroupsOfWidth(OwnTimes own, std::span<const RankTimes> means,
                                     std::vector<size_t> left, const RankTimes& tolerances,
                                     int64_t width) {
  std::vector<RankGroup> groups;
  while (!left.empty() && groups.size() <= kMostRankGroups) {
    const size_t centre = Centre(own, means, left);
    RankGroup& group = groups.emplace_back();
    std::vector<size_t> others;
    for (const size_t rank : left) {
      const bool is_equal = AreEqual(own, means[rank], means[centre], tolerances, width);
      (is_equal ? group.ranks : others).push_back(rank);
    }
    left = std::move(others);
  }
  return groups;
}

void FillMean(std::span<const RankTimes> means, RankGroup* group) {
  for (const size_t rank : group->ranks) {
    for (size_t i = 0; i < kRankTimes; ++i) group->mean[i] += means[rank][i];
  }
  for (int64_t& part : group->mean) part /= static_cast<int64_t>(group->ranks.size());
}

RankTime Difference(OwnTimes own, const RankGroup& group, const RankGroup& first) {
  return *std::max_element(own.begin(), own.end(), [&](RankTime a, RankTime b) {
    return std::abs(Part(group.mean, a) - Part(first.mean, a)) <
           std::abs(Part(group.mean, b) - Part(first.mean, b));
  });
}

std::string Nth(uint32_t number) {
  const uint32_t tens = number % 100, ones = number % 10;
  const bool is_teen = tens >= 11 && tens <= 13;
  const char* const end = is_teen || ones == 0 || ones > 3 ? "th"
                          : ones == 1                      ? "st"
                          : ones == 2                      ? "nd"
                                                           : "rd";
  return std::to_string(number) + end;
}

}  // namespace

std::vector<RankGroup> GroupRanks(std::span<const RankTimes> means,
                                  std::span<const RankTimes> errors, bool knows_waits) {
  if (means.empty()) return {};
  const OwnTimes own = OwnTimes(kAllOwnTimes).first(kAllOwnTimes.size() - (knows_waits ? 0 : 1));
  std::vector<size_t> all(means.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const RankTimes tolerances = Tolerances(own, means, errors, all);
  std::vector<RankGroup> groups;
  for (int64_t width = 1;; width *= 2) {
    groups = GroupsOfWidth(own, means, all, tolerances, width);
    if (groups.size() <= kMostRankGroups) break;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const RankGroup& a, const RankGroup& b) {
    return a.ranks.size() > b.ranks.size();
  });
  for (RankGroup& group : groups) FillMean(means, &group);
  const bool has_most = groups.front().ranks.size() * 2 > means.size();
  for (size_t i = 1; has_most && i < groups.size(); ++i)
    groups[i].outlier_time = Difference(own, groups[i], groups.front());
  return groups;
}

std::string RankWords(std::span<const uint32_t> numbers) {
  constexpr size_t kMostRuns = 6;
  if (numbers.empty()) return "";
  if (numbers.size() == 1) return "rank " + std::to_string(numbers.front());
  const uint32_t stride = numbers[1] - numbers[0];
  bool is_even = stride > 1 && numbers.size() > 2;
  for (size_t i = 1; is_even && i < numbers.size(); ++i)
    is_even = numbers[i] - numbers[i - 1] == stride;
  if (is_even) {
    return "ranks " + std::to_string(numbers.front()) + " to " + std::to_string(numbers.back()) +
           ", every " + Nth(stride);
  }
  std::string words = "ranks ";
  size_t runs = 0, named = 0;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (runs == kMostRuns) break;
    if (runs++ != 0) words += ", ";
    words += std::to_string(numbers[i]);
    if (end - i == 2) words += ", " + std::to_string(numbers[end - 1]);
    if (end - i > 2) words += " to " + std::to_string(numbers[end - 1]);
    named += end - i;
    i = end;
  }
  if (named < numbers.size()) words += " and " + std::to_string(numbers.size() - named) + " more";
  return words;
}

}  // namespace gpuprof::analysis
