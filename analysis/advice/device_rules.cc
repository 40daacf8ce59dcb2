// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the time of devices in steps. What could be gained comes from the dependency graph:
// the time of a step if something took no time. See rules.h.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/device_facts.h"
#include "analysis/advice/places.h"
#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Returns the time of kernels by the first word of their short names, and finds the largest.
template <size_t kCount>
int64_t KernelTime(const DeviceFacts& device, const std::array<std::string_view, kCount>& words,
                   bool without_tensor_cores, const results::Kernel** largest) {
  int64_t sum = 0;
  for (const results::Kernel& kernel : device.kernels.kernels()) {
    if (without_tensor_cores && kernel.tensor_cores() != results::TENSOR_CORE_USE_NO) continue;
    const std::string_view name = kernel.short_name();
    const std::string_view word = name.substr(0, std::min(name.find(' '), name.size()));
    const bool is_one = std::any_of(words.begin(), words.end(), [&](std::string_view each) {
      return word.substr(0, each.size()) == each;
    });
    if (!is_one) continue;
    if (*largest == nullptr) *largest = &kernel;
    sum += kernel.total_ns();
  }
  return sum;
}

// Returns what the kernels take of a step.
int64_t ComputeOf(const DeviceFacts& device, int64_t kernels_ns) {
  int64_t compute = 0;
  for (int i = results::TIME_CATEGORY_COMPUTE_FP64; i <= results::TIME_CATEGORY_GRAPH; ++i)
    compute += device.PerStep(static_cast<results::TimeCategory>(i));
  return Part(compute, Ratio(kernels_ns, device.kernels.total_ns()));
}

// Returns what a step gains without the kernels: at most what it gains without any kernel.
int64_t PerStepOf(const DeviceFacts& device, int64_t kernels_ns) {
  return std::min(ComputeOf(device, kernels_ns), device.SavedPerStep(results::WHAT_IF_COMPUTE));
}

// Returns whether backward passes were recorded, or an optimizer.
bool Trains(const AdviceFacts& facts) {
  const auto& ops = facts.ops->ops();
  return std::any_of(ops.begin(), ops.end(), [](const results::Op& op) {
    return op.scope() == "backward" || op.name().starts_with("Optimizer.step#") ||
           op.name().starts_with("autograd::engine");
  });
}

}  // namespace

std::optional<Finding> ExposedCollectives(const AdviceFacts& facts) {
  if (!IsSteady(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t exposed = device.PerStep(results::TIME_CATEGORY_COLLECTIVE);
  if (Share(device, exposed) < facts.limits("CO-001.min_share")) return std::nullopt;
  Finding finding =
      MakeOfDevice(device, "CO-001", "Collectives run while the GPU computes nothing");
  const int64_t saved =
      device.verdict.is_selection() ? 0 : device.SavedPerStep(results::WHAT_IF_COLLECTIVES);
  SetGain(facts, ExposedGain(saved, exposed, "the collectives take no time"), &finding);
  finding.add_evidence("In " + OfStep(device, exposed) +
                       " only collectives ran. This time holds the transfer, and the wait for the "
                       "slowest rank.");
  const char* torch =
      Trains(facts) ? "Overlap them with the backward pass: DistributedDataParallel with "
                      "smaller buckets (bucket_cap_mb), or FSDP with backward_prefetch."
                    : "Overlap them with work that does not need their result: async_op=True, "
                      "and wait later. Small ones: a one-shot all-reduce in symmetric memory.";
  AddFix(
      facts,
      {"Overlap them with work that does not need their result: launch them earlier, on a stream "
       "of their own.",
       torch,
       "Overlap them with the backward pass: smaller bytes_per_pack in the hints of "
       "tf.distribute.",
       "Let XLA overlap them: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true."},
      &finding);
  finding.add_fix(
      "Compare when the ranks enter each collective: the rank that enters last makes the others "
      "wait. Balance its work.");
  finding.set_caveat(
      "The recording of one rank cannot tell waiting from transfer. The gain is the whole time.");
  return finding;
}

std::optional<Finding> WithoutTensorCores(const AdviceFacts& facts) {
  if (!IsSteady(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  constexpr uint32_t kFirstWithTensorCores = 7;
  if (device.compute_major != 0 && device.compute_major < kFirstWithTensorCores)
    return std::nullopt;
  constexpr std::array<std::string_view, 4> kProducts = {"gemm", "conv", "bmm", "matmul"};
  const results::Kernel* largest = nullptr;
  const int64_t sum = KernelTime(device, kProducts, true, &largest);
  if (largest == nullptr ||
      Ratio(sum, device.kernels.total_ns()) < facts.limits("GP-006.min_kernel_share"))
    return std::nullopt;
  const int64_t gain = Part(PerStepOf(device, sum), facts.limits("GP-006.gain"));
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "GP-006", "Matrix products do not use the tensor cores");
  SetGain(facts, Bound(gain, "a part of the products"), &finding);
  finding.add_evidence(
      FormatPercent(Ratio(sum, device.kernels.total_ns())) +
      " of the kernels' time is in matrix products and convolutions without tensor "
      "cores; the largest: " +
      largest->short_name() + ".");
  SetKernelPlace(facts, largest->name(), &finding);
  finding.add_fix(
      "Use mixed precision. PyTorch: torch.autocast(\"cuda\", dtype=torch.bfloat16), or float16 "
      "before Ampere; from Ampere on also torch.set_float32_matmul_precision(\"high\"). "
      "TensorFlow: "
      "mixed_precision.set_global_policy(\"mixed_float16\").");
  finding.add_fix("Convolutions: channels_last. Sizes of matrices: multiples of 8.");
  finding.set_caveat("The gain assumes products that are four times as fast, as a lower bound.");
  return finding;
}

std::optional<Finding> Elementwise(const AdviceFacts& facts) {
  if (!IsSteady(facts) || facts.device->verdict.bound() != results::BOUND_COMPUTE)
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  constexpr std::array<std::string_view, 8> kOthers = {"gemm", "conv",  "bmm",  "matmul",
                                                       "fmha", "flash", "attn", "embedding"};
  const results::Kernel* largest = nullptr;
  int64_t sum = 0;
  for (const results::Kernel& kernel : device.kernels.kernels()) {
    if (kernel.tensor_cores() != results::TENSOR_CORE_USE_NO) continue;
    const std::string_view name = kernel.short_name();
    const bool is_other = std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view word) {
      return name.find(word) != std::string_view::npos;
    });
    if (is_other || name.find("all_reduce") != std::string_view::npos ||
        name.find("nccl") != std::string_view::npos)
      continue;
    if (largest == nullptr) largest = &kernel;
    sum += kernel.total_ns();
  }
  if (largest == nullptr ||
      Ratio(sum, device.kernels.total_ns()) < facts.limits("LA-008.min_kernel_share"))
    return std::nullopt;
  // Fused kernels are also launched at once: the host does not limit the gain. So the gain may be
  // larger than what the critical path saves without any kernel.
  const int64_t gain = Part(ComputeOf(device, sum), facts.limits("LA-008.gain"));
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(
      device, "LA-008", "Kernels that only read, change and write elements take much of the time");
  finding.mutable_confidence()->set_level(
      std::min(finding.confidence().level(), results::LEVEL_MEDIUM));
  finding.mutable_confidence()->set_reason("what fusion saves depends on what can be fused");
  SetGain(facts, Bound(gain, "a part of these kernels"), &finding);
  finding.add_evidence(
      FormatPercent(Ratio(sum, device.kernels.total_ns())) +
      " of the kernels' time is in kernels that multiply no matrices; the largest: " +
      largest->short_name() + ".");
  SetKernelPlace(facts, largest->name(), &finding);
  AddFix(facts,
         {"Fuse them: one kernel that reads and writes each element once.",
          "Fuse them: torch.compile(model), or the fused operation of a library for norms, "
          "activations, rotary embeddings and optimizers (foreach=True, fused=True).",
          "Fuse them: tf.function(jit_compile=True).",
          "Put more of the step under one jax.jit: XLA fuses within a program."},
         &finding);
  finding.add_fix("Avoid casts and copies between layouts: `gpuprof stats kernels --by op`.");
  const int64_t bound = device.SavedPerStep(results::WHAT_IF_COMPUTE);
  if (bound != 0 && gain > bound)
    finding.set_caveat("Without any kernel, the critical path of a step would be only " +
                       FormatDuration(bound) +
                       " shorter: then the host would be too slow. The gain is larger because "
                       "fusion also removes calls of the host. It assumes that the host needs less "
                       "time by the same part.");
  return finding;
}

std::optional<Finding> FirstUses(const AdviceFacts& facts) {
  if (!facts.device || facts.device->verdict.bound() != results::BOUND_FIRST_USE)
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  Finding finding = Make("ST-008", "The recording is of a cold start", results::LEVEL_HIGH,
                         "the calls were timed");
  finding.set_severity(results::SEVERITY_HIGH);
  finding.add_evidence(
      FormatDuration(device.first_use_ns) + " of " + FormatDuration(device.first_use_window_ns) +
      " passed in single long calls: CUDA was set up, code was loaded, memory was allocated.");
  std::vector<std::pair<std::string, int64_t>> calls(device.first_use_calls.begin(),
                                                     device.first_use_calls.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr size_t kNamed = 4;
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, calls.size()); ++i)
    names += (i == 0 ? "" : ", ") + calls[i].first + " " + FormatDuration(calls[i].second);
  if (!names.empty()) finding.add_evidence("The longest: " + names + ".");
  finding.add_fix(
      "Warm up before you measure: run a few steps first, then record (--capture=delay:..., or "
      "torch.profiler's schedule(wait, warmup, active)).");
  finding.add_fix(
      "If the start itself matters: load fewer kernels (CUDA_MODULE_LOADING=LAZY), and keep the "
      "allocator's cache.");
  finding.set_caveat("Nothing in this recording tells how a steady step runs.");
  return finding;
}

}  // namespace gpuprof::analysis
