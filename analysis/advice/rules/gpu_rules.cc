// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about GPUs. See rules.h.

#include <utility>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/base/enum_word.h"
#include "analysis/steps/statistics.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

// Returns what to do against a cause of idle time. Null: nothing is known.
const char* FixOf(results::TimeCategory cause) {
  switch (cause) {
    case results::TIME_CATEGORY_INPUT:
      return "GP-001.fix_input";
    case results::TIME_CATEGORY_OUTPUT:
      return "GP-001.fix_output";
    case results::TIME_CATEGORY_COMPILE:
      return "GP-001.fix_compile";
    case results::TIME_CATEGORY_SYNC:
      return "GP-001.fix_sync";
    case results::TIME_CATEGORY_PROFILER:
      return "GP-001.fix_profiler";
    case results::TIME_CATEGORY_HOST:
      return "GP-001.fix_host";
    case results::TIME_CATEGORY_LAUNCH:
      return "GP-001.fix_launch";
    case results::TIME_CATEGORY_DEPENDENCY:
      return "GP-001.fix_dependency";
    default:
      return nullptr;
  }
}

// Names the cause that the pass idle finds as the largest. Where work may have run that was not
// recorded, the rule does not count idle time.
void AdviseByCause(const results::OverviewGpu& gpu, Finding* finding) {
  const results::TimeCategory cause = ValueOfWord<results::TimeCategory>(gpu.idle_cause());
  const bool is_unexplained = cause == results::TIME_CATEGORY_UNEXPLAINED;
  const int64_t ns = gpu.idle_cause_ns() - (is_unexplained ? gpu.idle_unseen_ns() : 0);
  if (ns > 0) finding->Evidence("GP-001.time", {say::Duration(ns), say::IdleCause(cause)});
  finding->Fix("GP-001.see_gaps_host_did");
  if (const char* fix = FixOf(cause)) finding->Fix(fix);
}

// How sure it is that nothing ran, and why.
std::pair<results::Level, const char*> HowSure(const results::Overview& overview) {
  if (overview.gpu().untold_device_count() != 0)
    return {results::LEVEL_LOW, "GP-001.untold_devices"};
  if (overview.gpu().left_out_process_count() != 0)
    return {results::LEVEL_LOW, "GP-001.left_out_processes"};
  if (overview.gpu().has_idle_unseen_ns()) return {results::LEVEL_MEDIUM, "GP-001.unseen_work"};
  if (overview.meta().lost_count() != 0) return {results::LEVEL_MEDIUM, "GP-001.lost_events"};
  return {results::LEVEL_HIGH, "GP-001.all_timed"};
}

// Returns what may have run that nobody sees.
Argument Unseen(const results::OverviewGpu& gpu) {
  std::vector<Sentence> parts;
  if (gpu.untold_device_count() != 0) parts.push_back("GP-001.caveat_untold");
  const uint32_t others = gpu.left_out_process_count();
  if (others != 0) parts.push_back({"GP-001.caveat_others", {say::Plain(others)}});
  return say::Run(std::move(parts));
}

}  // namespace

Argument OfDevices(const results::OverviewGpu& gpu) {
  const uint32_t shared = gpu.shared_device_count();
  std::vector<Sentence> parts;
  if (gpu.device_count() < 2) {
    if (shared != 0) parts.push_back("GP-001.shared_device");
    return say::Run(std::move(parts));
  }
  parts.push_back({"GP-001.summed", {say::Plain(gpu.device_count())}});
  if (gpu.untold_device_count() != 0)
    parts.push_back({"GP-001.without_uuid", {say::Plain(gpu.untold_device_count())}});
  if (shared != 0) parts.push_back({"GP-001.used_by_several", {say::Plain(shared)}});
  return say::Run(std::move(parts));
}

std::optional<Finding> IdleGpu(const AdviceFacts& facts) {
  const results::Overview& overview = *facts.overview;
  const results::OverviewGpu& gpu = overview.gpu();
  if (overview.verdict().bound() == results::BOUND_UNKNOWN) return std::nullopt;
  // A GPU that works through its steps is not idle, whatever lies around them.
  const bool has_steps =
      facts.device && facts.device->series.window() == results::STEP_WINDOW_PERIOD;
  if (has_steps && 1 - facts.device->series.busy_ratio() < facts.limits("GP-001.min_idle"))
    return std::nullopt;
  // Where work may have run that was not recorded, nothing is known of the GPU.
  const int64_t idle_ns = gpu.idle_ns() - gpu.idle_unseen_ns();
  const int64_t window_ns = gpu.window_ns() - gpu.idle_unseen_ns();
  if (!gpu.has_window_ns() || Ratio(idle_ns, window_ns) < facts.limits("GP-001.min_idle"))
    return std::nullopt;
  const int64_t run = overview.meta().window_end_ns() - overview.meta().window_start_ns();
  if (Ratio(idle_ns, run * gpu.device_count()) < facts.limits("GP-001.min_run_share"))
    return std::nullopt;
  const double idle = Ratio(idle_ns, window_ns);
  const auto [level, reason] = HowSure(overview);
  Finding finding = Make("GP-001.name", level, reason);
  finding.severity =
      idle >= facts.limits("GP-001.high_idle") ? results::SEVERITY_HIGH : results::SEVERITY_MEDIUM;
  finding.Evidence("GP-001.first_work_last", {say::Duration(idle_ns), say::Duration(window_ns),
                                              say::Percent(idle), OfDevices(gpu)});
  AdviseByCause(gpu, &finding);
  finding.Caveat("GP-001.caveat", {Unseen(gpu)});
  return finding;
}

}  // namespace gpuprof::analysis
