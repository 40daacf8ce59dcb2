// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See overview_devices.h.

#include "analysis/passes/device/overview_devices.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/passes/device/device_limits.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Returns the row of devices that look the same.
results::OverviewDevice* RowOf(const Process& process, const proto::Device& device,
                               results::OverviewEnvironment* environment) {
  for (results::OverviewDevice& row : *environment->mutable_devices()) {
    if (row.name() == device.name() && row.host() == process.host &&
        row.memory_bytes() == device.memory_bytes())
      return &row;
  }
  results::OverviewDevice* row = environment->add_devices();
  row->set_name(device.name());
  row->set_host(process.host);
  row->set_multiprocessor_count(device.multiprocessors());
  row->set_memory_bytes(device.memory_bytes());
  if (device.compute_major() != 0)
    row->set_compute_capability(std::to_string(device.compute_major()) + "." +
                                std::to_string(device.compute_minor()));
  return row;
}

// From the first counted step to the last.
Interval WindowOf(PassContext& context, size_t index) {
  const std::vector<Interval> steps = context.steps(index).Counted();
  if (steps.empty())
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {steps.front().start, steps.back().end};
}

// Returns the mean of a counter in percent over the readings that lie whole within the window, as a
// part of 1. None: there is no reading.
std::optional<double> MeanOf(const Process& sampler, const Track& track, std::string_view name,
                             Interval window) {
  const CounterTable& table = track.counter;
  double sum = 0;
  uint64_t count = 0;
  std::optional<int64_t> before_ns;
  for (size_t i = 0; i < table.rows(); ++i) {
    const auto counter = sampler.counters.find(table.counter[i]);
    if (counter == sampler.counters.end() || counter->second.name() != name ||
        counter->second.unit() != "%")
      continue;
    // A reading is the mean of the time since the reading before.
    const bool is_within =
        before_ns && *before_ns >= window.start && table.time_ns[i] <= window.end;
    before_ns = table.time_ns[i];
    if (!is_within) continue;
    sum += static_cast<double>(table.value[i]) / std::max(counter->second.divisor(), 1u);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count) / 100;
}

// Fills the activity from one track of readings. The readings of a track are evenly spaced.
bool FillFrom(const Process& sampler, const Track& track, Interval window,
              results::Verdict* verdict) {
  const auto sm = MeanOf(sampler, track, "sm_active", window);
  if (!sm) return false;
  verdict->set_sm_active_ratio(*sm);
  if (const auto tensor = MeanOf(sampler, track, "tensor_active", window))
    verdict->set_tensor_active_ratio(*tensor);
  if (const auto dram = MeanOf(sampler, track, "dram_active", window))
    verdict->set_dram_active_ratio(*dram);
  return true;
}

}  // namespace

void FillDevices(const PassContext& context, results::OverviewEnvironment* environment) {
  std::set<std::pair<std::string, std::string>> seen;  // host, uuid
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    for (const proto::Device& device : process.devices) {
      if (device.name().empty()) continue;  // nothing to show
      const std::string uuid = device.uuid().find_first_not_of('\0') == std::string::npos
                                   ? std::to_string(process.pid) + "/" + std::to_string(device.id())
                                   : device.uuid();
      if (!seen.insert({process.host, uuid}).second) continue;
      results::OverviewDevice* row = RowOf(process, device, environment);
      row->set_device_count(row->device_count() + 1);
    }
  }
}

void FillActivity(PassContext& context, results::Verdict* verdict) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (process.pid != verdict->pid() || process.host != verdict->host()) continue;
    const proto::Device* device = process.FindDevice(verdict->device());
    if (device == nullptr) return;
    const Interval window = WindowOf(context, index);
    for (const bool is_pm : {true, false}) {
      for (const Process& sampler : context.trace().samplers) {
        for (const Track& track : sampler.tracks) {
          const auto sampled = sampler.sampled_devices.find(track.id);
          if (sampled == sampler.sampled_devices.end() || sampler.host != process.host) continue;
          if (sampled->second.is_pm() != is_pm || !IsSameDevice(*device, sampled->second)) continue;
          if (FillFrom(sampler, track, window, verdict)) return;
        }
      }
    }
  }
}

}  // namespace gpuprof::analysis
