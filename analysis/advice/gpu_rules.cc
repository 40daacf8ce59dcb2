// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about GPUs. See rules.h.

#include <utility>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "analysis/steps/statistics.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Parts of the time from the first work to the last.
// Of the run, by device: a burst of work in a run that hardly uses the GPU is no matter.

void AdviseByCause(const results::OverviewGpu& gpu, Finding* finding) {
  const std::string most = "For " + FormatDuration(gpu.idle_cause_ns()) + " of this time, ";
  if (gpu.idle_cause() == "host") {
    finding->add_evidence(
        most + "the host had not started to launch the next work: it did other work, or waited.");
    finding->add_fix(
        "Find what the host does in the gaps. `gpuprof stats streams` lists the gaps, `gpuprof "
        "stats sync` the waits for the GPU, `gpuprof stats ops` and `gpuprof stats stacks` the "
        "host's work.");
    finding->add_fix(
        "Launch ahead: wait for results (synchronising calls, .item(), copies to pageable memory) "
        "as late and as rarely as possible. Prepare data on other threads.");
  } else if (gpu.idle_cause() == "launch") {
    finding->add_evidence(most + "the next work was being launched.");
    finding->add_fix(
        "Launch less often: CUDA graphs (torch.compile(mode=\"reduce-overhead\")), fused kernels, "
        "larger batches.");
  } else if (gpu.idle_cause() == "dependency") {
    finding->add_evidence(most +
                          "the next work was launched but waited for an event, a host function, or "
                          "the device itself.");
    finding->add_fix(
        "See which stream waits for which: `gpuprof stats streams`. Put independent work into "
        "streams that do not wait for each other.");
  } else {
    finding->add_evidence(most + "the call that launched the next work is not in the recording.");
    finding->add_fix("See when the gaps occur: `gpuprof stats streams`.");
  }
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
