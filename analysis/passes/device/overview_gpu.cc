// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's part about GPUs: sums over the passes kernels, memcpy and device_memory, and when
// each device was busy and why it was not, over all processes that used it. See passes.h.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/enum_word.h"
#include "analysis/passes/device/device_use.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/summed_work.h"
#include "analysis/passes/device/unseen_work.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/device_memory.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kTopKernels = 5;

void FillUse(PassContext& context, const UsedDevices& devices, results::OverviewGpu* gpu) {
  const DeviceUse use = UseOfAll(context, devices);
  if (use.window_ns == 0) return;
  gpu->set_window_ns(use.window_ns);
  gpu->set_busy_ns(use.busy_ns);
  gpu->set_busy_ratio(Ratio(use.busy_ns, use.window_ns));
  gpu->set_idle_ns(use.idle_ns());
  if (!use.has_causes) return;
  if (use.causes.unseen_ns != 0) gpu->set_idle_unseen_ns(use.causes.unseen_ns);
  const results::TimeCategory cause = use.causes.Largest();
  if (cause == results::TIME_CATEGORY_NONE) return;
  gpu->set_idle_cause(WordOf(cause));
  gpu->set_idle_cause_ns(use.causes.times[cause]);
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
  row->set_family(first.family());
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
  *gpu->mutable_families() = kernels.families();
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
  const results::Kernels& kernels = KernelsByName(context);
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
