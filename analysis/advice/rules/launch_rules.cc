// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about kernels that are launched too late, too short or too often. See rules.h.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/derived/host_activity.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// What a change of the program surely takes of the host's time: no program is without a host.
constexpr double kLeastOfHost = 0.4;

// Returns "aten::addmm 538 us, aten::empty 180 us": how long a step, in the mean, waited for a
// launch while the launching thread was in each. Names that differ by an address alone become one.
std::vector<Sentence> Names(const DeviceFacts& device, const std::map<std::string, int64_t>& late) {
  constexpr size_t kNamed = 4;
  std::map<std::string, int64_t> sums;
  for (const auto& [name, ns] : late) {
    // Rules of their own speak of data, code and waits.
    if (HostCategoryOfName(name) == results::TIME_CATEGORY_NONE) sums[WithoutAddresses(name)] += ns;
  }
  std::vector<std::pair<std::string, int64_t>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Sentence> names;
  for (size_t i = 0; i < std::min(kNamed, rows.size()); ++i) {
    const int64_t per_step = rows[i].second / static_cast<int64_t>(device.series.count());
    names.push_back({"all.name_and_figure", {say::Name(rows[i].first), say::Duration(per_step)}});
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
  AddFix(facts, "LA-006.capture_launches_step_cuda", finding);
}

void AddSameSteps(const AdviceFacts& facts, Finding* finding) {
  const DeviceFacts& device = *facts.device;
  finding->Evidence("LA-006.steps_run_same_kernels",
                    {say::Count(device.same_step_count), say::Count(device.series.count()),
                     say::Count(device.same_kernel_count)});
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
  Finding finding = MakeOfDevice(device, "LA-001.name");
  SetGain(facts, Replayed(gain, "LA-001.gain", kLeastOfHost), &finding);
  finding.Evidence("LA-001.gpu_had_nothing_because", {OfStep(device, late), say::Duration(launch)});
  const std::vector<Sentence> operations = Names(device, device.idle.late_by_op);
  if (!operations.empty())
    finding.Evidence("LA-001.meanwhile_step_launching_threads", {say::List(operations)});
  const std::vector<Sentence> functions = Names(device, device.idle.late_by_function);
  if (!functions.empty()) finding.Evidence("LA-001.python_functions", {say::List(functions)});
  finding.Evidence("LA-001.median_kernel_takes_median", {say::Duration(device.median_kernel_ns),
                                                         say::Duration(device.median_launch_ns)});
  if (!device.uses_graphs && IsSameInSteps(facts)) AddSameSteps(facts, &finding);
  AddGraphFix(facts, &finding);
  finding.Fix("LA-001.give_gpu_work_launch");
  finding.Caveat(device.has_python ? "LA-001.caveat_python" : "LA-001.caveat");
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
  Finding finding = MakeOfDevice(device, "LA-002.name");
  finding.level = std::min(finding.level, results::LEVEL_MEDIUM);
  finding.reason = {"LA-002.reason"};
  SetGain(facts, Bound(gain, "LA-002.gain"), &finding);
  finding.Evidence("LA-002.kernels_shorter_take_gpu",
                   {CountPerStep(device, tiny.count), CountPerStep(device, device.kernel_count),
                    say::Duration(facts.limits.Whole("LA-002.max_kernel")), say::Percent(part)});
  AddFix(facts, "LA-002.fuse_kernels_follow_other", &finding);
  return finding;
}

std::optional<Finding> RepeatedKernels(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  std::optional<Finding> finding =
      MakeOfPieces(facts, device.repeats, "LA-003.min_share", "LA-003.name", "LA-003.gain");
  if (!finding) return std::nullopt;
  std::vector<Sentence> unit;
  if (device.repeated_unit != 1)
    unit.push_back({"LA-003.kernels_behind", {say::Plain(device.repeated_unit - 1)}});
  finding->Evidence("LA-003.kernels_repeat_before",
                    {CountPerStep(device, device.repeated_kernel_count),
                     say::Name(device.repeats.longest.name), say::Run(unit)});
  Instance longest = device.repeats.longest;
  longest.name.clear();
  finding->Evidence("LA-003.longest_run_repetitions", {InstanceText(longest)});
  AddFix(facts, "LA-003.launch_kernel_arrays_capture", &*finding);
  finding->Caveat("LA-003.caveat");
  return finding;
}

std::optional<Finding> GraphCandidate(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts) || facts.device->uses_graphs || !IsSameInSteps(facts))
    return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain = std::min(device.SavedPerStep(results::WHAT_IF_LAUNCHES),
                                device.PerStep(results::TIME_CATEGORY_LAUNCH));
  if (Share(device, gain) < facts.limits("LA-006.min_share")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "LA-006.name");
  SetGain(facts, Replayed(gain, "LA-006.gain"), &finding);
  AddSameSteps(facts, &finding);
  finding.Evidence("LA-006.gpu_had_nothing_because",
                   {OfStep(device, device.PerStep(results::TIME_CATEGORY_LAUNCH))});
  AddGraphFix(facts, &finding);
  finding.Caveat("LA-006.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
