// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See verdict_families.h.

#include "analysis/advice/facts/verdict_families.h"

#include <algorithm>
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/graph_launches.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// From this part of a step on, what is not explained may hide what bounds it.
constexpr double kMuchUnexplained = 0.2;
// From this part of its launches on, graphs without nodes may hide what bounds a step.
constexpr double kManyEmptyGraphs = 0.1;

results::Bound FamilyOf(results::TimeCategory category) {
  switch (category) {
    case results::TIME_CATEGORY_COLLECTIVE:
      return results::BOUND_COLLECTIVES;
    case results::TIME_CATEGORY_COPY_HTOD:
    case results::TIME_CATEGORY_COPY_DTOH:
    case results::TIME_CATEGORY_COPY_DTOD:
      return results::BOUND_COPIES;
    case results::TIME_CATEGORY_INPUT:
      return results::BOUND_INPUT;
    // All of these are the host's: it works, or a launch is on its way.
    case results::TIME_CATEGORY_COMPILE:
    case results::TIME_CATEGORY_OUTPUT:
    case results::TIME_CATEGORY_SYNC:
    case results::TIME_CATEGORY_PROFILER:
    case results::TIME_CATEGORY_HOST:
    case results::TIME_CATEGORY_LAUNCH:
      return results::BOUND_HOST;
    case results::TIME_CATEGORY_DEPENDENCY:
      return results::BOUND_DEPENDENCY;
    case results::TIME_CATEGORY_UNEXPLAINED:
      return results::BOUND_UNEXPLAINED;
    default:
      return results::BOUND_COMPUTE;
  }
}

// Returns the member of the host's family that takes most, where it has a word of its own.
results::Bound MemberOfHost(const results::DeviceSeries& series) {
  int64_t host = 0, compile = 0, launch = 0;
  for (const results::CategoryTime& part : series.categories()) {
    if (FamilyOf(part.category()) != results::BOUND_HOST) continue;
    int64_t& sum = part.category() == results::TIME_CATEGORY_COMPILE  ? compile
                   : part.category() == results::TIME_CATEGORY_LAUNCH ? launch
                                                                      : host;
    sum += part.total_ns();
  }
  if (compile > host && compile > launch) return results::BOUND_COMPILE;
  return launch > host ? results::BOUND_LAUNCH : results::BOUND_HOST;
}

// Returns for how long the device showed no work although work lay in its queue. That is less than
// the time without a cause: a recording without calls has idle time, and no cause of it.
int64_t UnexplainedIn(PassContext& context, size_t index, const results::DeviceSeries& series) {
  const auto devices = context.devices(index);
  const auto found = devices->all().find(series.device());
  if (found == devices->all().end()) return 0;
  int64_t sum = 0;
  for (const DeviceGap& gap : found->second.gaps()) {
    const int64_t from = std::max(gap.UnseenFrom(), series.start_ns());
    sum += std::max<int64_t>(std::min(gap.span.end, series.end_ns()) - from, 0);
  }
  return sum;
}

}  // namespace

void FillMissing(PassContext& context, size_t index, const results::DeviceSeries& series,
                 results::Verdict* verdict) {
  results::MissingWork missing;
  const GraphCalls graphs = GraphCallsOf(context.process(index));
  missing.set_graph_count(graphs.count);
  missing.set_empty_graph_count(graphs.empty_count);
  const int64_t unexplained = UnexplainedIn(context, index, series);
  if (series.count() != 0)
    missing.set_unexplained_ns(unexplained / static_cast<int64_t>(series.count()));
  missing.set_unexplained_ratio(Ratio(unexplained, series.total_ns()));
  missing.set_is_sampled(IsSampled(context));
  missing.set_is_selection(verdict->is_selection());
  const bool is_missing = missing.empty_graph_count() != 0 || missing.is_sampled() ||
                          missing.is_selection() || missing.unexplained_ratio() >= kMuchUnexplained;
  if (is_missing) *verdict->mutable_missing() = missing;
}

bool IsIncomplete(const results::Verdict& verdict) {
  const results::MissingWork& missing = verdict.missing();
  return missing.is_sampled() || missing.is_selection() ||
         missing.unexplained_ratio() >= kMuchUnexplained ||
         static_cast<double>(missing.empty_graph_count()) >
             kManyEmptyGraphs * static_cast<double>(missing.graph_count());
}

void FillFamilies(const results::DeviceSeries& series, const StepGraph* graph,
                  results::Verdict* verdict) {
  const auto count = static_cast<int64_t>(std::max<uint64_t>(series.count(), 1));
  int64_t totals[results::Bound_ARRAYSIZE] = {};
  DependencyGraph::Free free[results::Bound_ARRAYSIZE] = {};
  for (const results::CategoryTime& part : series.categories())
    totals[FamilyOf(part.category())] += part.total_ns();
  for (int i = 1; i < results::TimeCategory_ARRAYSIZE; ++i)
    free[FamilyOf(static_cast<results::TimeCategory>(i))][static_cast<size_t>(i)] = true;
  // Without the host's time, data is there at once.
  free[results::BOUND_HOST][results::TIME_CATEGORY_INPUT] = totals[results::BOUND_INPUT] == 0;
  const bool is_played = graph != nullptr && (graph->first_step().has_value() ||
                                              series.window() == results::STEP_WINDOW_ALL);
  for (int i = 1; i < results::Bound_ARRAYSIZE; ++i) {
    if (totals[i] == 0) continue;
    results::VerdictFamily* family = verdict->add_families();
    family->set_bound(static_cast<results::Bound>(i));
    family->set_total_ns(totals[i] / count);
    family->set_total_ratio(Ratio(totals[i], series.total_ns()));
    const bool can_go = i != results::BOUND_UNEXPLAINED;
    if (is_played && can_go)
      family->set_saved_ns(std::min(graph->SavedPerStep(free[i]), series.total_ns() / count));
  }
  SortFalling(verdict->mutable_families(), [](const auto& row) { return row.total_ns(); });
  if (verdict->families().empty()) return;
  // Each nanosecond of a family is one in which the device did nothing else: without the family,
  // and with nothing else changed, the step is so much shorter. What would then be too slow next is
  // what the replay tells (saved_ns).
  const results::VerdictFamily& most = verdict->families(0);
  verdict->set_bound(most.bound() == results::BOUND_HOST ? MemberOfHost(series) : most.bound());
  verdict->set_bound_ratio(most.total_ratio());
  if (IsIncomplete(*verdict)) verdict->set_bound(results::BOUND_UNKNOWN);
}

}  // namespace gpuprof::analysis
