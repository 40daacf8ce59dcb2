// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's part about GPUs: sums over the passes kernels, memcpy and device_memory, and when
// each device was busy and why it was not, over all processes that used it. See passes.h.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/passes/device_gaps.h"
#include "analysis/passes/device_memory.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/passes/summed_work.h"
#include "analysis/passes/unseen_work.h"
#include "analysis/passes/used_devices.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kTopKernels = 5;

struct DeviceTimes {
  std::vector<Interval> windows, busy, unseen;
  std::vector<Gap> gaps;
};

// Seen is what any of the device's processes was recorded in. Between that nothing is known of it,
// and work of one ends the gaps of all.
DeviceTimes TimesOf(const PassContext& context, const UsedDevice& device) {
  std::vector<Interval> captures;
  std::vector<std::vector<Interval>> busy;
  for (const UsedDevice::User& user : device.users) {
    const Process& process = context.process(user.process);
    const std::vector<Interval> of_process = CapturesOf(process);
    captures.insert(captures.end(), of_process.begin(), of_process.end());
    for (const Track& track : process.tracks) {
      if (track.device == user.number && HasWork(track)) busy.push_back(BusyOf(track));
    }
  }
  // Those of one process stay apart, as in the pass streams.
  if (device.users.size() > 1) captures = UnionOf(std::move(captures));
  DeviceTimes times;
  times.busy = UnionOfAll(std::move(busy));
  times.windows = WorkWindows(captures, times.busy);
  // As in the pass streams.
  times.busy = Intersection(times.busy, UnionOf(times.windows));
  times.gaps = GapsIn(times.windows, times.busy);
  return times;
}

std::vector<DeviceTimes> TimesOfAll(PassContext& context, const UsedDevices& devices) {
  std::vector<DeviceTimes> times;
  for (const UsedDevice& device : devices.all()) times.push_back(TimesOf(context, device));
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    std::set<uint32_t> used;
    for (const Track& track : process.tracks) {
      if (!HasWork(track)) continue;
      FindLaunches(track, context.calls(index), &times[devices.Of(index, track.device)].gaps);
      used.insert(track.device);
    }
    for (const uint32_t device : used) {
      std::vector<Interval>& unseen = times[devices.Of(index, device)].unseen;
      const std::vector<Interval> of_process = UnseenWork(process, context.calls(index), device);
      unseen.insert(unseen.end(), of_process.begin(), of_process.end());
    }
  }
  for (DeviceTimes& device : times) device.unseen = UnionOf(std::move(device.unseen));
  return times;
}

void FillUse(PassContext& context, const UsedDevices& devices, results::OverviewGpu* gpu) {
  int64_t window = 0, busy = 0;
  IdleTimes times;
  for (const DeviceTimes& device : TimesOfAll(context, devices)) {
    window += TotalLength(device.windows);
    busy += TotalLength(device.busy);
    for (const Gap& gap : device.gaps) times.Add(gap, device.unseen);
  }
  if (window == 0) return;
  const std::array<std::pair<std::string_view, int64_t>, 4> idle = {
      {{"host", times.host_ns},
       {"launch", times.launch_ns},
       {"dependency", times.dependency_ns},
       {"unknown", times.unknown_ns - times.unseen_ns}}};
  gpu->set_window_ns(window);
  gpu->set_busy_ns(busy);
  gpu->set_busy_ratio(Ratio(busy, window));
  int64_t all = times.unseen_ns;
  for (const auto& [cause, ns] : idle) {
    all += ns;
    if (ns <= gpu->idle_cause_ns()) continue;
    gpu->set_idle_cause(std::string(cause));
    gpu->set_idle_cause_ns(ns);
  }
  gpu->set_idle_ns(all);
  if (times.unseen_ns != 0) gpu->set_idle_unseen_ns(times.unseen_ns);
}

// Of the device on which most was live at once.
void FillMemory(PassContext& context, results::OverviewGpu* gpu) {
  results::DeviceMemory memory;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const bool has_memory =
        std::any_of(process.tracks.begin(), process.tracks.end(),
                    [](const Track& track) { return track.device_memory.rows() != 0; });
    if (!has_memory) continue;
    AddMemoryDevices(process, FollowDeviceMemory(process, context.calls(index)), &memory);
  }
  for (const results::MemoryDevice& device : memory.devices()) {
    if (device.peak_bytes() <= gpu->memory_peak_bytes()) continue;
    gpu->set_memory_peak_bytes(device.peak_bytes());
    gpu->set_memory_peak_time_ns(device.peak_time_ns());
    gpu->set_memory_device(device.name());
    gpu->set_memory_pid(device.pid());
    gpu->clear_memory_peak_ratio();
    if (device.has_peak_ratio()) gpu->set_memory_peak_ratio(device.peak_ratio());
  }
}

// Adds a row for the kernels of one name, the one with most time first. What holds for a part of
// them alone is left out.
void AddMerged(const std::vector<const results::Kernel*>& parts, results::OverviewGpu* gpu) {
  const results::Kernel& first = *parts.front();
  results::Kernel* row = gpu->add_top_kernels();
  if (parts.size() == 1) {
    *row = first;
    return;
  }
  row->set_name(first.name());
  row->set_short_name(first.short_name());
  row->set_mangled(first.mangled());
  row->set_pid(first.pid());
  row->set_host(first.host());
  row->set_device(first.device());
  row->set_tensor_cores(first.tensor_cores());
  row->set_tensor_cores_evidence_kind(first.tensor_cores_evidence_kind());
  row->set_tensor_cores_evidence(first.tensor_cores_evidence());
  row->set_tensor_cores_input(first.tensor_cores_input());
  row->set_precision(first.precision());
  row->set_precision_evidence(first.precision_evidence());
  row->set_min_ns(first.min_ns());
  for (const results::Kernel* part : parts) {
    row->set_count(row->count() + part->count());
    row->set_total_ns(row->total_ns() + part->total_ns());
    row->set_total_ratio(row->total_ratio() + part->total_ratio());
    row->set_min_ns(std::min(row->min_ns(), part->min_ns()));
    row->set_max_ns(std::max(row->max_ns(), part->max_ns()));
    row->set_signature_count(std::max(row->signature_count(), part->signature_count()));
  }
  if (row->count() != 0) row->set_mean_ns(row->total_ns() / static_cast<int64_t>(row->count()));
}

// Adds the kernels with most time over all devices and processes.
void AddTopKernels(const PassContext& context, const UsedDevices& devices,
                   const results::Kernels& kernels, results::OverviewGpu* gpu) {
  using Place = std::tuple<std::string, int32_t, uint32_t>;  // host, pid, the process's number
  const auto place_of = [](const results::Kernel& row) {
    return Place(row.host(), row.pid(), row.device());
  };
  std::map<Place, size_t> used;
  for (size_t k = 0; k < devices.all().size(); ++k) {
    for (const UsedDevice::User& user : devices.all()[k].users) {
      results::Kernel row;
      SetProcess(context.process(user.process), &row);
      row.set_device(user.number);
      used[place_of(row)] = k;
    }
  }
  std::map<std::string, std::vector<const results::Kernel*>> by_name;
  for (const results::Kernel& kernel : kernels.kernels()) by_name[kernel.name()].push_back(&kernel);
  for (const auto& [name, parts] : by_name) {
    AddMerged(parts, gpu);
    std::set<size_t> of_name;
    for (const results::Kernel* part : parts) {
      if (const auto at = used.find(place_of(*part)); at != used.end()) of_name.insert(at->second);
    }
    gpu->mutable_top_kernels()->rbegin()->set_device_count(of_name.size());
  }
  SortByTotal(gpu->mutable_top_kernels());
  const int shown = std::min(kTopKernels, gpu->top_kernels_size());
  gpu->mutable_top_kernels()->DeleteSubrange(shown, gpu->top_kernels_size() - shown);
}

}  // namespace

void FillOverviewGpu(PassContext& context, results::Overview* out) {
  results::OverviewGpu gpu;
  const UsedDevices devices(context);
  FillMemory(context, &gpu);
  if (devices.all().empty() && !gpu.has_memory_peak_bytes()) return;
  gpu.set_device_count(static_cast<uint32_t>(devices.all().size()));
  gpu.set_shared_device_count(devices.shared_count());
  gpu.set_untold_device_count(devices.untold_count());
  gpu.set_left_out_process_count(devices.left_out_process_count());
  // Spans of what was left out cannot be estimated.
  const bool has_rows = !context.trace().has_sums;
  const bool is_whole = has_rows && !IsSampled(context);
  if (!has_rows) FillSummedUse(context, devices, &gpu);
  if (is_whole) FillUse(context, devices, &gpu);
  if (gpu.has_idle_unseen_ns())
    out->mutable_meta()->add_notes(UnseenNote("GPUs", gpu.idle_unseen_ns()));
  results::Kernels kernels;
  ComputeKernels(context, &kernels);
  gpu.set_kernel_count(kernels.count());
  gpu.set_kernel_ns(kernels.total_ns());
  gpu.set_whole_graph_count(kernels.whole_graph_count());
  AddTopKernels(context, devices, kernels, &gpu);
  results::Memcpy copies;
  if (has_rows) {
    ComputeMemcpy(context, &copies);
  } else {
    SumCopies(context, &copies);
  }
  gpu.set_copy_count(copies.count());
  if (copies.has_total_bytes()) gpu.set_copy_bytes(copies.total_bytes());
  gpu.set_copy_ns(copies.total_ns());
  if (is_whole) gpu.set_exposed_copy_ns(copies.exposed_ns());
  *out->mutable_gpu() = std::move(gpu);
}

}  // namespace gpuprof::analysis
