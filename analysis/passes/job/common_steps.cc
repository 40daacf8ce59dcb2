// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See common_steps.h.

#include "analysis/passes/job/common_steps.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

namespace gpuprof::analysis {
namespace {

// Finds the place of each step of the first rank in the steps of another one, by number.
std::vector<std::optional<uint32_t>> PlacesByNumber(const RankSteps& first, const RankSteps& rank) {
  std::unordered_map<uint64_t, uint32_t> known;
  for (uint32_t i = 0; i < rank.steps.size(); ++i) known.try_emplace(rank.steps[i].number, i);
  std::vector<std::optional<uint32_t>> places;
  for (const RankStep& step : first.steps) {
    const auto found = known.find(step.number);
    places.push_back(found == known.end() ? std::nullopt : std::optional(found->second));
  }
  return places;
}

int64_t Middle(const RankSteps& rank, size_t step) {
  const Interval& span = rank.steps[step].span;
  return span.start + span.length() / 2 + rank.clock_offset_ns;
}

// Does the same by time: of two steps the middles are nearer than half a step.
std::vector<std::optional<uint32_t>> PlacesByTime(const RankSteps& first, const RankSteps& rank) {
  std::vector<std::optional<uint32_t>> places;
  size_t at = 0;
  for (size_t i = 0; i < first.steps.size(); ++i) {
    const int64_t middle = Middle(first, i);
    const auto distance = [&](size_t step) { return std::abs(Middle(rank, step) - middle); };
    while (at + 1 < rank.steps.size() && distance(at + 1) <= distance(at)) ++at;
    const bool is_near = distance(at) * 2 < first.steps[i].span.length();
    const bool is_taken = !places.empty() && places.back() == at;
    places.push_back(is_near && !is_taken ? std::optional(static_cast<uint32_t>(at))
                                          : std::nullopt);
  }
  return places;
}

}  // namespace

std::vector<CommonStep> FindCommonSteps(const JobSteps& job) {
  std::vector<CommonStep> common;
  if (job.ranks.empty()) return common;
  const RankSteps& first = job.ranks.front();
  const bool has_numbers = std::all_of(job.ranks.begin(), job.ranks.end(),
                                       [](const RankSteps& rank) { return rank.has_numbers; });
  const bool by_time = !has_numbers && job.has_arrivals;
  std::vector<std::vector<std::optional<uint32_t>>> places;
  for (const RankSteps& rank : job.ranks)
    places.push_back(by_time ? PlacesByTime(first, rank) : PlacesByNumber(first, rank));
  for (size_t i = 0; i < first.steps.size(); ++i) {
    const bool have_all = std::all_of(places.begin(), places.end(),
                                      [&](const auto& of) { return of[i].has_value(); });
    if (!have_all) continue;
    CommonStep& step = common.emplace_back();
    step.number = first.steps[i].number;
    for (const auto& of : places) step.places.push_back(*of[i]);
  }
  return common;
}

}  // namespace gpuprof::analysis
