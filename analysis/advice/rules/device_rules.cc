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

#include "analysis/advice/facts/device_facts.h"
#include "analysis/advice/rules/places.h"
#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

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
  Finding finding = MakeOfDevice(device, "CO-001.name");
  const int64_t saved =
      device.verdict.is_selection() ? 0 : device.SavedPerStep(results::WHAT_IF_COLLECTIVES);
  SetGain(facts, ExposedGain(saved, exposed, "CO-001.gain"), &finding);
  finding.Evidence("CO-001.collectives_ran_time_holds", {OfStep(device, exposed)});
  AddFix(facts, Trains(facts) ? "CO-001.overlap_with_backward" : "CO-001.overlap", &finding);
  finding.Fix("CO-001.compare_when_ranks_enter");
  finding.Caveat("CO-001.caveat");
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
  Finding finding = MakeOfDevice(device, "GP-006.name");
  SetGain(facts, Bound(gain, "GP-006.gain"), &finding);
  finding.Evidence(
      "GP-006.kernels_time_matrix_products",
      {say::Percent(Ratio(sum, device.kernels.total_ns())), say::Name(largest->short_name())});
  SetKernelPlace(facts, largest->name(), &finding);
  finding.Fix("GP-006.use_mixed_precision_pytorch");
  finding.Fix("GP-006.convolutions_channels_last_sizes_matrices");
  finding.Caveat("GP-006.caveat");
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
  Finding finding = MakeOfDevice(device, "LA-008.name");
  finding.level = std::min(finding.level, results::LEVEL_MEDIUM);
  finding.reason = {"LA-008.reason"};
  SetGain(facts, Bound(gain, "LA-008.gain"), &finding);
  finding.Evidence(
      "LA-008.kernels_time_kernels_multiply",
      {say::Percent(Ratio(sum, device.kernels.total_ns())), say::Name(largest->short_name())});
  SetKernelPlace(facts, largest->name(), &finding);
  AddFix(facts, "LA-008.fuse_kernel_reads_writes", &finding);
  finding.Fix("LA-008.avoid_casts_copies_between");
  const int64_t bound = device.SavedPerStep(results::WHAT_IF_COMPUTE);
  if (bound != 0 && gain > bound) finding.Caveat("LA-008.caveat", {say::Duration(bound)});
  return finding;
}

std::optional<Finding> FirstUses(const AdviceFacts& facts) {
  if (!facts.device || facts.device->verdict.bound() != results::BOUND_FIRST_USE)
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  Finding finding = Make("ST-008.name", results::LEVEL_HIGH, {"ST-008.reason"});
  finding.severity = results::SEVERITY_HIGH;
  finding.Evidence("ST-008.passed_single_long_calls",
                   {say::Duration(device.first_use_ns), say::Duration(device.first_use_window_ns)});
  std::vector<std::pair<std::string, int64_t>> calls(device.first_use_calls.begin(),
                                                     device.first_use_calls.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr size_t kNamed = 4;
  std::vector<Sentence> names;
  for (size_t i = 0; i < std::min(kNamed, calls.size()); ++i)
    names.push_back(
        {"all.name_and_figure", {say::Name(calls[i].first), say::Duration(calls[i].second)}});
  if (!names.empty()) finding.Evidence("ST-008.longest", {say::List(std::move(names))});
  finding.Fix("ST-008.warm_up_before_you");
  finding.Fix("ST-008.start_itself_matters_load");
  finding.Caveat("ST-008.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
