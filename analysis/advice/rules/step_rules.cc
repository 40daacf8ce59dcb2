// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about steps as a whole, the start of a program and its environment. See rules.h.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

#include "analysis/advice/rules/remedies.h"
#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// A setting that makes programs slow, with what to do.
struct SlowSetting {
  const char* name;
  const char* value;  // that is slow; a list is separated by blanks
  const char* effect;
};
constexpr SlowSetting kSlowSettings[] = {
    {"CUDA_LAUNCH_BLOCKING", "1", "EN-001.cuda_launch_blocking"},
    {"CUDA_CACHE_DISABLE", "1", "EN-001.cuda_cache_disable"},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", "EN-001.pytorch_no_cuda_memory_caching"},
    {"NCCL_DEBUG", "INFO TRACE", "EN-001.nccl_debug"},
    {"NCCL_P2P_DISABLE", "1", "EN-001.nccl_p2p_disable"},
    {"NCCL_SHM_DISABLE", "1", "EN-001.nccl_shm_disable"},
    {"NCCL_IB_DISABLE", "1", "EN-001.nccl_ib_disable"},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "EN-001.torch_distributed_debug"},
    {"JAX_DISABLE_JIT", "1 true True", "EN-001.jax_disable_jit"},
    {"JAX_DEBUG_NANS", "1 true True", "EN-001.jax_debug_nans"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform", "EN-001.xla_python_client_allocator"},
    {"PYTHONMALLOC", "debug malloc_debug pymalloc_debug", "EN-001.pythonmalloc"},
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
  Finding finding = Make("ST-001.name", results::LEVEL_HIGH, {"ST-001.reason"});
  finding.severity = results::SEVERITY_INFO;
  finding.Evidence("ST-001.times_median",
                   {say::Count(steps.warmup_count()), say::Real(ratio),
                    say::Duration(steps.median_ns()), say::Duration(steps.warmup_ns())});
  finding.Fix("ST-001.record_later_steps_alone");
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
  const bool has_pauses = facts.host.has_pauses;
  Finding finding =
      Make("ST-003.name", results::LEVEL_HIGH, {has_pauses ? "ST-003.pauses" : "ST-003.reason"});
  SetGain(facts, Bound(gain, "ST-003.gain"), &finding);
  Instance longest = pieces.longest;
  longest.name.clear();
  finding.Evidence("ST-003.collections_longest",
                   {PartOfStep(facts, host), say::Count(pieces.count), InstanceText(longest)});
  finding.Fix("ST-003.call_gc_collect_between");
  if (!has_pauses) finding.Caveat("ST-003.caveat");
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
  Finding finding = Make("ST-004.name", results::LEVEL_HIGH, {"ST-004.reason"});
  SetGain(facts, Bound(gain, "ST-004.gain"), &finding);
  finding.Evidence("ST-004.write_longest", {PartOfStep(facts, host), say::Count(pieces.count),
                                            InstanceText(pieces.longest)});
  AddFix(facts, "ST-004.write_less_often_another", &finding);
  return finding;
}

std::optional<Finding> BetweenSteps(const AdviceFacts& facts) {
  const int64_t between = facts.host.between_steps_ns;
  const int64_t whole = facts.overview->steps().mean_ns() + between;
  const int64_t gain = HostGain(facts, between);
  if (Ratio(gain, whole) < facts.limits("ST-006.min_share")) return std::nullopt;
  Finding finding = Make("ST-006.name", results::LEVEL_HIGH, {"ST-006.reason"});
  SetGain(facts, Bound(gain, "ST-006.gain"), &finding);
  finding.Evidence("ST-006.median_pass_between_two",
                   {say::Duration(between), say::Duration(facts.overview->steps().mean_ns())});
  AddFix(facts, "ST-006.happens_between_steps_less", &finding);
  return finding;
}

std::optional<Finding> LatePrompts(const AdviceFacts& facts) {
  const ServingFacts& serving = facts.host.serving;
  if (static_cast<double>(serving.gaps) < facts.limits("ST-010.min_gaps") ||
      Ratio(serving.p99_ns, serving.plain_p99_ns) < facts.limits("ST-010.min_factor"))
    return std::nullopt;
  Finding finding = Make("ST-010.name", results::LEVEL_HIGH, {"ST-010.reason"});
  finding.severity = results::SEVERITY_MEDIUM;
  finding.Evidence("ST-010.percentile",
                   {say::Count(serving.prompt_gaps), say::Count(serving.gaps),
                    say::Duration(serving.p99_ns), say::Duration(serving.plain_p99_ns)});
  finding.Fix("ST-010.smaller_pieces");
  finding.Fix("ST-010.other_devices");
  finding.Caveat("ST-010.caveat");
  return finding;
}

std::optional<Finding> SlowStart(const AdviceFacts& facts) {
  const int64_t start = facts.host.first_work_ns;
  if (start < facts.limits.Whole("ST-009.min_start")) return std::nullopt;
  Finding finding = Make("ST-009.name", results::LEVEL_HIGH, {"ST-009.reason"});
  finding.severity = results::SEVERITY_LOW;
  finding.Evidence("ST-009.gpu_first_worked_after", {say::Duration(start)});
  std::vector<Sentence> parts;
  for (const results::PhaseTime& phase : facts.overview->phases()) {
    const Argument time = say::Duration(phase.total_ns());
    if (phase.phase() == results::PHASE_CUDA_SETUP) parts.push_back({"ST-009.cuda_setup", {time}});
    if (phase.phase() == results::PHASE_COMPILE) parts.push_back({"ST-009.compile", {time}});
  }
  if (!parts.empty()) finding.Evidence("ST-009.whole_run", {say::List(std::move(parts))});
  finding.Fix("ST-009.load_models_local_files");
  return finding;
}

std::optional<Finding> Environment(const AdviceFacts& facts) {
  const results::Overview& overview = *facts.overview;
  Finding finding = Make("EN-001.name", results::LEVEL_HIGH, {"EN-001.reason"});
  finding.severity = results::SEVERITY_MEDIUM;
  for (const SlowSetting& setting : kSlowSettings) {
    const std::string value = ValueOf(overview, setting.name);
    if (value.empty() || !IsOneOf(value, setting.value)) continue;
    finding.Evidence("EN-001.setting",
                     {say::Name(setting.name), say::Name(value), say::Phrase({setting.effect})});
    finding.Fix("EN-001.unset_unless_you_look", {say::Name(setting.name)});
    AddRemedy(setting.name, "", "EN-001.as_if_unset", &finding);
  }
  if (facts.device && facts.device->launch_count >= 100) {
    const double part = static_cast<double>(facts.device->blocking_launch_count) /
                        static_cast<double>(facts.device->launch_count);
    if (part >= facts.limits("EN-001.min_blocking")) {
      finding.Evidence("EN-001.launches_wait_kernel_cuda_launch_blocking",
                       {say::Count(facts.device->blocking_launch_count),
                        say::Count(facts.device->launch_count)});
      if (finding.fixes.empty()) {
        finding.Fix("EN-001.unset_cuda_launch_blocking");
        AddRemedy("CUDA_LAUNCH_BLOCKING", "", "EN-001.as_if_unset", &finding);
      }
    }
  }
  const uint32_t cores = overview.environment().core_count();
  const int threads = OmpThreads(overview);
  if (cores != 0 && threads > facts.limits("EN-001.max_threads") * cores) {
    finding.Evidence("EN-001.omp_num_threads_machine_processors",
                     {say::Plain(threads), say::Plain(cores)});
    finding.Fix("EN-001.set_omp_num_threads_number_processors");
    AddRemedy("OMP_NUM_THREADS", std::to_string(cores), "EN-001.thread_each", &finding);
  }
  if (finding.evidence.empty()) return std::nullopt;
  finding.Caveat("EN-001.caveat");
  return finding;
}

std::optional<Finding> NothingFound(const AdviceFacts& facts) {
  // RU-001 says the same.
  if (facts.overview->has_steps() || facts.run || !facts.device) return std::nullopt;
  if (facts.device->verdict.window() != results::STEP_WINDOW_ALL) return std::nullopt;
  if (facts.device->verdict.bound() == results::BOUND_FIRST_USE) return std::nullopt;
  Finding finding = Make("OV-001.name", results::LEVEL_HIGH, {"OV-001.reason"});
  finding.severity = results::SEVERITY_INFO;
  finding.Evidence("OV-001.most_rules_compare_time");
  AddFix(facts, "OV-001.put_nvtx_range_called", &finding);
  return finding;
}

std::optional<Finding> UnifiedMemoryFaults(const AdviceFacts& facts) {
  const Pieces& pieces = facts.host.page_faults;
  if (pieces.count == 0) return std::nullopt;
  const int64_t per_step = PerHostStep(facts, pieces.total_ns);
  const double part = Ratio(per_step, facts.overview->steps().mean_ns());
  if (part < facts.limits("CP-007.min_share")) return std::nullopt;
  Finding finding = Make("CP-007.name", results::LEVEL_MEDIUM, {"CP-007.reason"});
  finding.severity = SeverityOf(facts, part);
  finding.Evidence(
      "CP-007.pages_moved_missing_times",
      {PartOfStep(facts, per_step), say::Count(pieces.count), InstanceText(pieces.longest)});
  finding.Fix("CP-007.move_pages_before_used");
  finding.Caveat("CP-007.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
