// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the memory of devices, their clocks, and who shares them. See rules.h.

#include <algorithm>
#include <string>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

std::optional<Finding> NearlyFull(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  // What a framework keeps for later is not needed.
  const bool has_tensors = memory.tensors_bytes != 0;
  if (!has_tensors && TakesAllMemory(facts)) return std::nullopt;
  const uint64_t peak = has_tensors ? memory.tensors_bytes : memory.used_peak_bytes;
  const double part = Ratio(peak, memory.capacity_bytes);
  if (part < facts.limits("ME-001.min_used")) return std::nullopt;
  Finding finding = Make("ME-001.name", results::LEVEL_HIGH, {"ME-001.reason"});
  finding.severity =
      part >= facts.limits("ME-001.high_used") ? results::SEVERITY_HIGH : results::SEVERITY_MEDIUM;
  finding.Evidence("ME-001.most",
                   {say::Bytes(peak), say::Bytes(memory.capacity_bytes), say::Percent(part),
                    has_tensors ? say::Phrase({"ME-001.held_by_tensors",
                                               {say::Duration(memory.tensors_time_ns)}})
                                : say::Phrase({memory.used_source})});
  AddFix(facts, "ME-001.free_used_any_split", &finding);
  finding.Caveat("ME-001.caveat");
  return finding;
}

std::optional<Finding> UnusedMemory(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  if (TakesAllMemory(facts)) return std::nullopt;
  const double part = Ratio(memory.used_peak_bytes, memory.capacity_bytes);
  if (memory.used_peak_bytes == 0 || memory.capacity_bytes == 0 ||
      part >= facts.limits("ME-002.max_used"))
    return std::nullopt;
  Finding finding = Make("ME-002.name", results::LEVEL_MEDIUM, {"ME-002.reason"});
  finding.severity = results::SEVERITY_INFO;
  finding.Evidence("ME-002.most_while_gpu_time",
                   {say::Bytes(memory.used_peak_bytes), say::Bytes(memory.capacity_bytes),
                    say::Percent(part), say::Phrase({memory.used_source})});
  finding.Fix("ME-002.use_larger_batch_results");
  return finding;
}

std::optional<Finding> Fragmentation(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  const uint64_t unused = memory.reserved_bytes > memory.tensors_bytes
                              ? memory.reserved_bytes - memory.tensors_bytes
                              : 0;
  const double part = Ratio(unused, memory.reserved_bytes);
  // A device with much room loses nothing. A pool of the whole device has room by design.
  if (TakesAllMemory(facts) || part < facts.limits("ME-003.min_unused") ||
      Ratio(memory.reserved_bytes, memory.capacity_bytes) < facts.limits("ME-003.min_reserved"))
    return std::nullopt;
  Finding finding = Make("ME-003.name", results::LEVEL_MEDIUM, {"ME-003.reason"});
  finding.severity = results::SEVERITY_LOW;
  finding.Evidence("ME-003.when_tensors_held_most",
                   {say::Duration(memory.tensors_time_ns), say::Bytes(memory.tensors_bytes),
                    say::Bytes(memory.reserved_bytes), say::Percent(part)});
  AddFix(facts, "ME-003.use_pool_blocks_few", &finding);
  return finding;
}

std::optional<Finding> MemoryGrows(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  const auto least = static_cast<uint64_t>(facts.limits("ME-004.min_steps"));
  if (memory.floor_steps < least || memory.capacity_bytes == 0 || !memory.never_falls ||
      memory.last_floor_bytes <= memory.first_floor_bytes ||
      Ratio(memory.rising_steps, memory.floor_steps - 1) < facts.limits("ME-004.min_rising"))
    return std::nullopt;
  constexpr double kHundred = 100;
  const uint64_t each =
      (memory.last_floor_bytes - memory.first_floor_bytes) / (memory.floor_steps - 1);
  const double in_hundred = Ratio(each, memory.capacity_bytes) * kHundred;
  if (in_hundred < facts.limits("ME-004.min_growth")) return std::nullopt;
  Finding finding = Make(
      "ME-004.name", memory.floor_steps >= 2 * least ? results::LEVEL_HIGH : results::LEVEL_MEDIUM,
      {"ME-004.reason", {say::Count(memory.floor_steps)}});
  finding.severity = results::SEVERITY_MEDIUM;
  finding.Evidence(
      "ME-004.least_step_allocated_rises",
      {say::Bytes(memory.first_floor_bytes), say::Bytes(memory.last_floor_bytes),
       say::Count(memory.floor_steps), say::Phrase({memory.floor_source}), say::Bytes(each)});
  const uint64_t left = memory.capacity_bytes > memory.last_floor_bytes
                            ? memory.capacity_bytes - memory.last_floor_bytes
                            : 0;
  finding.Evidence("ME-004.pace_gpu_full_after", {say::Bytes(memory.capacity_bytes),
                                                  say::Count(left / std::max<uint64_t>(each, 1))});
  AddFix(facts, "ME-004.find_released_gpuprof_stats", &finding);
  return finding;
}

std::optional<Finding> AllocationChurn(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const double per_step = Ratio(device.allocations.count, device.series.count());
  if (per_step < facts.limits("ME-005.min_calls")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "ME-005.name");
  finding.severity = results::SEVERITY_INFO;
  finding.Evidence(
      "ME-005.calls_allocate_free_memory",
      {CountPerStep(device, device.allocations.count), say::Duration(device.allocations.total_ns),
       InstanceText(device.allocations.longest)});
  AddFix(facts, "ME-005.allocate_once_before_loop", &finding);
  return finding;
}

std::optional<Finding> SlowClocks(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const ClockFacts& clocks = device.clocks;
  const double drop = 1 - Ratio(clocks.mean_mhz, clocks.highest_mhz);
  if (clocks.reading_count < facts.limits("GP-013.min_readings") || clocks.highest_mhz <= 0 ||
      drop < facts.limits("GP-013.min_drop") ||
      clocks.limited_ratio < facts.limits("GP-013.min_time"))
    return std::nullopt;
  const int64_t gain = Part(device.SavedPerStep(results::WHAT_IF_COMPUTE), drop);
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "GP-013.name");
  finding.level = std::min(finding.level, results::LEVEL_MEDIUM);
  finding.reason = {"GP-013.reason"};
  SetGain(facts, Bound(gain, "GP-013.gain"), &finding);
  finding.Evidence("GP-013.steps_runs_mhz_mean",
                   {say::Count(static_cast<uint64_t>(clocks.mean_mhz)),
                    say::Count(static_cast<uint64_t>(clocks.highest_mhz)), say::Percent(drop),
                    say::Count(clocks.reading_count)});
  std::vector<Sentence> reasons;
  for (const auto& [name, ratio] : clocks.reasons)
    reasons.push_back({"all.name_and_figure", {say::Name(name), say::Percent(ratio)}});
  finding.Evidence("GP-013.driver_reasons_part_readings", {say::List(std::move(reasons))});
  finding.Fix("GP-013.sw_power_cap_raise_limit_nvidia");
  finding.Caveat("GP-013.caveat");
  return finding;
}

std::optional<Finding> SharedGpu(const AdviceFacts& facts) {
  const results::OverviewGpu& gpu = facts.overview->gpu();
  const bool is_shared = gpu.shared_device_count() != 0 || gpu.left_out_process_count() != 0;
  const bool is_mig = facts.device && facts.device->is_mig;
  if (!is_shared && !is_mig) return std::nullopt;
  Finding finding = Make(is_shared ? "GP-016.name_shared" : "GP-016.name_mig", results::LEVEL_HIGH,
                         "GP-016.reason");
  finding.severity = results::SEVERITY_INFO;
  if (gpu.shared_device_count() != 0)
    finding.Evidence("GP-016.gpus_had_work_several",
                     {say::Count(gpu.shared_device_count()), say::Count(gpu.device_count())});
  if (gpu.left_out_process_count() != 0)
    finding.Evidence("GP-016.recorded_processes_selected_used",
                     {say::Count(gpu.left_out_process_count())});
  if (is_mig) finding.Evidence("GP-016.other_programs_may_use");
  finding.Fix("GP-016.measure_once_gpu_alone");
  return finding;
}

}  // namespace gpuprof::analysis
