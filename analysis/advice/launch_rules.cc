// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about kernels that are launched too late, too short or too often. See rules.h.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/advice/rule_parts.h"
#include "analysis/derived/host_activity.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// What a change of the program surely takes of the host's time: no program is without a host.
constexpr double kLeastOfHost = 0.4;

// Returns "aten::addmm 538 us, aten::empty 180 us": how long a step, in the mean, waited for a
// launch while the launching thread was in each. Names that differ by an address alone become one.
std::string Names(const DeviceFacts& device, const std::map<std::string, int64_t>& late) {
  constexpr size_t kNamed = 4;
  std::map<std::string, int64_t> sums;
  for (const auto& [name, ns] : late) {
    // Rules of their own speak of data, code and waits.
    if (HostCategoryOfName(name) == results::TIME_CATEGORY_NONE) sums[WithoutAddresses(name)] += ns;
  }
  std::vector<std::pair<std::string, int64_t>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, rows.size()); ++i) {
    const int64_t per_step = rows[i].second / static_cast<int64_t>(device.series.count());
    names += (i == 0 ? "" : ", ") + rows[i].first + " " + FormatDuration(per_step);
  }
  return names;
}

// Returns whether nearly every step launches the same kernels.
bool IsSameInSteps(const AdviceFacts& facts) {
  const DeviceFacts& device = *facts.device;
  const double part = device.series.count() == 0 ? 0
                                                 : static_cast<double>(device.same_step_count) /
                                                       static_cast<double>(device.series.count());
  return device.series.count() >= 3 && part >= facts.limits("LA-006.min_same");
}

void AddGraphFix(const AdviceFacts& facts, Finding* finding) {
  AddFix(facts,
         {"Capture the launches of a step as one CUDA graph (cudaStreamBeginCapture), and replay "
          "the graph.",
          "Replay the launches of a step as one CUDA graph: torch.compile(model, "
          "mode=\"reduce-overhead\"), or torch.cuda.CUDAGraph.",
          "Compile the step: tf.function(jit_compile=True).",
          "Put the whole step under one jax.jit: fewer, larger programs."},
         finding);
}

void AddSameSteps(const AdviceFacts& facts, Finding* finding) {
  const DeviceFacts& device = *facts.device;
  finding->add_evidence(FormatNumber(device.same_step_count) + " of " +
                        FormatNumber(device.series.count()) + " steps run the same " +
                        FormatNumber(device.same_kernel_count) +
                        " kernels in the same order, and no CUDA graph.");
}

}  // namespace

std::optional<Finding> LateHost(const AdviceFacts& facts) {
  // Without steps, nobody knows when the GPU should have worked.
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t late = device.PerStep(results::TIME_CATEGORY_HOST);
  const int64_t launch = device.PerStep(results::TIME_CATEGORY_LAUNCH);
  if (Share(device, late + launch) < facts.limits("LA-001.min_share")) return std::nullopt;
  // Without the host's time, data and code are there at once, too: other rules speak of these.
  // Long gaps are of something else that the host does: GP-002 speaks of them.
  const int64_t in_long_gaps = LongGapsOf(facts).host_ns_per_step;
  const int64_t gain = std::min(std::max(device.SavedPerStep(results::WHAT_IF_HOST),
                                         device.SavedPerStep(results::WHAT_IF_LAUNCHES)),
                                late + launch) -
                       in_long_gaps;
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "LA-001", "The GPU waits for the host to launch work");
  SetGain(facts, Replayed(gain, "the host takes no time", kLeastOfHost), &finding);
  finding.add_evidence("In " + OfStep(device, late) +
                       " the GPU had nothing to do, because the host had not launched the next "
                       "work. In " +
                       FormatDuration(launch) + " more the next work was being launched.");
  const std::string operations = Names(device, device.idle.late_by_op);
  if (!operations.empty())
    finding.add_evidence("Meanwhile, in a step, the launching threads were in these operations: " +
                         operations + ".");
  const std::string functions = Names(device, device.idle.late_by_function);
  if (!functions.empty())
    finding.add_evidence("They were in these Python functions: " + functions + ".");
  finding.add_evidence("The median kernel takes " + FormatDuration(device.median_kernel_ns) +
                       ", the median call that launches " +
                       FormatDuration(device.median_launch_ns) + ".");
  if (!device.uses_graphs && IsSameInSteps(facts)) AddSameSteps(facts, &finding);
  AddGraphFix(facts, &finding);
  finding.add_fix("Give the GPU more work a launch: larger batches, fused operations.");
  finding.set_caveat(
      device.has_python
          ? "Python functions were traced, which slows the host: the true gain is smaller. Record "
            "once more without with_stack."
          : "The gain is that of a host that takes no time at all.");
  return finding;
}

std::optional<Finding> TinyKernels(const AdviceFacts& facts) {
  // A GPU that waits for the host gains nothing from shorter kernels.
  if (!HasWholeSteps(facts) || facts.device->verdict.bound() != results::BOUND_COMPUTE)
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& tiny = device.tiny_kernels;
  const auto steps = std::max<uint64_t>(device.series.count(), 1);
  const double part = Ratio(tiny.total_ns, device.series.busy_ns());
  const bool is_many =
      static_cast<double>(tiny.count / steps) >= facts.limits("LA-002.min_kernels");
  if (part < facts.limits("LA-002.min_kernel_share") && !is_many) return std::nullopt;
  const int64_t gain = Part(tiny.saved_per_step_ns, facts.limits("LA-002.gain"));
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding =
      MakeOfDevice(device, "LA-002", "Much of the GPU's time is in very short kernels");
  finding.mutable_confidence()->set_level(
      std::min(finding.confidence().level(), results::LEVEL_MEDIUM));
  finding.mutable_confidence()->set_reason("what fusion saves depends on what can be fused");
  SetGain(facts, Bound(gain, "a part of the short kernels"), &finding);
  finding.add_evidence(CountPerStep(device, tiny.count) + " of " +
                       CountPerStep(device, device.kernel_count) + " kernels are shorter than " +
                       FormatDuration(facts.limits.Whole("LA-002.max_kernel")) + ". They take " +
                       FormatPercent(part) + " of the GPU's busy time.");
  AddFix(facts,
         {"Fuse kernels that follow each other, or give each more elements.",
          "Fuse them: torch.compile(model), foreach=True or fused=True for optimizers, larger "
          "batches.",
          "Fuse them: tf.function(jit_compile=True).",
          "Put more of the step under one jax.jit: XLA fuses within a program."},
         &finding);
  return finding;
}

std::optional<Finding> RepeatedKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  std::optional<Finding> finding = MakeOfPieces(
      facts, device.repeats, "LA-003.min_share", "LA-003",
      "The same kernels are launched one by one, again and again", "these launches take no time");
  if (!finding) return std::nullopt;
  const std::string unit = device.repeated_unit == 1
                               ? ""
                               : " and the " + std::to_string(device.repeated_unit - 1) +
                                     (device.repeated_unit == 2 ? " kernel" : " kernels") +
                                     " behind it";
  finding->add_evidence(CountPerStep(device, device.repeated_kernel_count) +
                        " kernels repeat what is before them: " + device.repeats.longest.name +
                        unit + ".");
  Instance longest = device.repeats.longest;
  longest.name.clear();
  finding->add_evidence("The longest run of repetitions: " + InstanceText(longest) + ".");
  AddFix(facts,
         {"Launch one kernel for all arrays, or capture the run as a CUDA graph.",
          "Use the forms for many tensors: foreach=True or fused=True for optimizers, "
          "torch._foreach_* functions, torch.cat before the operation.",
          "Concatenate the tensors, or compile the loop: tf.function(jit_compile=True).",
          "Use jax.vmap, or put the loop under jax.jit."},
         &*finding);
  finding->set_caveat("The gain is that of launches that take no time.");
  return finding;
}

std::optional<Finding> GraphCandidate(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts) || facts.device->uses_graphs || !IsSameInSteps(facts))
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain = std::min(device.SavedPerStep(results::WHAT_IF_LAUNCHES),
                                device.PerStep(results::TIME_CATEGORY_LAUNCH));
  if (Share(device, gain) < facts.limits("LA-006.min_share")) return std::nullopt;
  Finding finding =
      MakeOfDevice(device, "LA-006", "Each step launches the same kernels, one by one");
  SetGain(facts, Replayed(gain, "launches take no time"), &finding);
  AddSameSteps(facts, &finding);
  finding.add_evidence("In " + OfStep(device, device.PerStep(results::TIME_CATEGORY_LAUNCH)) +
                       " the GPU had nothing to do, because the next work was on its way.");
  AddGraphFix(facts, &finding);
  finding.set_caveat("A graph must be captured anew if shapes or addresses change.");
  return finding;
}

}  // namespace gpuprof::analysis
