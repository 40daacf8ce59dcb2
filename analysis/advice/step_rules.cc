// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about steps as a whole, the start of a program and its environment. See rules.h.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

#include "analysis/advice/remedies.h"
#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// A setting that makes programs slow, with what to do.
struct SlowSetting {
  const char* name;
  const char* value;  // that is slow; a list is separated by blanks
  const char* effect;
};
constexpr SlowSetting kSlowSettings[] = {
    {"CUDA_LAUNCH_BLOCKING", "1", "each launch waits for its kernel"},
    {"CUDA_CACHE_DISABLE", "1", "the driver compiles code anew in each run"},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", "each tensor is allocated by CUDA"},
    {"NCCL_DEBUG", "INFO TRACE", "NCCL writes a log of its calls"},
    {"NCCL_P2P_DISABLE", "1", "GPUs exchange data through the host"},
    {"NCCL_SHM_DISABLE", "1", "processes of one machine exchange data through the network"},
    {"NCCL_IB_DISABLE", "1", "machines exchange data without InfiniBand"},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "collectives are checked, which waits for all ranks"},
    {"JAX_DISABLE_JIT", "1 true True", "JAX compiles nothing"},
    {"JAX_DEBUG_NANS", "1 true True", "JAX checks each result, which waits for the GPU"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform", "each array is allocated by CUDA"},
    {"PYTHONMALLOC", "debug malloc_debug pymalloc_debug", "Python checks each allocation"},
};

bool IsOneOf(std::string_view value, std::string_view list) {
  while (!list.empty()) {
    const size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == value) return true;
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return false;
}

std::string ValueOf(const results::Overview& overview, std::string_view name) {
  for (const results::EnvironmentVariable& variable : overview.environment().variables())
    if (variable.name() == name) return variable.value();
  return "";
}

// Returns how many threads OpenMP may use. 0: not set.
int OmpThreads(const results::Overview& overview) {
  const std::string text = ValueOf(overview, "OMP_NUM_THREADS");
  int threads = 0;
  std::from_chars(text.data(), text.data() + text.size(), threads);
  return threads;
}

int64_t PerHostStep(const AdviceFacts& facts, int64_t ns) {
  return ns / static_cast<int64_t>(std::max<uint64_t>(facts.overview->steps().count(), 1));
}

}  // namespace

std::optional<Finding> WarmUp(const AdviceFacts& facts) {
  const results::StepSeries& steps = facts.overview->steps();
  if (steps.warmup_count() == 0) return std::nullopt;
  const double ratio =
      Ratio(steps.warmup_ns() / static_cast<int64_t>(steps.warmup_count()), steps.median_ns());
  if (ratio < facts.limits("ST-001.min_ratio")) return std::nullopt;
  Finding finding = Make("ST-001", "The first steps are warm-up, and in no figure",
                         results::LEVEL_HIGH, "measured");
  finding.set_severity(results::SEVERITY_INFO);
  finding.add_evidence(FormatNumber(steps.warmup_count()) +
                       (steps.warmup_count() == 1 ? " step takes " : " steps take ") +
                       FormatReal(ratio) + " times the median of " +
                       FormatDuration(steps.median_ns()) + ", " +
                       FormatDuration(steps.warmup_ns()) + " in all.");
  finding.add_fix("Record later steps alone: --capture=steps:FIRST-LAST.");
  return finding;
}

std::optional<Finding> Collections(const AdviceFacts& facts) {
  const Pieces& pieces = facts.host.collections;
  if (pieces.count == 0) return std::nullopt;
  const int64_t host = PerHostStep(facts, pieces.total_ns);
  const int64_t gain = HostGain(facts, host);
  const double part = Ratio(gain, facts.overview->steps().mean_ns());
  const bool is_long = pieces.longest.duration_ns >= facts.limits.Whole("ST-003.min_pause");
  if (part < facts.limits("ST-003.min_share") && !is_long) return std::nullopt;
  if (part < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = Make("ST-003", "Python's garbage collector runs within steps",
                         results::LEVEL_HIGH, "the calls were traced");
  SetGain(facts, Bound(gain, "the collections"), &finding);
  Instance longest = pieces.longest;
  longest.name.clear();
  finding.add_evidence(PartOfStep(facts, host) + " in " + FormatNumber(pieces.count) +
                       " collections. The longest: " + InstanceText(longest) + ".");
  finding.add_fix(
      "Call gc.collect() between steps, and only every few hundred steps. Collections that Python "
      "starts itself: gc.freeze() behind the set-up, and a higher gc.set_threshold().");
  finding.set_caveat("Only collections that the program calls were recorded.");
  return finding;
}

std::optional<Finding> Outputs(const AdviceFacts& facts) {
  const Pieces& pieces = facts.host.outputs;
  if (pieces.count == 0) return std::nullopt;
  const int64_t host = PerHostStep(facts, pieces.total_ns);
  const int64_t gain = facts.device ? std::min(host, facts.device->output_saved_per_step_ns) : host;
  const double part = Ratio(gain, facts.overview->steps().mean_ns());
  if (part < std::max(facts.limits("ST-004.min_share"), facts.limits("all.min_gain")))
    return std::nullopt;
  Finding finding = Make("ST-004", "Steps wait for checkpoints or other results to be written",
                         results::LEVEL_HIGH, "the calls were recorded");
  SetGain(facts, Bound(gain, "the calls that write"), &finding);
  finding.add_evidence(PartOfStep(facts, host) + " in " + FormatNumber(pieces.count) +
                       (pieces.count == 1 ? " call" : " calls") +
                       " that write. The longest: " + InstanceText(pieces.longest) + ".");
  AddFix(facts,
         {"Write less often, or on another thread from a copy.",
          "Write less often, or on another thread from a copy on the host: "
          "torch.distributed.checkpoint.async_save.",
          "Save less often (save_freq), and use tf.train.CheckpointOptions(enable_async=True).",
          "Save less often, and with Orbax's AsyncCheckpointer."},
         &finding);
  return finding;
}

std::optional<Finding> BetweenSteps(const AdviceFacts& facts) {
  const int64_t between = facts.host.between_steps_ns;
  const int64_t whole = facts.overview->steps().mean_ns() + between;
  const int64_t gain = HostGain(facts, between);
  if (Ratio(gain, whole) < facts.limits("ST-006.min_share")) return std::nullopt;
  Finding finding = Make("ST-006", "Time passes between the end of a step and the next step",
                         results::LEVEL_HIGH, "measured between the marks of the steps");
  SetGain(facts, Bound(gain, "the time between steps"), &finding);
  finding.add_evidence("In the median " + FormatDuration(between) +
                       " pass between two steps, which take " +
                       FormatDuration(facts.overview->steps().mean_ns()) + " in the mean.");
  AddFix(
      facts,
      {"Do what happens between steps less often, or on another thread.",
       "Do it every N steps or on another thread: metrics, logging, schedulers, progress bars.",
       "Run several steps a call: model.compile(steps_per_execution=N). Run callbacks less often.",
       "Do it every N steps, and start the next step before you read the results of this one."},
      &finding);
  return finding;
}

std::optional<Finding> SlowStart(const AdviceFacts& facts) {
  const int64_t start = facts.host.first_work_ns;
  if (start < facts.limits.Whole("ST-009.min_start")) return std::nullopt;
  Finding finding = Make("ST-009", "The program starts slowly", results::LEVEL_HIGH, "measured");
  finding.set_severity(results::SEVERITY_LOW);
  finding.add_evidence("The GPU first worked " + FormatDuration(start) +
                       " after the process had begun.");
  std::string parts;
  for (const results::PhaseTime& phase : facts.overview->phases()) {
    const char* words = phase.phase() == results::PHASE_CUDA_SETUP ? "setting up CUDA"
                        : phase.phase() == results::PHASE_COMPILE  ? "compiling and loading code"
                                                                   : nullptr;
    if (words == nullptr) continue;
    parts +=
        (parts.empty() ? "" : ", ") + std::string(words) + " " + FormatDuration(phase.total_ns());
  }
  if (!parts.empty()) finding.add_evidence("In the whole run: " + parts + ".");
  finding.add_fix(
      "Load models from local files, import less, keep compiled code (caches), and prepare data "
      "while the model loads.");
  return finding;
}

std::optional<Finding> Environment(const AdviceFacts& facts) {
  const results::Overview& overview = *facts.overview;
  Finding finding = Make("EN-001", "The environment slows the program", results::LEVEL_HIGH,
                         "the variables were recorded");
  finding.set_severity(results::SEVERITY_MEDIUM);
  for (const SlowSetting& setting : kSlowSettings) {
    const std::string value = ValueOf(overview, setting.name);
    if (value.empty() || !IsOneOf(value, setting.value)) continue;
    finding.add_evidence(std::string(setting.name) + "=" + value + ": " + setting.effect + ".");
    finding.add_fix("Unset " + std::string(setting.name) + ", unless you look for a fault.");
    AddRemedy(setting.name, "", "as if the variable had not been set", &finding);
  }
  if (facts.device && facts.device->launch_count >= 100) {
    const double part = static_cast<double>(facts.device->blocking_launch_count) /
                        static_cast<double>(facts.device->launch_count);
    if (part >= facts.limits("EN-001.min_blocking")) {
      finding.add_evidence(
          FormatNumber(facts.device->blocking_launch_count) + " of " +
          FormatNumber(facts.device->launch_count) +
          " launches wait for their kernel, as CUDA_LAUNCH_BLOCKING=1 makes them.");
      if (finding.fix().empty()) {
        finding.add_fix("Unset CUDA_LAUNCH_BLOCKING.");
        AddRemedy("CUDA_LAUNCH_BLOCKING", "", "as if the variable had not been set", &finding);
      }
    }
  }
  const uint32_t cores = overview.environment().core_count();
  const int threads = OmpThreads(overview);
  if (cores != 0 && threads > facts.limits("EN-001.max_threads") * cores) {
    finding.add_evidence("OMP_NUM_THREADS=" + std::to_string(threads) + ": the machine has " +
                         std::to_string(cores) + " processors.");
    finding.add_fix("Set OMP_NUM_THREADS to the number of processors of each process.");
    AddRemedy("OMP_NUM_THREADS", std::to_string(cores), "a thread for each processor", &finding);
  }
  if (finding.evidence().empty()) return std::nullopt;
  finding.set_caveat("What these settings cost was not measured.");
  return finding;
}

std::optional<Finding> NothingFound(const AdviceFacts& facts) {
  // RU-001 says the same.
  if (facts.overview->has_steps() || facts.run || !facts.device) return std::nullopt;
  if (facts.device->verdict.window() != results::STEP_WINDOW_ALL) return std::nullopt;
  if (facts.device->verdict.bound() == results::BOUND_FIRST_USE) return std::nullopt;
  Finding finding = Make("OV-001", "No steps were found: no figure is that of a step",
                         results::LEVEL_HIGH, "no mark and no pattern of steps was recorded");
  finding.set_severity(results::SEVERITY_INFO);
  finding.add_evidence("Most rules compare with the time of a step, and could not look.");
  AddFix(
      facts,
      {"Put an NVTX range called `step` around each step, or name other ranges with "
       "--step-marker.",
       "Wrap each step: `with torch.profiler.record_function(\"step\")`, call profiler.step(), or "
       "name other ranges with --step-marker.",
       "Wrap each step: `with tf.profiler.experimental.Trace(\"train\", step_num=i, _r=1)`.",
       "Wrap each step: `with jax.profiler.StepTraceAnnotation(\"train\", step_num=i)`."},
      &finding);
  return finding;
}

std::optional<Finding> UnifiedMemoryFaults(const AdviceFacts& facts) {
  const Pieces& pieces = facts.host.page_faults;
  if (pieces.count == 0) return std::nullopt;
  const int64_t per_step = PerHostStep(facts, pieces.total_ns);
  const double part = Ratio(per_step, facts.overview->steps().mean_ns());
  if (part < facts.limits("CP-007.min_share")) return std::nullopt;
  Finding finding =
      Make("CP-007", "Pages of managed memory move within steps", results::LEVEL_MEDIUM,
           "faults and migrations were timed, but not what waited for them");
  finding.set_severity(SeverityOf(facts, part));
  finding.add_evidence(PartOfStep(facts, per_step) +
                       " pages moved or were missing: " + FormatNumber(pieces.count) +
                       " times in all. The longest: " + InstanceText(pieces.longest) + ".");
  finding.add_fix(
      "Move pages before they are used (cudaMemPrefetchAsync), tell CUDA where they live "
      "(cudaMemAdvise), or use memory of the device. `gpuprof stats unified_memory` lists the "
      "pages.");
  finding.set_caveat("A kernel can compute on other pages while a page moves.");
  return finding;
}

}  // namespace gpuprof::analysis
