// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about single kernels: how they fill the device, their types of numbers, and what they could
// do without. See rules.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Makes a finding about kernels that take enough of the kernels' time.
std::optional<Finding> MakeOfKernels(const AdviceFacts& facts, const KernelGroup& group,
                                     ThresholdName least_kernel_share, const char* name,
                                     const char* why_not_high) {
  if (!facts.device || Ratio(group.pieces.total_ns, facts.device->in_steps.total_ns) <
                           facts.limits(least_kernel_share))
    return std::nullopt;
  std::optional<Finding> finding =
      MakeOfPieces(facts, group.pieces, "all.min_kernel_gain", name, "all.gain_of_kernels");
  if (!finding) return std::nullopt;
  if (finding->level > results::LEVEL_MEDIUM) {
    finding->level = results::LEVEL_MEDIUM;
    finding->reason = why_not_high;
  }
  return finding;
}

// Returns "12.3 % of the kernels' time (1.2 ms a step)".
Argument ShareOfKernels(const DeviceFacts& device, const KernelGroup& group) {
  const auto steps = static_cast<int64_t>(std::max<uint64_t>(device.series.count(), 1));
  return say::Phrase({"all.share_of_kernels",
                      {say::Percent(Ratio(group.pieces.total_ns, device.in_steps.total_ns)),
                       say::Duration(group.pieces.total_ns / steps)}});
}

// Adds the evidence of a group: its share of the kernels' time, the kernel with the most time and
// `figure` of it, and the longest launch. `where`: "kernels that ...".
void AddKernels(const AdviceFacts& facts, const KernelGroup& group, Sentence where,
                std::vector<Sentence> figure, Finding* finding) {
  finding->Evidence("all.kernels",
                    {ShareOfKernels(*facts.device, group), say::Phrase(std::move(where)),
                     say::Name(group.largest), say::Run(std::move(figure))});
  finding->Evidence("all.longest_launch", {InstanceText(group.pieces.longest)});
}

}  // namespace

LongGapSums LongGapsOf(const AdviceFacts& facts) {
  const DeviceFacts& device = *facts.device;
  LongGapSums sums;
  sums.least_ns = std::max(facts.limits.Whole("GP-002.min_gap"),
                           Part(device.StepNs(), facts.limits("GP-002.min_step")));
  for (const IdleFacts::Gap& gap : device.idle.gaps) {
    if (gap.duration_ns < sums.least_ns) continue;
    ++sums.count;
    sums.total_ns += gap.duration_ns;
    sums.late_ns += gap.late_ns;
    sums.host_ns_per_step += gap.host_ns;
  }
  const auto steps = static_cast<int64_t>(device.series.count());
  sums.late_ns_per_step = sums.late_ns / steps;
  sums.host_ns_per_step /= steps;
  return sums;
}

std::optional<Finding> LongGaps(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const LongGapSums sums = LongGapsOf(facts);
  const auto count = sums.count;
  const int64_t least = sums.least_ns, total = sums.total_ns, late = sums.late_ns;
  const int64_t gain = sums.late_ns_per_step;
  if (count == 0) return std::nullopt;
  const results::IdleGap& longest = device.idle.longest;
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "GP-002.name");
  SetGain(facts, Bound(gain, "GP-002.gain"), &finding);
  finding.Evidence("GP-002.gaps_longer_time_host", {say::Count(count), say::Duration(least),
                                                    say::Duration(total), say::Duration(late)});
  std::vector<Sentence> where;
  if (longest.has_step()) where.push_back({"all.in_step", {say::Plain(longest.step())}});
  if (longest.has_during_op())
    where.push_back({"GP-002.during", {say::Name(WithoutAddresses(longest.during_op()))}});
  if (longest.has_during_function())
    where.push_back(
        {"GP-002.in_function", {say::Name(WithoutAddresses(longest.during_function()))}});
  finding.Evidence("GP-002.longest",
                   {say::Duration(longest.duration_ns()), say::Duration(longest.start_ns()),
                    say::Run(std::move(where)), say::Name(longest.short_name())});
  finding.Fix("GP-002.host_less_often_another");
  if (!longest.has_during_op() && !longest.has_during_function())
    finding.Fix("GP-002.learn_host_mark_nvtx");
  finding.Caveat("GP-002.caveat");
  return finding;
}

std::optional<Finding> LowOccupancy(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.low_occupancy;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-003.min_kernel_share", "GP-003.name", "GP-003.reason");
  if (!finding) return std::nullopt;
  finding->level = results::LEVEL_LOW;
  finding->reason = {"GP-003.reason"};
  AddKernels(facts, group, {"GP-003.kernels", {say::Percent(facts.limits("GP-003.max_occupancy"))}},
             {{"GP-003.figure", {say::Percent(group.figure), say::Name(group.limit)}}}, &*finding);
  if (group.limit == "registers") {
    finding->Fix("GP-003.use_fewer_registers_launch_bounds");
  } else if (group.limit == "shared memory") {
    finding->Fix("GP-003.use_less_shared_memory");
  } else {
    finding->Fix("GP-003.use_larger_blocks_number");
  }
  finding->Caveat("GP-003.caveat");
  return finding;
}

std::optional<Finding> FewBlocks(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.few_blocks;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-004.min_kernel_share", "GP-004.name", "GP-004.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "GP-004.kernels",
             {{"GP-004.figure",
               {say::Count(group.blocks), say::Plain(facts.device->in_steps.multiprocessors)}}},
             &*finding);
  AddFix(facts, "GP-004.give_kernel_blocks_larger", &*finding);
  finding->Caveat("GP-004.caveat");
  return finding;
}

std::optional<Finding> Tails(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.tails;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-005.min_kernel_share", "GP-005.name", "GP-005.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "GP-005.kernels", {{"GP-005.figure", {say::TwoDigits(group.waves)}}},
             &*finding);
  finding->Fix("GP-005.choose_grid_waves_whole");
  finding->Caveat("GP-005.caveat");
  return finding;
}

std::optional<Finding> LittleOf16Bits(const AdviceFacts& facts) {
  constexpr uint32_t kFirstWithTensorCores = 7;
  if (!HasWholeSteps(facts) ||
      (facts.device->compute_major != 0 && facts.device->compute_major < kFirstWithTensorCores))
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  int64_t low = 0, all = 0, fp64 = 0;
  for (int i = results::TIME_CATEGORY_COMPUTE_FP64; i < results::TIME_CATEGORY_COMPUTE_UNKNOWN;
       ++i) {
    const auto category = static_cast<results::TimeCategory>(i);
    const int64_t ns = device.PerStep(category);
    all += ns;
    if (category == results::TIME_CATEGORY_COMPUTE_FP64) fp64 += ns;
    if (i >= results::TIME_CATEGORY_COMPUTE_BF16) low += ns;
  }
  // Where most types are not known, the share tells nothing. A program that needs 64 bits cannot do
  // with 16.
  const int64_t unknown = device.PerStep(results::TIME_CATEGORY_COMPUTE_UNKNOWN);
  const double most = facts.limits("GP-007.max_share");
  if (all <= unknown || Ratio(low, all) >= most || Ratio(fp64, all) >= most) return std::nullopt;
  const KernelGroup& group = device.in_steps.wide_types;
  std::optional<Finding> finding =
      MakeOfPieces(facts, group.pieces, "GP-007.min_share", "GP-007.name", "GP-007.gain");
  if (!finding) return std::nullopt;
  finding->level = std::min(finding->level, results::LEVEL_MEDIUM);
  finding->reason = {"GP-007.reason"};
  finding->Evidence(
      "GP-007.time_kernels_known_type",
      {say::Percent(Ratio(low, all)), ShareOfKernels(device, group), say::Name(group.largest)});
  AddFix(facts, "GP-007.store_compute_float_bfloat", &*finding);
  finding->Caveat("GP-007.caveat");
  return finding;
}

std::optional<Finding> UnfusedAttention(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const KernelGroup& group = device.in_steps.attention;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-009.min_kernel_share", "GP-009.name", "GP-009.reason");
  if (!finding) return std::nullopt;
  finding->Evidence("GP-009.times_softmax_stands_between",
                    {CountPerStep(device, device.in_steps.attention_count),
                     ShareOfKernels(device, group), say::Name(group.largest)});
  finding->Evidence("all.longest_launch", {InstanceText(group.pieces.longest)});
  AddFix(facts, "GP-009.use_fused_attention_kernel", &*finding);
  finding->Caveat("GP-009.caveat");
  return finding;
}

std::optional<Finding> MisalignedProducts(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.misaligned;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-008.min_kernel_share", "GP-008.name", "GP-008.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "GP-008.kernels", {}, &*finding);
  finding->Fix("GP-008.pad_dimensions_weights_vocabularies",
               {say::Count(static_cast<uint64_t>(group.figure))});
  finding->Caveat("GP-008.caveat");
  return finding;
}

std::optional<Finding> DriftingKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.drifting;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-014.min_kernel_share", "GP-014.name", "GP-014.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "GP-014.kernels",
             {{"all.times_as_long", {say::TwoDigits(group.figure)}}}, &*finding);
  finding->Fix("GP-014.look_clocks_temperature_gpu");
  finding->Fix("GP-014.clocks_steady_compare_kernels");
  return finding;
}

std::optional<Finding> LayoutKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.layout;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-015.min_kernel_share", "GP-015.name", "GP-015.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "GP-015.kernels", {}, &*finding);
  AddFix(facts, "GP-015.keep_type_layout_through", &*finding);
  return finding;
}

std::optional<Finding> SlowedByCollectives(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.slowed;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "CO-006.min_kernel_share", "CO-006.name", "CO-006.reason");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "CO-006.kernels",
             {{"all.times_as_long", {say::TwoDigits(group.figure)}}}, &*finding);
  finding->Fix("CO-006.give_collectives_fewer_multiprocessors");
  finding->Fix("CO-006.let_other_engines_move");
  return finding;
}

}  // namespace gpuprof::analysis
