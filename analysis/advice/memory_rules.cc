// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the memory of devices, their clocks, and who shares them. See rules.h.

#include <algorithm>
#include <string>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

using results::Finding;

std::optional<Finding> NearlyFull(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  // What a framework keeps for later is not needed.
  const bool has_tensors = memory.tensors_bytes != 0;
  if (!has_tensors && TakesAllMemory(facts)) return std::nullopt;
  const uint64_t peak = has_tensors ? memory.tensors_bytes : memory.used_peak_bytes;
  const double part = Ratio(peak, memory.capacity_bytes);
  if (part < facts.limits("ME-001.min_used")) return std::nullopt;
  Finding finding =
      Make("ME-001", "The memory of the GPU is nearly full", results::LEVEL_HIGH, "measured");
  finding.set_severity(part >= facts.limits("ME-001.high_used") ? results::SEVERITY_HIGH
                                                                : results::SEVERITY_MEDIUM);
  finding.add_evidence("At most " + FormatBytes(peak) + " of " +
                       FormatBytes(memory.capacity_bytes) + " (" + FormatPercent(part) + "), " +
                       (has_tensors
                            ? "held by tensors, at " + FormatDuration(memory.tensors_time_ns)
                            : std::string(memory.used_source)) +
                       ".");
  AddFix(facts,
         {"Free what is not used any more, or split the work into smaller batches.",
          "Recompute activations (torch.utils.checkpoint), use mixed precision, shard parameters "
          "(FSDP), or accumulate gradients over smaller batches.",
          "Recompute activations (tf.recompute_grad), use mixed precision, or smaller batches.",
          "Recompute activations (jax.checkpoint), donate buffers (donate_argnums), or shard."},
         &finding);
  finding.set_caveat("A larger input ends the program.");
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
  Finding finding = Make("ME-002", "The GPU has memory for larger batches", results::LEVEL_MEDIUM,
                         "short peaks between two readings are not seen");
  finding.set_severity(results::SEVERITY_INFO);
  finding.add_evidence("At most " + FormatBytes(memory.used_peak_bytes) + " of " +
                       FormatBytes(memory.capacity_bytes) + " (" + FormatPercent(part) + "), " +
                       memory.used_source + ", while the GPU has time to spare.");
  finding.add_fix("Use a larger batch, if the results allow it: the same launches do more work.");
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
  Finding finding =
      Make("ME-003", "The allocator reserves much memory that no tensor can use",
           results::LEVEL_MEDIUM, "a part may be a cache of blocks that fit again later");
  finding.set_severity(results::SEVERITY_LOW);
  finding.add_evidence("When tensors held most, at " + FormatDuration(memory.tensors_time_ns) +
                       ", they held " + FormatBytes(memory.tensors_bytes) + " of " +
                       FormatBytes(memory.reserved_bytes) + " reserved: " + FormatPercent(part) +
                       " was not in use.");
  AddFix(facts,
         {"Use a pool of blocks of few sizes, or cudaMallocAsync.",
          "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and pad inputs to few sizes.",
          "Set TF_GPU_ALLOCATOR=cuda_malloc_async, and pad inputs to few sizes.",
          "Pad inputs to few sizes."},
         &finding);
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
  Finding finding =
      Make("ME-004", "Each step leaves more memory of the GPU allocated",
           memory.floor_steps >= 2 * least ? results::LEVEL_HIGH : results::LEVEL_MEDIUM,
           "measured in " + FormatNumber(memory.floor_steps) + " steps");
  finding.set_severity(results::SEVERITY_MEDIUM);
  finding.add_evidence(
      "The least that a step has allocated rises from " + FormatBytes(memory.first_floor_bytes) +
      " to " + FormatBytes(memory.last_floor_bytes) + " in " + FormatNumber(memory.floor_steps) +
      " steps (" + memory.floor_source + "): " + FormatBytes(each) + " a step.");
  const uint64_t left = memory.capacity_bytes > memory.last_floor_bytes
                            ? memory.capacity_bytes - memory.last_floor_bytes
                            : 0;
  finding.add_evidence("At this pace the " + FormatBytes(memory.capacity_bytes) +
                       " of the GPU are full after " +
                       FormatNumber(left / std::max<uint64_t>(each, 1)) + " more steps.");
  AddFix(facts,
         {"Find what is not released: `gpuprof stats device_memory` lists live allocations.",
          "Keep numbers, not tensors, across steps (loss.item(), detach()). `gpuprof stats heap` "
          "names the operations whose tensors are live at the end.",
          "Keep numbers, not tensors, across steps, and do not build new functions in the loop.",
          "Drop references to old arrays across steps, or donate them (donate_argnums)."},
         &finding);
  return finding;
}

std::optional<Finding> AllocationChurn(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const double per_step = Ratio(device.allocations.count, device.series.count());
  if (per_step < facts.limits("ME-005.min_calls")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "ME-005", "Steps allocate or free memory of CUDA");
  finding.set_severity(results::SEVERITY_INFO);
  finding.add_evidence(CountPerStep(device, device.allocations.count) +
                       ": calls that allocate or free memory, " +
                       FormatDuration(device.allocations.total_ns) +
                       " in all. The longest: " + InstanceText(device.allocations.longest) + ".");
  AddFix(facts,
         {"Allocate once before the loop, or use cudaMallocAsync with a pool that keeps memory.",
          "PyTorch keeps memory unless empty_cache() is called, or shapes change: "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
          "Use TF_GPU_ALLOCATOR=cuda_malloc_async.", "Let XLA preallocate."},
         &finding);
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
  Finding finding = MakeOfDevice(device, "GP-013", "The GPU runs below its clock");
  finding.mutable_confidence()->set_level(
      std::min(finding.confidence().level(), results::LEVEL_MEDIUM));
  finding.mutable_confidence()->set_reason("kernels that wait for memory gain less");
  SetGain(facts, Bound(gain, "what kernels take longer at this clock"), &finding);
  finding.add_evidence(
      "In the steps it runs at " + FormatNumber(static_cast<uint64_t>(clocks.mean_mhz)) +
      " MHz in the mean, of " + FormatNumber(static_cast<uint64_t>(clocks.highest_mhz)) + " MHz (" +
      FormatPercent(drop) + " less), in " + FormatNumber(clocks.reading_count) + " readings.");
  std::string reasons;
  for (const auto& [name, ratio] : clocks.reasons)
    reasons += (reasons.empty() ? "" : ", ") + name + " " + FormatPercent(ratio);
  finding.add_evidence("The driver's reasons, by their part of the readings: " + reasons + ".");
  finding.add_fix(
      "sw_power_cap: raise the limit (nvidia-smi -pl), if the machine allows it. Thermal reasons: "
      "better cooling. hw_power_brake_slowdown: the power supply.");
  finding.set_caveat("The gain assumes that all kernels follow the clock.");
  return finding;
}

std::optional<Finding> SharedGpu(const AdviceFacts& facts) {
  const results::OverviewGpu& gpu = facts.overview->gpu();
  const bool is_shared = gpu.shared_device_count() != 0 || gpu.left_out_process_count() != 0;
  const bool is_mig = facts.device && facts.device->is_mig;
  if (!is_shared && !is_mig) return std::nullopt;
  Finding finding = Make("GP-016",
                         is_shared ? "Several processes use the same GPU"
                                   : "The GPU is a part of one that MIG divides",
                         results::LEVEL_HIGH, "the devices are known by their uuid");
  finding.set_severity(results::SEVERITY_INFO);
  if (gpu.shared_device_count() != 0)
    finding.add_evidence(FormatNumber(gpu.shared_device_count()) + " of " +
                         FormatNumber(gpu.device_count()) +
                         " GPUs had work of several recorded processes.");
  if (gpu.left_out_process_count() != 0)
    finding.add_evidence(FormatNumber(gpu.left_out_process_count()) +
                         " recorded processes that were not selected used these GPUs, too.");
  if (is_mig)
    finding.add_evidence(
        "Other programs may use the other parts: all parts share the link to the "
        "host, power and clocks.");
  finding.add_fix(
      "Measure once with the GPU alone. Figures of gaps, kernels and gains hold for "
      "the mix that was recorded.");
  return finding;
}

}  // namespace gpuprof::analysis
