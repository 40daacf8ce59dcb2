// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/recorder/budget_use.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/base/units.h"

namespace gpuprof::analysis {
namespace {

const char* UnitName(proto::BudgetUnit unit) {
  switch (unit) {
    case proto::BUDGET_RANGE_STEPS:
      return "range steps";
    case proto::BUDGET_OPTIMIZER_STEPS:
      return "optimizer steps";
    case proto::BUDGET_TIME:
      return "time";
    default:
      return "unknown";
  }
}

const char* DetailName(proto::BudgetDetail detail) {
  switch (detail) {
    case proto::BUDGET_ALL:
      return "all";
    case proto::BUDGET_OPERATIONS:
      return "operations";
    case proto::BUDGET_GPU:
      return "gpu";
    default:
      return "unknown";
  }
}

// Files may claim anything.
int64_t Time(uint64_t ns) { return static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX)); }

struct Window {
  int64_t start_ns, end_ns;
  double steps;
  double gpu_ns = 0;
};

std::vector<Window> WindowsOf(const Process& process) {
  std::vector<Window> windows;
  for (const CaptureWindow& capture : process.captures) {
    if (capture.steps == 0) continue;
    windows.push_back({capture.start_ns, capture.end_ns, static_cast<double>(capture.steps)});
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const Window& a, const Window& b) { return a.start_ns < b.start_ns; });
  return windows;
}

// Work belongs to the window that launched it. It ends in this window, as the window's end waits
// for it.
template <typename Table>
void AddWork(const Table& table, std::vector<Window>* windows) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const int64_t start = table.end_ns[i] - table.duration_ns[i];
    auto after =
        std::upper_bound(windows->begin(), windows->end(), start,
                         [](int64_t time, const Window& window) { return time < window.start_ns; });
    if (after != windows->begin())
      std::prev(after)->gpu_ns += static_cast<double>(table.duration_ns[i]);
  }
}

// Estimates the GPU's time of the whole run.
void Scale(const Process& process, const proto::Budget& budget, results::BudgetUse* use) {
  std::vector<Window> windows = WindowsOf(process);
  for (const Track& track : process.tracks) {
    AddWork(track.kernel, &windows);
    AddWork(track.memcpy, &windows);
    AddWork(track.memset, &windows);
  }
  double steps = 0, gpu = 0;
  for (const Window& window : windows) {
    steps += window.steps;
    gpu += window.gpu_ns;
  }
  use->set_recorded_gpu_ns(std::llround(gpu));
  const auto all = static_cast<double>(budget.steps());
  if (steps == 0 || all < steps) return;
  use->set_scale_ratio(all / steps);
  use->set_run_gpu_ns(std::llround(gpu / steps * all));
  const auto count = static_cast<double>(windows.size());
  if (count < 2 || gpu == 0) return;
  double squares = 0;
  for (const Window& window : windows)
    squares += std::pow(window.gpu_ns - gpu / steps * window.steps, 2);
  const double mean_steps = steps / count;
  const double variance =
      (1 - steps / all) * squares / (count - 1) / count / std::pow(mean_steps, 2);
  const double error = std::sqrt(variance) * all;
  use->set_run_gpu_error_ns(std::llround(error));
  use->set_scale_error_ratio(error / (gpu / steps * all));
}

void FillCost(const proto::Budget& budget, results::BudgetUse* use) {
  if (budget.windows() == 0) return;
  const auto elapsed = static_cast<double>(budget.elapsed_ns());
  const auto cost = static_cast<double>(budget.cost_ns());
  if (elapsed - cost <= 0) return;
  use->set_cost_ratio(cost / (elapsed - cost));
  if (budget.unit() != proto::BUDGET_TIME)
    use->set_cost_error_ratio(static_cast<double>(budget.cost_error_ns()) / (elapsed - cost));
}

std::string LimitText(const proto::Budget& budget) {
  if (budget.limit_ppm() != 0)
    return FormatFinePercent(static_cast<double>(budget.limit_ppm()) * 1e-6);
  return FormatDuration(Time(budget.limit_step_ns())) + " a step";
}

}  // namespace

bool HasBudget(const Process& process) {
  const proto::Budget& budget = process.health.budget();
  return process.health.has_budget() && (budget.windows() != 0 || budget.steps() != 0);
}

void FillBudgetUse(const Process& process, results::BudgetUse* use) {
  const proto::Budget& budget = process.health.budget();
  if (budget.limit_ppm() != 0) use->set_limit_ratio(static_cast<double>(budget.limit_ppm()) * 1e-6);
  if (budget.limit_step_ns() != 0) use->set_limit_step_ns(Time(budget.limit_step_ns()));
  use->set_name(UnitName(budget.unit()));
  use->set_elapsed_ns(Time(budget.elapsed_ns()));
  use->set_window_count(budget.windows());
  use->set_step_count(budget.steps());
  use->set_recorded_step_count(budget.recorded_steps());
  use->set_recorded_ns(Time(budget.recorded_ns()));
  FillCost(budget, use);
  use->set_switch_ns(Time(budget.switch_ns()));
  if (budget.step_outside_ns() != 0) use->set_outside_step_ns(Time(budget.step_outside_ns()));
  if (budget.step_inside_ns() != 0) use->set_inside_step_ns(Time(budget.step_inside_ns()));
  use->set_detail(DetailName(budget.detail()));
  const auto& by_detail = budget.windows_by_detail();
  const auto windows = [&](int detail) {
    return detail < by_detail.size() ? by_detail.Get(detail) : 0;
  };
  use->set_all_window_count(windows(proto::BUDGET_ALL));
  use->set_operations_window_count(windows(proto::BUDGET_OPERATIONS));
  use->set_gpu_window_count(windows(proto::BUDGET_GPU));
  use->set_cut_window_count(budget.windows_cut());
  Scale(process, budget, use);
}

std::string BudgetNote(const Process& process) {
  if (!HasBudget(process)) return "";
  const proto::Budget& budget = process.health.budget();
  const std::string lead =
      "pid " + std::to_string(process.pid) + ": --budget " + LimitText(budget) + ": ";
  if (budget.windows() == 0)
    return lead + "no window of steps was recorded. The run was too short for this budget";
  const double share = static_cast<double>(budget.recorded_ns()) /
                       static_cast<double>(std::max<uint64_t>(1, budget.elapsed_ns()));
  if (budget.unit() == proto::BUDGET_TIME || budget.recorded_steps() == 0)
    return lead + "windows of " + FormatPercent(share) +
           " of the time were recorded. All figures are of these windows";
  return lead + FormatNumber(budget.recorded_steps()) + " of " + FormatNumber(budget.steps()) +
         " steps were recorded, in windows. Sums are of these steps; for the whole run, multiply "
         "them by " +
         FormatReal(static_cast<double>(budget.steps()) /
                    static_cast<double>(budget.recorded_steps())) +
         ". A step took " + FormatDuration(Time(budget.step_inside_ns())) + " in windows and " +
         FormatDuration(Time(budget.step_outside_ns())) +
         " outside. `gpuprof stats health` tells the cost and the error";
}

}  // namespace gpuprof::analysis
