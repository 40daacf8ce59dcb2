// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rule about large products that stay below what their shape allows. See rules.h.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// A kernel of products, and the rate that its shape allows.
struct SlowProduct {
  const results::Kernel* kernel = nullptr;
  const results::Kernel* faster = nullptr;  // of the same type of numbers; null: none is
  double allowed = 0;                       // operations a second
  int64_t gain_ns = 0;                      // of the whole recording
};

bool IsLargeProduct(const AdviceFacts& facts, const results::Kernel& kernel) {
  const bool is_product = kernel.family() == results::KERNEL_FAMILY_MATRIX ||
                          kernel.family() == results::KERNEL_FAMILY_CONVOLUTION;
  return is_product && kernel.device() == facts.device->series.device() &&
         kernel.has_flop_per_s() && kernel.count() != 0 &&
         static_cast<double>(kernel.flop_count()) / static_cast<double>(kernel.count()) >=
             facts.limits("GP-017.min_flop");
}

// Returns the rate for which the data of a product can come from memory. 0: it is not known.
double RateOfMemory(const results::Kernel& kernel) {
  if (!kernel.has_peak_gb_per_s() || kernel.bytes_estimate() == 0) return 0;
  return Ratio(kernel.flop_count(), kernel.bytes_estimate()) * kernel.peak_gb_per_s() * 1e9;
}

SlowProduct SlowOf(const AdviceFacts& facts, const results::Kernel& kernel,
                   const std::vector<const results::Kernel*>& products) {
  SlowProduct slow;
  slow.kernel = &kernel;
  for (const results::Kernel* other : products) {
    if (other->precision() != kernel.precision() || other->flop_per_s() <= slow.allowed) continue;
    slow.allowed = other->flop_per_s();
    slow.faster = other;
  }
  const double of_memory = RateOfMemory(kernel);
  const double of_peak = facts.limits("GP-017.min_peak") * kernel.peak_flop_per_s();
  if (of_memory != 0 && of_peak > slow.allowed) slow = {&kernel, nullptr, of_peak, 0};
  if (of_memory != 0 && of_memory < slow.allowed) slow = {&kernel, nullptr, of_memory, 0};
  const double ratio = slow.allowed == 0 ? 1 : kernel.flop_per_s() / slow.allowed;
  if (ratio < facts.limits("GP-017.max_ratio")) slow.gain_ns = Part(kernel.total_ns(), 1 - ratio);
  return slow;
}

}  // namespace

std::optional<Finding> SlowProducts(const AdviceFacts& facts) {
  if (!IsSteady(facts)) return std::nullopt;
  const results::Kernels& kernels = facts.device->kernels;
  std::vector<const results::Kernel*> products;
  for (const results::Kernel& kernel : kernels.kernels()) {
    if (IsLargeProduct(facts, kernel)) products.push_back(&kernel);
  }
  std::vector<SlowProduct> slow;
  int64_t gain_ns = 0, slow_ns = 0;
  for (const results::Kernel* kernel : products) {
    const SlowProduct found = SlowOf(facts, *kernel, products);
    if (found.gain_ns == 0) continue;
    slow.push_back(found);
    gain_ns += found.gain_ns;
    slow_ns += kernel->total_ns();
  }
  if (slow.empty() || Ratio(slow_ns, kernels.total_ns()) < facts.limits("GP-017.min_kernel_share"))
    return std::nullopt;
  std::stable_sort(slow.begin(), slow.end(), [](const SlowProduct& x, const SlowProduct& y) {
    return x.gain_ns > y.gain_ns;
  });
  const auto steps = static_cast<int64_t>(std::max<uint64_t>(facts.device->series.count(), 1));
  if (Share(*facts.device, gain_ns / steps) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = Make("GP-017.name", results::LEVEL_MEDIUM, {"GP-017.reason"});
  SetGain(facts, Bound(gain_ns / steps, "GP-017.gain"), &finding);
  const SlowProduct& most = slow.front();
  std::vector<Argument> arguments = {say::Percent(Ratio(slow_ns, kernels.total_ns())),
                                     say::Name(most.kernel->short_name()),
                                     say::Tera(most.kernel->flop_per_s())};
  if (most.kernel->has_peak_flop_ratio()) {
    arguments.push_back(say::Percent(most.kernel->peak_flop_ratio()));
    finding.Evidence("GP-017.share_of_peak", std::move(arguments));
  } else {
    finding.Evidence("GP-017.share", std::move(arguments));
  }
  if (most.faster != nullptr) {
    finding.Evidence("GP-017.other_products_same_type",
                     {say::Name(most.faster->short_name()), say::Tera(most.faster->flop_per_s())});
  } else {
    finding.Evidence("GP-017.shape_allows_peaks_device", {say::Tera(most.allowed)});
  }
  AddFix(facts, "GP-017.tune_library_choice_shapes", &finding);
  finding.Caveat("GP-017.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
