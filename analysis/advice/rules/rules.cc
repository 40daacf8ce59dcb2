// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rules.h. One function a rule, one table of them at the end.

#include "analysis/advice/rules/rules.h"

#include <algorithm>
#include <string_view>

#include "analysis/advice/rules/places.h"
#include "analysis/advice/rules/remedies.h"
#include "analysis/advice/rules/rule_parts.h"
#include "analysis/base/units.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/function_name.h"

namespace gpuprof::analysis {
namespace {

// Whether torch.compile made some of what ran.
bool IsCompiled(const AdviceFacts& facts) {
  const auto& ops = facts.ops->ops();
  return std::any_of(ops.begin(), ops.end(), [](const results::Op& op) {
    return op.name().rfind("Torch-Compiled Region", 0) == 0 ||
           op.name().rfind("CompiledFunction", 0) == 0;
  });
}

// Adds what to do so that Python starts fewer operations.
void AddCompileFix(const AdviceFacts& facts, Finding* finding) {
  if (IsCompiled(facts)) {
    finding->Fix("all.parts_program_compiled_already");
    return;
  }
  AddFix(facts, "all.start_fewer_larger_operations", finding);
}

std::optional<Finding> HostBound(const AdviceFacts& facts) {
  if (facts.ops->ops().empty()) return std::nullopt;  // steps of another framework
  const int64_t bare = facts.bare_step_ns;
  if (Ratio(bare, facts.overview->steps().mean_ns()) < facts.limits("HO-001.min_share"))
    return std::nullopt;
  if (WaitsLongerThan(facts, bare)) return std::nullopt;
  Finding finding = Make("HO-001.name", results::LEVEL_MEDIUM, {"HO-001.reason"});
  finding.Evidence("HO-001.operation_open_step_thread", {PartOfStep(facts, bare)});
  SetGain(facts, Bound(bare, "HO-001.gain"), &finding);
  finding.Fix("HO-001.move_per_step_python");
  AddCompileFix(facts, &finding);
  finding.Caveat("HO-001.caveat");
  return finding;
}

std::optional<Finding> TinyOps(const AdviceFacts& facts) {
  const results::StepSeries& steps = facts.overview->steps();
  double per_step = 0;
  int64_t self_ns = 0;
  std::vector<std::pair<int64_t, uint64_t>> costs;
  uint64_t all = 0;
  for (const results::Op& op : facts.ops->ops()) {
    if (op.scope() == "user") continue;
    per_step += op.count_per_step();
    self_ns += op.step_self_ns();
    costs.emplace_back(op.self_ns() / static_cast<int64_t>(op.count()), op.count());
    all += op.count();
  }
  if (per_step < facts.limits("LA-002.min_ops")) return std::nullopt;
  const auto steps_count = static_cast<int64_t>(steps.count());
  const int64_t step_ns = self_ns / steps_count;
  const auto mean = static_cast<int64_t>(static_cast<double>(step_ns) / per_step);
  if (Ratio(step_ns, steps.mean_ns()) < facts.limits("LA-002.min_share") ||
      mean >= facts.limits("LA-002.max_op"))
    return std::nullopt;
  // What the cheapest tenth of them take is little more than being called at all.
  std::sort(costs.begin(), costs.end());
  uint64_t seen = 0;
  int64_t floor = 0;
  for (const auto& [cost, count] : costs) {
    floor = cost;
    if ((seen += count) * 10 >= all) break;
  }
  const auto recoverable = static_cast<int64_t>(static_cast<double>(floor) * per_step);
  if (Ratio(recoverable, steps.mean_ns()) < facts.limits("all.min_gain")) return std::nullopt;
  if (WaitsLongerThan(facts, step_ns)) return std::nullopt;
  Finding finding = Make("LA-002.name_ops", results::LEVEL_MEDIUM, {"LA-002.reason_ops"});
  finding.Evidence("LA-002.operations_per_step_average",
                   {say::Count(WholeNumber(per_step)), say::Duration(mean)});
  finding.Evidence("LA-002.cheapest_tenth_takes_little",
                   {say::Duration(floor), say::Duration(recoverable)});
  SetGain(facts, Bound(recoverable, "LA-002.gain_ops"), &finding);
  finding.Fix("LA-002.larger_batches_same_calls");
  AddCompileFix(facts, &finding);
  finding.Caveat("LA-002.caveat");
  return finding;
}

// Whether PyTorch has a fused or a foreach form of the optimizer.
bool CanBeFused(std::string_view name) {
  return name.find("LBFGS") == std::string_view::npos &&
         name.find("SparseAdam") == std::string_view::npos;
}

std::optional<Finding> OptimizerLoop(const AdviceFacts& facts) {
  const results::Op* optimizer = nullptr;
  bool fused = false;
  for (const results::Op& op : facts.ops->ops()) {
    if (op.name().find("_fused_") != std::string::npos) fused = true;
    if (optimizer == nullptr && op.name().rfind("Optimizer.step#", 0) == 0) optimizer = &op;
  }
  if (optimizer == nullptr || fused || !CanBeFused(optimizer->name())) return std::nullopt;
  const int64_t per_step = facts.optimizer_python_ns;
  if (WaitsLongerThan(facts, per_step)) return std::nullopt;
  if (Ratio(per_step, facts.overview->steps().mean_ns()) < facts.limits("OP-001.min_share"))
    return std::nullopt;
  const int64_t gain = HostGain(facts, per_step);
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("OP-001.min_share"))
    return std::nullopt;
  Finding finding = Make("OP-001.name", results::LEVEL_MEDIUM, {"OP-001.reason"});
  finding.Evidence("OP-001.runs_operation_inside",
                   {PartOfStep(facts, per_step), say::Name(optimizer->name())});
  SetGain(facts, Bound(gain, "OP-001.gain"), &finding);
  finding.Fix("OP-001.give_optimizer_fused_true");
  return finding;
}

// Part of the time in which the step's thread could have run but had no processor; none: not
// measured.
std::optional<double> WithoutProcessor(const AdviceFacts& facts) {
  if (!facts.step_runqueue_wait_ns || facts.step_measured_ns <= 0) return std::nullopt;
  return Ratio(*facts.step_runqueue_wait_ns, facts.step_measured_ns);
}

std::optional<Finding> Oversubscribed(const AdviceFacts& facts) {
  const std::optional<double> part = WithoutProcessor(facts);
  if (!part || *part < facts.limits("TH-001.min_share")) return std::nullopt;
  const auto per_step =
      static_cast<int64_t>(*part * static_cast<double>(facts.overview->steps().mean_ns()));
  if (WaitsLongerThan(facts, per_step)) return std::nullopt;
  const int64_t gain = HostGain(facts, per_step);
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("TH-001.min_share"))
    return std::nullopt;
  const uint32_t cores = facts.overview->environment().core_count();
  const bool known = facts.busy_cores.has_value() && cores > 0;
  const bool others = known && *facts.busy_cores < facts.limits("TH-001.min_own") * cores;
  Finding finding = Make(others ? "TH-001.name_others" : "TH-001.name_own", results::LEVEL_MEDIUM,
                         "TH-001.reason");
  finding.Evidence("TH-001.step_thread_ready_run", {PartOfStep(facts, per_step)});
  if (known) {
    finding.Evidence("TH-001.processes_recorded_kept_processors",
                     {say::Real(*facts.busy_cores), say::Plain(cores)});
  }
  SetGain(facts, Bound(gain, "TH-001.gain"), &finding);
  if (others) {
    finding.Fix("TH-001.measure_quiet_machine_give");
  } else {
    finding.Fix("TH-001.use_fewer_threads_torch");
    finding.Caveat("TH-001.caveat");
    const auto processes = static_cast<uint32_t>(std::max(facts.overview->processes_size(), 1));
    if (cores != 0)
      AddRemedy("OMP_NUM_THREADS", std::to_string(std::max(cores / processes, 1u)),
                "TH-001.part_each", &finding);
  }
  return finding;
}

std::optional<Finding> Jitter(const AdviceFacts& facts) {
  const results::StepSeries& steps = facts.overview->steps();
  if (steps.count() < facts.limits("ST-002.min_steps") ||
      Ratio(steps.p90_ns(), steps.median_ns()) < facts.limits("ST-002.min_spread"))
    return std::nullopt;
  const int64_t gain = std::max<int64_t>(steps.mean_ns() - steps.median_ns(), 0);
  // Where waiting for a processor explains it, that rule speaks.
  const double stalled = WithoutProcessor(facts).value_or(0) * static_cast<double>(steps.mean_ns());
  if (stalled * 2 > static_cast<double>(gain)) return std::nullopt;
  const results::StepCategory* worst = nullptr;
  auto rise = [](const results::StepCategory& c) { return c.mean_ns() - c.median_ns(); };
  for (const results::StepCategory& category : steps.categories()) {
    if (worst == nullptr || rise(category) > rise(*worst)) worst = &category;
  }
  Finding finding = Make("ST-002.name", results::LEVEL_HIGH, {"ST-002.reason"});
  finding.Evidence(
      "ST-002.median_step_takes_ten",
      {say::Duration(steps.median_ns()), say::Duration(steps.p90_ns()), say::Name(worst->name())});
  SetGain(facts, Bound(gain, "ST-002.gain"), &finding);
  finding.Fix("ST-002.see_steps_slow_gpuprof");
  return finding;
}

std::optional<Finding> HeapChurn(const AdviceFacts& facts) {
  const results::HeapProcess* heap = facts.heap;
  if (heap == nullptr || heap->allocated_bytes_per_step() < facts.limits("ME-006.min_bytes"))
    return std::nullopt;
  const double brief = Ratio(heap->short_lived_bytes(), heap->allocated_bytes());
  if (brief < facts.limits("ME-006.min_short_lived")) return std::nullopt;
  Finding finding = Make("ME-006.name", results::LEVEL_LOW, {"ME-006.reason"});
  finding.Evidence(
      "ME-006.per_step_bytes_live",
      {say::Bytes(WholeNumber(heap->allocated_bytes_per_step())), say::Percent(brief)});
  finding.Fix("ME-006.reuse_buffers_out_place");
  finding.Caveat("ME-006.caveat");
  return finding;
}

std::optional<Finding> Honesty(const AdviceFacts& facts) {
  const results::Overview& overview = *facts.overview;
  const bool slowed = overview.cost().slowdown_ratio() > facts.limits("EN-002.max_slowdown");
  const bool has_clock_error = facts.host.clock_error_ns > facts.limits("EN-002.max_clock_error");
  if (overview.meta().losses().empty() && !slowed && !has_clock_error) return std::nullopt;
  Finding finding = Make("EN-002.name", results::LEVEL_HIGH, {"EN-002.reason"});
  for (const results::Loss& loss : overview.meta().losses()) {
    finding.Evidence("EN-002.lost", {say::Count(loss.count()), say::Name(loss.name())});
    finding.Fix("all.given", {say::Name(loss.fix())});
  }
  if (slowed) {
    finding.Evidence("EN-002.recording_slowed_program_about",
                     {say::Percent(overview.cost().slowdown_ratio())});
    finding.Fix("EN-002.record_less_use_trace");
  }
  if (has_clock_error) {
    finding.Evidence("EN-002.times_gpu_may_differ",
                     {say::Duration(static_cast<int64_t>(facts.host.clock_error_ns))});
    finding.Fix("EN-002.record_machine_less_busy");
  }
  return finding;
}

using Rule = std::optional<Finding> (*)(const AdviceFacts&);
constexpr Rule kStepRules[] = {
    InputBound,    BatchesOnMainThread, ColdFiles, WarmUp,    Collections,    Outputs,
    BetweenSteps,  UnifiedMemoryFaults, HostBound, TinyOps,   LockContention, StepsBlocked,
    OptimizerLoop, Oversubscribed,      Jitter,    HeapChurn, LatePrompts};
constexpr Rule kDeviceRules[] = {
    LateHost,        ExposedCollectives,  PageableCopies,     SynchronousCopies,
    ExposedCopies,   SmallCopies,         ReturnedCopies,     Memsets,
    BlockingWaits,   Allocations,         DefaultStream,      TinyKernels,
    RepeatedKernels, SlowCalls,           GraphCandidate,     CodeLoads,
    Recompiles,      WithoutTensorCores,  Elementwise,        FirstUses,
    LongGaps,        LowOccupancy,        FewBlocks,          Tails,
    LittleOf16Bits,  UnfusedAttention,    DriftingKernels,    LayoutKernels,
    SlowProducts,    SlowedByCollectives, MisalignedProducts, SmallMessages,
    SlowClocks};
constexpr Rule kOtherRules[] = {
    BusyFunction,        WaitsForGil,  LongWaits,       CollectionsInRun, Honesty,
    LockContentionInRun, IdleGpu,      DataInRun,       SlowIterator,     TimeOfRun,
    SlowStart,           Environment,  NothingFound,    FullQueue,        NearlyFull,
    Fragmentation,       MemoryGrows,  AllocationChurn, SharedGpu,        SlowBackend,
    LateRankOfDevice,    UnequalRanks, LateRankOfHost};

// Two rules that see the same cause. The first is the more specific one: the second says no more,
// if the first explains so much of its gain.
struct Explanation {
  std::string_view specific, general;
  double least_part;
};
constexpr Explanation kExplanations[] = {
    {"IN-006", "IN-001", 0.5}, {"IN-006", "IN-002", 0.5}, {"IN-006", "IN-003", 0.5},
    {"IN-006", "IN-004", 0.5}, {"IN-006", "IN-005", 0.5}, {"IN-001", "IN-006", 0},
    {"IN-002", "IN-006", 0},   {"IN-003", "IN-006", 0},   {"IN-004", "IN-006", 0},
    {"IN-005", "IN-006", 0},   {"IN-007", "IN-001", 0.5}, {"CP-006", "CP-001", 0.5},
    {"CP-006", "CP-002", 0.5}, {"CP-006", "CP-003", 0.5}, {"CP-004", "CP-001", 0.5},
    {"CP-004", "CP-002", 0.5}, {"CP-004", "CP-003", 0.5}, {"CP-002", "CP-003", 0.5},
    {"CP-001", "CP-003", 0.5}, {"CP-008", "CP-003", 0.5}, {"CP-006", "SY-001", 0.5},
    {"CP-002", "SY-001", 0.5}, {"CP-001", "SY-001", 0.5}, {"CP-004", "SY-001", 0.5},
    {"SY-002", "LA-005", 0.5}, {"LA-007", "LA-005", 0.5}, {"ST-005", "LA-005", 0.5},
    {"SY-002", "LA-001", 0.5}, {"LA-005", "LA-001", 0.5}, {"LA-003", "LA-001", 0.5},
    {"SY-001", "LA-001", 0.8}, {"LA-001", "LA-003", 0},   {"LA-001", "LA-006", 0},
    {"LA-003", "LA-006", 0.5}, {"SY-001", "LA-006", 0.8}, {"LA-008", "LA-002", 0},
    {"SY-002", "ME-005", 0},   {"LA-005", "ME-005", 0},   {"GP-013", "GP-014", 0.5},
    {"CO-008", "CO-002", 0.5}, {"CO-002", "CO-001", 0.5}, {"CO-008", "CO-001", 0.5},
    {"GP-006", "GP-007", 0},   {"GP-009", "LA-008", 0.5}, {"GP-015", "LA-008", 0.5},
    {"GP-006", "GP-017", 0},   {"GP-007", "GP-017", 0},   {"GP-008", "GP-017", 0.5},
    {"IN-001", "GP-002", 0.5}, {"IN-006", "GP-002", 0.5}, {"IN-002", "GP-002", 0.5},
    {"IN-003", "GP-002", 0.5}, {"IN-004", "GP-002", 0.5}, {"IN-005", "GP-002", 0.5},
    {"IN-007", "GP-002", 0.5}, {"IN-008", "GP-002", 0.5}, {"SY-001", "GP-002", 0.5},
    {"SY-002", "GP-002", 0.5}, {"ST-003", "GP-002", 0.5}, {"ST-004", "GP-002", 0.5},
    {"ST-005", "GP-002", 0.5}, {"LA-005", "GP-002", 0.5}, {"LA-007", "GP-002", 0.5},
    {"CP-001", "GP-002", 0.5}, {"CP-002", "GP-002", 0.5}};

void RemoveExplained(std::vector<Finding>* findings) {
  const auto find = [&](std::string_view id) {
    return std::find_if(findings->begin(), findings->end(),
                        [&](const Finding& finding) { return finding.id == id; });
  };
  for (const Explanation& each : kExplanations) {
    const auto specific = find(each.specific), general = find(each.general);
    if (specific == findings->end() || general == findings->end()) continue;
    const auto least = static_cast<double>(HighNs(*general)) * each.least_part;
    if (static_cast<double>(HighNs(*specific)) >= least) findings->erase(general);
  }
}

}  // namespace

std::vector<Finding> Advise(const AdviceFacts& facts) {
  std::vector<Finding> findings;
  auto apply = [&](Rule rule) {
    if (std::optional<Finding> finding = rule(facts)) findings.push_back(std::move(*finding));
  };
  // If a device makes the steps long, the host's operations do not.
  const bool is_of_device =
      facts.device && facts.device->verdict.window() != results::STEP_WINDOW_ALL;
  if (HasSteps(facts)) {
    for (const Rule rule : kStepRules) {
      if (!is_of_device || (rule != HostBound && rule != TinyOps)) apply(rule);
    }
  }
  const size_t before = findings.size();
  for (const Rule rule : kDeviceRules) apply(rule);
  // One finding a mechanism: an idle device was explained.
  const bool has_explained = findings.size() != before;
  for (const Rule rule : kOtherRules) {
    if (rule != IdleGpu || !has_explained) apply(rule);
  }
  // A batch can be larger where the GPU has both time and memory.
  const bool has_time = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    const std::string_view id = finding.id;
    return id == "LA-001" || id == "GP-001" || id == "GP-004" || id == "LA-002";
  });
  if (has_time) apply(UnusedMemory);
  for (Finding& finding : findings) LimitToRanks(facts, &finding);
  RemoveExplained(&findings);
  // What a user could not see after the change is no help. A great gain can be seen in steps of any
  // spread.
  constexpr double kGreatGain = 0.1;
  const double noise =
      std::min(HasWholeSteps(facts) ? facts.device->noise_ratio : facts.noise_ratio, kGreatGain);
  std::erase_if(findings, [&](const Finding& finding) {
    return IsComputed(finding) && HighRatio(finding) < noise;
  });
  // What has no figure stands by its severity: a note comes last.
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return MiddleNs(a) != MiddleNs(b) ? MiddleNs(a) > MiddleNs(b) : a.severity > b.severity;
  });
  // A program that stands still gains nothing from the rest.
  if (std::optional<Finding> finding = Deadlocked(facts)) {
    findings.insert(findings.begin(), std::move(*finding));
  }
  for (Finding& finding : findings) {
    AddPlace(facts, &finding);
    AddRemedies(facts, &finding);
  }
  return findings;
}

}  // namespace gpuprof::analysis
