// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about recordings without steps. See rules.h.

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/function_name.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Parts of the time of the thread that leads the run.

std::string Part(int64_t ns, int64_t whole) {
  return FormatDuration(ns) + " (" + FormatPercent(Ratio(ns, whole)) + ")";
}

}  // namespace

std::optional<Finding> DataInRun(const AdviceFacts& facts) {
  if (facts.overview->has_steps() || !facts.run) return std::nullopt;
  const RunAccount& run = *facts.run;
  const double part = Ratio(run.data_wait_ns, run.life_ns);
  if (part < facts.limits("IN-007.min_share")) return std::nullopt;
  Finding finding = Make("IN-007", "The program waits for the next element of tf.data",
                         results::LEVEL_MEDIUM, "waits whose stack leads to tf.data's iterator");
  finding.set_severity(part >= facts.limits("IN-007.medium_share") ? results::SEVERITY_MEDIUM
                                                                   : results::SEVERITY_LOW);
  finding.add_evidence(FormatNumber(run.data_wait_count) +
                       " waits inside tf.data's iterator took " +
                       Part(run.data_wait_ns, run.life_ns) + " of the run.");
  finding.add_fix(
      "Let tf.data work ahead: end the dataset with .prefetch(tf.data.AUTOTUNE), and give map() "
      "num_parallel_calls=tf.data.AUTOTUNE.");
  finding.add_fix("Make each element cheaper: store decoded or smaller samples, or use cache().");
  finding.set_caveat(
      "The gain is at most the time waited. It is reached only if the input is ready in time.");
  return finding;
}

std::optional<Finding> TimeOfRun(const AdviceFacts& facts) {
  if (facts.overview->has_steps() || !facts.run) return std::nullopt;
  const RunAccount& run = *facts.run;
  const bool waits = Ratio(run.waiting_ns, run.life_ns) >= facts.limits("RU-001.min_waits");
  Finding finding = Make("RU-001", "Without steps: where the time of the run went",
                         results::LEVEL_HIGH, "the kernel's accounting, and every wait was timed");
  finding.set_severity(results::SEVERITY_INFO);
  const std::string whose = run.process.empty() ? "" : " of process " + run.process;
  std::string words = "Thread " + run.name + " (" + std::to_string(run.tid) + ")" + whose +
                      ", in " + FormatDuration(run.life_ns) + ": " + Part(run.cpu_ns, run.life_ns) +
                      " on a processor, ";
  if (run.runqueue_wait_ns > 0)
    words += Part(run.runqueue_wait_ns, run.life_ns) + " ready but without a processor, ";
  finding.add_evidence(words + Part(run.waiting_ns, run.life_ns) + " in waits.");
  if (run.busy_cores > 0) {
    finding.add_evidence("All threads of this process together kept " + FormatReal(run.busy_cores) +
                         " of " + std::to_string(facts.overview->environment().core_count()) +
                         " processors busy.");
  }
  for (const RunWait& wait : run.waits) {
    if (Ratio(wait.total_ns, run.life_ns) < facts.limits("RU-001.min_named")) continue;
    const std::string caller =
        wait.caller.empty() ? "" : ", called by " + ShortFunctionName(wait.caller);
    finding.add_evidence(FormatDuration(wait.total_ns) + " in " + FormatNumber(wait.count) +
                         (wait.count == 1 ? " wait" : " waits") + " of kind `" + wait.kind + "`" +
                         caller + ".");
  }
  if (waits) {
    finding.add_fix(
        "Find what the waits wait for: `gpuprof stats stacks --by wait_all`. If they wait for "
        "data, "
        "prepare the data ahead of time in another thread or process.");
  }
  finding.add_fix(
      "Put an NVTX range called `step` around each step, or name other ranges with --step-marker. "
      "The steps are then divided in the same way.");
  finding.set_caveat(
      "The functions that computed are not known: gpuprof takes stacks of memory and waits, none "
      "of "
      "running code.");
  return finding;
}

}  // namespace gpuprof::analysis
