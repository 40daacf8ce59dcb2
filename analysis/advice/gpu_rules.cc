// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about GPUs. See rules.h.

#include <utility>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "analysis/steps/statistics.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Returns what to do against a cause of idle time.
const char* FixOf(results::TimeCategory cause) {
  switch (cause) {
    case results::TIME_CATEGORY_INPUT:
      return "Prepare data ahead on other threads or processes: more workers of the loader, and "
             "prefetching.";
    case results::TIME_CATEGORY_OUTPUT:
      return "Write results less often, or on another thread.";
    case results::TIME_CATEGORY_COMPILE:
      return "Compile before the work begins: a warm-up, caches of compiled code, shapes that stay "
             "the same.";
    case results::TIME_CATEGORY_SYNC:
      return "Launch ahead: wait for results (synchronising calls, .item(), copies to pageable "
             "memory) as late and as rarely as possible. `gpuprof stats sync` lists the waits.";
    case results::TIME_CATEGORY_PROFILER:
      return "Record less: fewer sources (--trace), or a shorter capture.";
    case results::TIME_CATEGORY_HOST:
      return "Launch ahead: wait for results (synchronising calls, .item(), copies to pageable "
             "memory) as late and as rarely as possible. Prepare data on other threads.";
    case results::TIME_CATEGORY_LAUNCH:
      return "Launch less often: CUDA graphs (torch.compile(mode=\"reduce-overhead\")), fused "
             "kernels, larger batches.";
    case results::TIME_CATEGORY_DEPENDENCY:
      return "See which stream waits for which: `gpuprof stats streams`. Put independent work into "
             "streams that do not wait for each other.";
    default:
      return nullptr;
  }
}

// Names the cause that the pass idle finds as the largest. Where work may have run that was not
// recorded, the rule does not count idle time.
void AdviseByCause(const results::OverviewGpu& gpu, Finding* finding) {
  const results::TimeCategory cause = TimeCategoryOf(gpu.idle_cause());
  const bool is_unexplained = cause == results::TIME_CATEGORY_UNEXPLAINED;
  const int64_t ns = gpu.idle_cause_ns() - (is_unexplained ? gpu.idle_unseen_ns() : 0);
  if (ns > 0)
    finding->add_evidence("For " + FormatDuration(ns) + " of this time, " + IdleMeaning(cause) +
                          ".");
  finding->add_fix(
      "See the gaps and what the host did in them: `gpuprof stats idle`. `gpuprof stats ops` and "
      "`gpuprof stats stacks` show the host's work.");
  if (const char* fix = FixOf(cause)) finding->add_fix(fix);
}

// How sure it is that nothing ran, and why.
std::pair<results::Level, const char*> HowSure(const results::Overview& overview) {
  if (overview.gpu().untold_device_count() != 0) {
    return {results::LEVEL_LOW,
            "the recording does not show which devices are the same GPU: one process may have used "
            "it while another left it idle"};
  }
  if (overview.gpu().left_out_process_count() != 0)
    return {results::LEVEL_LOW,
            "other recorded processes, which were not selected, used the GPU too"};
  if (overview.gpu().has_idle_unseen_ns())
    return {results::LEVEL_MEDIUM,
            "work that began before the capture or ended after it is missing"};
  if (overview.meta().lost_count() != 0)
    return {results::LEVEL_MEDIUM, "events were lost: the GPU may have been busier"};
  return {results::LEVEL_HIGH, "all work of the recorded processes was timed"};
}

std::string Caveat(const results::OverviewGpu& gpu) {
  std::string caveat = "Time can be gained only in gaps in which there was something to compute. ";
  if (gpu.untold_device_count() != 0) {
    caveat +=
        "The recording does not show which of these devices are the same GPU. One process may have "
        "used it while another left it idle. ";
  }
  const uint32_t others = gpu.left_out_process_count();
  if (others != 0) {
    caveat += std::to_string(others) +
              (others == 1 ? " other recorded process" : " other recorded processes") +
              " used the GPU too, and their work is not in these figures. ";
  }
  return caveat + "Work of unrecorded processes on the GPU is not seen.";
}

}  // namespace

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
  Finding finding = Make("GP-001", "The GPU stands idle between pieces of its work", level, reason);
  finding.set_severity(idle >= facts.limits("GP-001.high_idle") ? results::SEVERITY_HIGH
                                                                : results::SEVERITY_MEDIUM);
  finding.add_evidence(FormatDuration(idle_ns) + " of " + FormatDuration(window_ns) +
                       " from its first work to its last (" + FormatPercent(idle) + ")" +
                       DevicesText(gpu) + ".");
  AdviseByCause(gpu, &finding);
  finding.set_caveat(Caveat(gpu));
  return finding;
}

}  // namespace gpuprof::analysis
