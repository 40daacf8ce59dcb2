// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trial_change.h.

#include "analysis/compare/trial_change.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace gpuprof::analysis {
namespace {

using Runs = google::protobuf::RepeatedPtrField<results::TrialRun>;

// Quantiles of 97.5 % of Student's t, from one degree of freedom on.
constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

double QuantileOf(size_t freedom) {
  return kQuantiles[std::min(freedom, std::size(kQuantiles)) - 1];
}

bool HasSteps(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const results::TrialRun& run) { return run.step_count() != 0; });
}

}  // namespace

std::optional<results::TrialChange> ChangeOf(const Runs& unchanged, const Runs& changed) {
  const auto rounds = static_cast<size_t>(std::min(unchanged.size(), changed.size()));
  if (rounds < 2) return std::nullopt;
  const bool is_of_run = !HasSteps(unchanged) || !HasSteps(changed);
  const auto time = [&](const Runs& runs, size_t round) {
    const results::TrialRun& run = runs.Get(static_cast<int>(round));
    return static_cast<double>(is_of_run ? run.wall_ns() : run.step_mean_ns());
  };
  std::vector<double> wins;
  double sum = 0;
  for (size_t round = 0; round < rounds; ++round) {
    const double before = time(unchanged, round);
    if (before <= 0) return std::nullopt;
    wins.push_back(1 - time(changed, round) / before);
    sum += wins.back();
  }
  const auto count = static_cast<double>(rounds);
  const double mean = sum / count;
  double squares = 0;
  for (const double win : wins) squares += (win - mean) * (win - mean);
  const double half = QuantileOf(rounds - 1) * std::sqrt(squares / (count - 1) / count);
  results::TrialChange change;
  change.set_mean_ratio(mean);
  change.set_low_ratio(mean - half);
  change.set_high_ratio(mean + half);
  change.set_is_of_run(is_of_run);
  return change;
}

}  // namespace gpuprof::analysis
