// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about calls of CUDA in steps: waits, allocations, loading of code. See rules.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

int64_t PerStepNs(const DeviceFacts& device, int64_t ns) {
  return ns / static_cast<int64_t>(std::max<uint64_t>(device.series.count(), 1));
}

void AddCalls(const AdviceFacts& facts, const Pieces& calls, const char* what, Finding* finding) {
  finding->Evidence("all.calls", {CountPerStep(*facts.device, calls.count), say::Phrase({what}),
                                  say::Duration(PerStepNs(*facts.device, calls.total_ns)),
                                  InstanceText(calls.longest)});
}

// Returns "3 of cudaStreamSynchronize (12 ms), 1 of cudaMemcpy (3 ms)": in a step, longest first.
Argument WaitsText(const DeviceFacts& device) {
  constexpr size_t kNamed = 3;
  std::vector<std::pair<std::string, std::pair<uint64_t, int64_t>>> calls(
      device.waits_by_call.begin(), device.waits_by_call.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  std::vector<Sentence> words;
  for (size_t i = 0; i < std::min(kNamed, calls.size()); ++i)
    words.push_back({"all.name_and_figure",
                     {say::Name(calls[i].first), CountPerStep(device, calls[i].second.first)}});
  return say::List(std::move(words));
}

}  // namespace

std::optional<Finding> BlockingWaits(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain =
      std::min(device.SavedPerStep(results::WHAT_IF_SYNC), device.waits.saved_per_step_ns);
  if (Share(device, gain) < facts.limits("SY-001.min_share")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "SY-001.name");
  SetGain(facts, Replayed(gain, "SY-001.gain"), &finding);
  finding.Evidence("SY-001.step_would_take_instead",
                   {say::Duration(device.StepNs() - gain), say::Duration(device.StepNs())});
  if (device.waits.count != 0) {
    Instance longest = device.waits.longest;
    const std::string call = std::exchange(longest.name, "");
    finding.Evidence("SY-001.behind_waits_gpu_had",
                     {WaitsText(device), say::Name(call), InstanceText(longest)});
  }
  AddFix(facts, "SY-001.wait_events_where_result", &finding);
  return finding;
}

std::optional<Finding> Allocations(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& calls = facts.device->allocations;
  std::optional<Finding> finding =
      MakeOfPieces(facts, calls, "SY-002.min_share", "SY-002.name", "SY-002.gain");
  if (!finding) return std::nullopt;
  AddCalls(facts, calls, "SY-002.pieces", &*finding);
  AddFix(facts, "SY-002.allocate_once_reuse_memory", &*finding);
  return finding;
}

std::optional<Finding> DefaultStream(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& pieces = device.legacy_stream;
  if (pieces.count == 0 || device.held_streams == 0) return std::nullopt;
  if (Share(device, PerStepNs(device, pieces.total_ns)) < facts.limits("SY-003.min_share"))
    return std::nullopt;
  Finding finding = Make("SY-003.name", results::LEVEL_MEDIUM, {"SY-003.reason"});
  finding.severity = results::SEVERITY_LOW;
  finding.Evidence(
      "SY-003.pieces_work_legacy_default",
      {CountPerStep(device, pieces.count), say::Duration(PerStepNs(device, pieces.total_ns)),
       say::Plain(device.held_streams), InstanceText(pieces.longest)});
  AddFix(facts, "SY-003.build_default_stream_per", &finding);
  finding.Caveat("SY-003.caveat");
  return finding;
}

std::optional<Finding> FullQueue(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& calls = device.full_queue;
  if (Share(device, PerStepNs(device, calls.total_ns)) < facts.limits("LA-004.min_share"))
    return std::nullopt;
  Finding finding = Make("LA-004.name", results::LEVEL_HIGH, {"LA-004.reason"});
  finding.severity = results::SEVERITY_INFO;
  AddCalls(facts, calls, "LA-004.pieces", &finding);
  finding.Fix("LA-004.leave_host_ahead_gpu");
  return finding;
}

std::optional<Finding> SlowCalls(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& calls = facts.device->slow_calls;
  std::optional<Finding> finding =
      MakeOfPieces(facts, calls, "LA-005.min_share", "LA-005.name", "LA-005.gain");
  if (!finding) return std::nullopt;
  const std::string function = calls.longest.name;
  finding->Evidence(
      "LA-005.calls_longer_longest",
      {CountPerStep(*facts.device, calls.count), say::Name(function),
       say::Duration(facts.limits.Whole("LA-005.min_p99")),
       say::Duration(PerStepNs(*facts.device, calls.total_ns)), InstanceText(calls.longest)});
  finding->Fix("LA-005.first_uses_load_code");
  return finding;
}

std::optional<Finding> CodeLoads(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  if (device.compile_is_of_framework || device.code_loads.count == 0) return std::nullopt;
  const int64_t gain = device.SavedPerStep(results::WHAT_IF_COMPILE);
  if (Share(device, gain) <
      std::max(facts.limits("LA-007.min_share"), facts.limits("all.min_gain")))
    return std::nullopt;
  Finding finding = MakeOfDevice(device, "LA-007.name");
  SetGain(facts, Replayed(gain, "LA-007.gain"), &finding);
  AddCalls(facts, device.code_loads, "LA-007.pieces", &finding);
  AddFix(facts, "LA-007.build_architecture_gpu_arch", &finding);
  return finding;
}

std::optional<Finding> Recompiles(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts) || !facts.device->compile_is_of_framework) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain = device.SavedPerStep(results::WHAT_IF_COMPILE);
  if (Share(device, gain) <
      std::max(facts.limits("ST-005.min_share"), facts.limits("all.min_gain")))
    return std::nullopt;
  Finding finding = MakeOfDevice(device, "ST-005.name");
  SetGain(facts, Replayed(gain, "ST-005.gain"), &finding);
  AddCalls(facts, device.recompiles, "ST-005.pieces", &finding);
  AddFix(facts, "ST-005.compile_before_loop_keep", &finding);
  return finding;
}

}  // namespace gpuprof::analysis
