// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wanted_steps.h.

#include "analysis/export/wanted_steps.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace gpuprof::analysis {
namespace {

// Steps beside the typical one.
constexpr size_t kMostNeighbours = 32;

using Rows = std::vector<const results::Step*>;

Interval WindowOf(const results::Steps& steps, const results::Step& step) {
  Interval window{step.start_ns(), step.start_ns() + step.duration_ns()};
  // The device does the step's work later.
  for (const results::DeviceStep& device : steps.device_steps()) {
    if (device.pid() != step.pid() || device.host() != step.host() ||
        device.number() != step.number())
      continue;
    window.start = std::min(window.start, device.start_ns());
    window.end = std::max(window.end, device.start_ns() + device.duration_ns());
  }
  return window;
}

// Returns the steps of the first series, which is that of the leading thread.
Rows LeadingSteps(const results::Steps& steps) {
  Rows rows;
  if (steps.series().empty()) return rows;
  const results::StepSeries& series = steps.series(0);
  for (const results::Step& step : steps.steps()) {
    const bool leads =
        step.pid() == series.pid() && step.tid() == series.tid() && step.host() == series.host();
    if (leads && !step.warmup()) rows.push_back(&step);
  }
  return rows;
}

Rows::const_iterator FindNumber(const Rows& rows, uint64_t number) {
  return std::find_if(rows.begin(), rows.end(),
                      [&](const auto* step) { return step->number() == number; });
}

Rows::const_iterator FindTypical(const results::Steps& steps, const Rows& rows) {
  // The device knows better, and other pages name its step.
  if (!steps.device_series().empty() && steps.device_series(0).pid() == steps.series(0).pid()) {
    const auto found = FindNumber(rows, steps.device_series(0).typical_number());
    if (found != rows.end()) return found;
  }
  const int64_t median = steps.series(0).median_ns();
  return std::min_element(rows.begin(), rows.end(), [&](const auto* x, const auto* y) {
    return std::abs(x->duration_ns() - median) < std::abs(y->duration_ns() - median);
  });
}

}  // namespace

std::vector<WantedStep> WantedSteps(const results::Steps& steps, const results::Advice& advice) {
  std::vector<WantedStep> wanted;
  const Rows rows = LeadingSteps(steps);
  if (rows.empty()) return wanted;
  std::set<const results::Step*> taken;
  const auto want = [&](const results::Step* step, const std::string& why) {
    if (!taken.insert(step).second) return;
    wanted.push_back({WindowOf(steps, *step), step->number(), why});
  };
  const auto typical = FindTypical(steps, rows);
  want(*typical, "a typical one");
  want(*std::max_element(
           rows.begin(), rows.end(),
           [](const auto* x, const auto* y) { return x->duration_ns() < y->duration_ns(); }),
       "the longest");
  for (const results::Finding& finding : advice.findings()) {
    const results::Place& place = finding.place();
    if (!place.has_step() || place.pid() != (*typical)->pid()) continue;
    const auto found = FindNumber(rows, place.step());
    if (found != rows.end()) want(*found, finding.id() + " leads to it");
  }
  for (const results::Step* step : rows) {
    if (step->outlier()) want(step, "an outlier");
  }
  const auto at = static_cast<size_t>(typical - rows.begin());
  for (size_t away = 1; away <= kMostNeighbours; ++away) {
    if (at + away < rows.size()) want(rows[at + away], "");
    if (at >= away) want(rows[at - away], "");
  }
  return wanted;
}

}  // namespace gpuprof::analysis
