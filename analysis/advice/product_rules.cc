// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rule about large products that stay below what their shape allows. See rules.h.

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// A kernel of products, and the rate that its shape allows.
struct SlowProduct {
  const results::Kernel* kernel = nullptr;
  const results::Kernel* faster = nullptr;  // of the same type of numbers; null: none is
  double allowed = 0;                       // operations a second
  int64_t gain_ns = 0;                      // of the whole recording
};

std::string TeraWords(double flop_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f TFLOP/s", flop_per_s / 1e12);
  return text;
}

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
  Finding finding = Make("GP-017", "Large products stay below what their shape allows",
                         results::LEVEL_MEDIUM, "another shape may allow another rate");
  SetGain(facts, Bound(gain_ns / steps, "what these products take beyond that rate"), &finding);
  const SlowProduct& most = slow.front();
  std::string words =
      FormatPercent(Ratio(slow_ns, kernels.total_ns())) +
      " of the kernels' time is in them. The largest: " + most.kernel->short_name() + ", " +
      TeraWords(most.kernel->flop_per_s());
  if (most.kernel->has_peak_flop_ratio())
    words += " (" + FormatPercent(most.kernel->peak_flop_ratio()) + " of the device's peak)";
  finding.add_evidence(words + ".");
  if (most.faster != nullptr) {
    finding.add_evidence(
        "Other products of the same type reach more: " + most.faster->short_name() + ", " +
        TeraWords(most.faster->flop_per_s()) + ".");
  } else {
    finding.add_evidence("Its shape allows " + TeraWords(most.allowed) +
                         ", by the peaks of the device and of its memory.");
  }
  AddFix(facts,
         {"Tune the library's choice for these shapes, or give it shapes that are multiples of its "
          "tiles.",
          "Tune the choice for these shapes: TORCHINDUCTOR_MAX_AUTOTUNE, TunableOp "
          "(PYTORCH_TUNABLEOP_ENABLED=1) on AMD, a newer cuBLAS or hipBLASLt. Narrower types "
          "(fp8) win more where the model allows them.",
          "Let XLA choose among more algorithms: --xla_gpu_autotune_level=4.",
          "Let XLA choose among more algorithms: --xla_gpu_autotune_level=4."},
         &finding);
  finding.set_caveat("The rates are those that the shapes of the operations ask for.");
  return finding;
}

}  // namespace gpuprof::analysis
