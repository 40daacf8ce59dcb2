// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_rate.h.

#include "analysis/passes/step_rate.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace gpuprof::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

// Returns the steps on the process's busiest device, by their numbers.
std::map<uint64_t, const results::DeviceStep*> OnDevice(const results::Steps& device) {
  const results::DeviceSeries* busiest = nullptr;
  for (const results::DeviceSeries& series : device.device_series()) {
    const bool is_own = series.window() == results::STEP_WINDOW_DEVICE;
    if (is_own && (busiest == nullptr || series.busy_ns() > busiest->busy_ns())) busiest = &series;
  }
  std::map<uint64_t, const results::DeviceStep*> steps;
  for (const results::DeviceStep& step : device.device_steps()) {
    const bool is_one = busiest != nullptr && step.window() == results::STEP_WINDOW_DEVICE &&
                        step.device() == busiest->device();
    if (is_one) steps[step.number()] = &step;
  }
  return steps;
}

// Returns by how much more the device was behind the host at the end of the last step than at the
// begin of the first counted one. The window of the last step ends with its own work. 0: it was
// not, or that is not known.
int64_t FellBehind(const StepAnalysis& steps, const results::Steps& device) {
  const std::map<uint64_t, const results::DeviceStep*> on_device = OnDevice(device);
  const auto first = std::find_if(steps.steps.begin(), steps.steps.end(),
                                  [](const results::Step& step) { return !step.warmup(); });
  if (first == steps.steps.end()) return 0;
  const results::Step& last = steps.steps.back();
  const auto begin = on_device.find(first->number()), end = on_device.find(last.number());
  if (last.warmup() || begin == on_device.end() || end == on_device.end()) return 0;
  const int64_t before_ns = begin->second->start_ns() - first->start_ns();
  const int64_t behind_ns =
      end->second->start_ns() + end->second->duration_ns() - last.start_ns() - last.duration_ns();
  return behind_ns - std::max<int64_t>(before_ns, 0);
}

}  // namespace

double StepsPerSecond(const StepAnalysis& steps, const results::Steps& device) {
  if (steps.series.total_ns() <= 0) return 0;
  const int64_t total_ns =
      steps.series.total_ns() + std::max<int64_t>(FellBehind(steps, device), 0);
  return static_cast<double>(steps.series.count()) * kNsPerSecond / static_cast<double>(total_ns);
}

}  // namespace gpuprof::analysis
