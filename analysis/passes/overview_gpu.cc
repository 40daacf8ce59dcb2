// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's part about GPUs: sums over the passes kernels, memcpy, streams and device_memory.
// See passes.h.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/passes/device_memory.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr int kTopKernels = 5;

void FillUse(const results::Streams& streams, results::OverviewGpu* gpu) {
  int64_t window = 0, busy = 0;
  std::array<std::pair<std::string_view, int64_t>, 4> idle = {
      {{"host", 0}, {"launch", 0}, {"dependency", 0}, {"unknown", 0}}};
  for (const results::DeviceUse& device : streams.devices()) {
    window += device.window_ns();
    busy += device.busy_ns();
    idle[0].second += device.idle_host_ns();
    idle[1].second += device.idle_launch_ns();
    idle[2].second += device.idle_dependency_ns();
    idle[3].second += device.idle_unknown_ns();
  }
  if (window == 0) return;
  gpu->set_window_ns(window);
  gpu->set_busy_ns(busy);
  gpu->set_busy_ratio(Ratio(busy, window));
  int64_t all = 0;
  for (const auto& [cause, ns] : idle) {
    all += ns;
    if (ns <= gpu->idle_cause_ns()) continue;
    gpu->set_idle_cause(std::string(cause));
    gpu->set_idle_cause_ns(ns);
  }
  gpu->set_idle_ns(all);
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
    AddMemoryDevices(process, FollowDeviceMemory(process, Launches(process)), &memory);
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

}  // namespace

void FillOverviewGpu(PassContext& context, results::Overview* out) {
  results::OverviewGpu gpu;
  results::Streams streams;
  ComputeStreams(context, &streams);
  FillMemory(context, &gpu);
  if (streams.devices().empty() && !gpu.has_memory_peak_bytes()) return;
  gpu.set_device_count(static_cast<uint32_t>(streams.devices_size()));
  // Spans of what was left out cannot be estimated.
  const bool is_whole = !IsSampled(context);
  if (is_whole) FillUse(streams, &gpu);
  results::Kernels kernels;
  ComputeKernels(context, &kernels);
  gpu.set_kernel_count(kernels.count());
  gpu.set_kernel_ns(kernels.total_ns());
  gpu.set_whole_graph_count(kernels.whole_graph_count());
  for (int i = 0; i < std::min(kTopKernels, kernels.kernels_size()); ++i)
    *gpu.add_top_kernels() = kernels.kernels(i);
  results::Memcpy copies;
  ComputeMemcpy(context, &copies);
  gpu.set_copy_count(copies.count());
  gpu.set_copy_bytes(copies.total_bytes());
  gpu.set_copy_ns(copies.total_ns());
  if (is_whole) gpu.set_exposed_copy_ns(copies.exposed_ns());
  *out->mutable_gpu() = std::move(gpu);
}

}  // namespace gpuprof::analysis
