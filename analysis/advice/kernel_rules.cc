// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about single kernels: how they fill the device, their types of numbers, and what they could
// do without. See rules.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Makes a finding about kernels that take enough of the kernels' time.
std::optional<Finding> MakeOfKernels(const AdviceFacts& facts, const KernelGroup& group,
                                     ThresholdName least_kernel_share, std::string_view id,
                                     std::string_view name, const char* why_not_high) {
  if (!facts.device || Ratio(group.pieces.total_ns, facts.device->in_steps.total_ns) <
                           facts.limits(least_kernel_share))
    return std::nullopt;
  std::optional<Finding> finding = MakeOfPieces(facts, group.pieces, "all.min_kernel_gain", id,
                                                name, "a part of these kernels takes no time");
  if (!finding) return std::nullopt;
  if (finding->confidence().level() > results::LEVEL_MEDIUM) {
    finding->mutable_confidence()->set_level(results::LEVEL_MEDIUM);
    finding->mutable_confidence()->set_reason(why_not_high);
  }
  return finding;
}

// Returns "12.3 % of the kernels' time (1.2 ms a step)".
std::string ShareOfKernels(const DeviceFacts& device, const KernelGroup& group) {
  const auto steps = static_cast<int64_t>(std::max<uint64_t>(device.series.count(), 1));
  return FormatPercent(Ratio(group.pieces.total_ns, device.in_steps.total_ns)) +
         " of the kernels' time (" + FormatDuration(group.pieces.total_ns / steps) + " a step)";
}

std::string Longest(const KernelGroup& group) {
  return "The longest launch: " + InstanceText(group.pieces.longest) + ".";
}

// Adds the evidence of a group: its share of the kernels' time, the kernel with the most time and
// `figure` of it, and the longest launch. `where`: "kernels that ...".
void AddKernels(const AdviceFacts& facts, const KernelGroup& group, const std::string& where,
                const std::string& figure, Finding* finding) {
  finding->add_evidence(ShareOfKernels(*facts.device, group) + " is in " + where +
                        ". The largest: " + group.largest + figure + ".");
  finding->add_evidence(Longest(group));
}

// Returns "1.25": two digits behind the point.
std::string TwoDigits(double value) {
  const auto hundredths = static_cast<int64_t>(value * 100 + 0.5);
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() == 1 ? "0" : "") + rest;
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
  Finding finding = MakeOfDevice(device, "GP-002", "The GPU has long gaps without work");
  SetGain(facts, Bound(gain, "the host's time in these gaps"), &finding);
  finding.add_evidence(FormatNumber(count) + " gaps of " + FormatDuration(least) + " or longer, " +
                       FormatDuration(total) + " in all. For " + FormatDuration(late) +
                       " of this time the host had not launched the next work.");
  std::string words = "The longest: " + FormatDuration(longest.duration_ns()) + " at " +
                      FormatDuration(longest.start_ns());
  if (longest.has_step()) words += " in step " + std::to_string(longest.step());
  if (longest.has_during_op()) words += ", during " + WithoutAddresses(longest.during_op());
  if (longest.has_during_function())
    words += ", in the Python function " + WithoutAddresses(longest.during_function());
  finding.add_evidence(words + ". " + longest.short_name() + " ends it.");
  finding.add_fix(
      "Do what the host does there less often, on another thread, or behind the launches of the "
      "next step. `gpuprof stats idle` lists the gaps.");
  if (!longest.has_during_op() && !longest.has_during_function())
    finding.add_fix(
        "To learn what the host does there, mark it with NVTX ranges, or record calls "
        "of Python functions.");
  finding.set_caveat("The gain is measured: that of a host which does none of this.");
  return finding;
}

std::optional<Finding> LowOccupancy(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.low_occupancy;
  std::optional<Finding> finding = MakeOfKernels(facts, group, "GP-003.min_kernel_share", "GP-003",
                                                 "Kernels let a multiprocessor hold few warps",
                                                 "the occupancy that was reached is not known");
  if (!finding) return std::nullopt;
  finding->mutable_confidence()->set_level(results::LEVEL_LOW);
  finding->mutable_confidence()->set_reason("the occupancy that was reached is not known");
  AddKernels(
      facts, group,
      "kernels whose occupancy is below " + FormatPercent(facts.limits("GP-003.max_occupancy")),
      ", " + FormatPercent(group.figure) + ", limited by " + group.limit, &*finding);
  if (group.limit == "registers") {
    finding->add_fix(
        "Use fewer registers: __launch_bounds__, -maxrregcount, smaller tiles a thread.");
  } else if (group.limit == "shared memory") {
    finding->add_fix("Use less shared memory a block: smaller tiles, fewer stages of a pipeline.");
  } else {
    finding->add_fix("Use larger blocks: the number of blocks is at its limit.");
  }
  finding->set_caveat(
      "A kernel that hides latency in other ways gains nothing. Counters tell the occupancy that "
      "was reached: `gpuprof run --gpu-pm=1ms`.");
  return finding;
}

std::optional<Finding> FewBlocks(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.few_blocks;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-004.min_kernel_share", "GP-004",
                    "Kernels have fewer blocks than the GPU has multiprocessors",
                    "what fills the rest of the GPU depends on the program");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "kernels that leave multiprocessors without a block",
             ", " + FormatNumber(group.blocks) + " blocks for " +
                 std::to_string(facts.device->in_steps.multiprocessors) + " multiprocessors",
             &*finding);
  AddFix(facts,
         {"Give the kernel more blocks: a larger batch, smaller tiles, split-K. Or run independent "
          "kernels on several streams.",
          "Use a larger batch, or join small operations (torch.cat, torch.vmap, grouped products). "
          "Custom kernels: smaller tiles, split-K.",
          "Use a larger batch, or join small operations (tf.stack, tf.vectorized_map).",
          "Use a larger batch, or jax.vmap over what runs one by one."},
         &*finding);
  finding->set_caveat("The gain assumes that other work fills the idle multiprocessors.");
  return finding;
}

std::optional<Finding> Tails(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.tails;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-005.min_kernel_share", "GP-005",
                    "The last wave of blocks leaves most of the GPU idle",
                    "blocks of different length fill the last wave better");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "kernels with a nearly empty last wave",
             ", " + TwoDigits(group.waves) + " waves", &*finding);
  finding->add_fix(
      "Choose the grid so that the waves are whole: another tile size, or another batch size. Or "
      "let as many blocks as the GPU holds loop over the tiles.");
  finding->set_caveat("The gain assumes that all blocks take the same time.");
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
  std::optional<Finding> finding = MakeOfPieces(facts, group.pieces, "GP-007.min_share", "GP-007",
                                                "Nearly no kernel computes with 16 bits or fewer",
                                                "a part of these kernels takes no time");
  if (!finding) return std::nullopt;
  finding->mutable_confidence()->set_level(
      std::min(finding->confidence().level(), results::LEVEL_MEDIUM));
  finding->mutable_confidence()->set_reason("types are read from the names of kernels");
  finding->add_evidence(
      FormatPercent(Ratio(low, all)) +
      " of the time of kernels of known type is in 16 bits or fewer. " +
      ShareOfKernels(device, group) +
      " is in products and convolutions of 32 bits; the largest: " + group.largest + ".");
  AddFix(facts,
         {"Store and compute in float16 or bfloat16 where the results allow it.",
          "Use mixed precision: torch.autocast(\"cuda\", dtype=torch.bfloat16). With float16 also "
          "a gradient scaler.",
          "Use mixed precision: mixed_precision.set_global_policy(\"mixed_float16\"), with a "
          "LossScaleOptimizer.",
          "Use bfloat16 for parameters and activations (dtype=jnp.bfloat16)."},
         &*finding);
  finding->set_caveat("The gain assumes that half of the bits take half of the time.");
  return finding;
}

std::optional<Finding> UnfusedAttention(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const KernelGroup& group = device.in_steps.attention;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "GP-009.min_kernel_share", "GP-009",
                    "Attention runs as single kernels: product, softmax, product",
                    "attention is known by the order of its kernels");
  if (!finding) return std::nullopt;
  finding->add_evidence(CountPerStep(device, device.in_steps.attention_count) +
                        " times a softmax stands between two batched products. " +
                        ShareOfKernels(device, group) +
                        " is between these products. The largest: " + group.largest + ".");
  finding->add_evidence(Longest(group));
  AddFix(facts,
         {"Use a fused attention kernel (cuDNN, FlashAttention).",
          "Use torch.nn.functional.scaled_dot_product_attention: it chooses a fused kernel. "
          "Hugging Face: attn_implementation=\"sdpa\".",
          "Use keras.layers.MultiHeadAttention with flash_attention=True, or compile with XLA.",
          "Use jax.nn.dot_product_attention(implementation=\"cudnn\")."},
         &*finding);
  finding->set_caveat("The gain is that of the kernels between the products alone.");
  return finding;
}

std::optional<Finding> MisalignedProducts(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.misaligned;
  std::optional<Finding> finding = MakeOfKernels(
      facts, group, "GP-008.min_kernel_share", "GP-008",
      "Matrices have dimensions that slow the tensor cores", "the kernels may be padded already");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "products whose rows do not begin at multiples of 16 bytes", "",
             &*finding);
  finding->add_fix("Pad dimensions of weights, vocabularies and channels to multiples of " +
                   FormatNumber(static_cast<uint64_t>(group.figure)) +
                   "; of 64 for the largest gain. Sizes of batches and sequences: the same.");
  finding->set_caveat("The gain assumes that padded products take half of the time.");
  return finding;
}

std::optional<Finding> DriftingKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.drifting;
  std::optional<Finding> finding = MakeOfKernels(facts, group, "GP-014.min_kernel_share", "GP-014",
                                                 "The same kernels take longer in later steps",
                                                 "the data of the kernels may have changed");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "launches that take longer in the second half of the steps",
             ", " + TwoDigits(group.figure) + " times as long", &*finding);
  finding->add_fix(
      "Look at the clocks and temperature of the GPU (`gpuprof stats counters`), and for other "
      "programs on it.");
  finding->add_fix(
      "If the clocks are steady: compare what the kernels read, such as longer "
      "sequences or a larger index.");
  return finding;
}

std::optional<Finding> LayoutKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.layout;
  std::optional<Finding> finding = MakeOfKernels(facts, group, "GP-015.min_kernel_share", "GP-015",
                                                 "Kernels change types and layouts again and again",
                                                 "some of these changes are needed");
  if (!finding) return std::nullopt;
  AddKernels(facts, group, "kernels that only cast, copy or transpose", "", &*finding);
  AddFix(facts,
         {"Keep one type and one layout through the step, or fuse the change into the kernel "
          "before it.",
          "Keep one type and one layout: channels_last for model and input, weights in the type "
          "that they are used in, fewer .contiguous() and .to(). `gpuprof stats kernels --by op` "
          "names the operations.",
          "Keep one type and one layout: channels last, one policy of mixed precision, XLA.",
          "Keep one type through the step, and let XLA fuse the casts: one jax.jit."},
         &*finding);
  return finding;
}

std::optional<Finding> SlowedByCollectives(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const KernelGroup& group = facts.device->in_steps.slowed;
  std::optional<Finding> finding =
      MakeOfKernels(facts, group, "CO-006.min_kernel_share", "CO-006",
                    "Collectives slow the kernels that run at the same time",
                    "the kernels next to collectives may have other data");
  if (!finding) return std::nullopt;
  AddKernels(facts, group,
             "launches next to a collective that are slower than the same launches alone",
             ", " + TwoDigits(group.figure) + " times as long", &*finding);
  finding->add_fix(
      "Give collectives fewer multiprocessors: NCCL_MAX_CTAS or NCCL_MAX_NCHANNELS. Compare the "
      "time of the step, because collectives become slower.");
  finding->add_fix("Let other engines move the data: symmetric memory with copy engines, NVLS.");
  return finding;
}

}  // namespace gpuprof::analysis
