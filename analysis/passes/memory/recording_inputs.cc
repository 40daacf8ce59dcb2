// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recorded allocations of PyTorch, for accounts. See memory_inputs.h.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "analysis/model/names.h"
#include "analysis/passes/memory/memory_inputs.h"
#include "analysis/passes/memory/merge_tracks.h"
#include "analysis/passes/memory/open_operations.h"

namespace gpuprof::analysis {
namespace {

// The rows of a process, with their owners.
struct RecordedRows {
  const Process* process = nullptr;
  std::vector<const Column<int64_t>*> times;
  std::vector<std::vector<uint32_t>> owners;  // by track

  // Calls take(event) for the rows of a device, and before a capture without the events between.
  void Each(uint32_t device, const std::function<void(const MemoryEvent&)>& take) const {
    int capture = -1;
    MergeByTime(times, [&](size_t track, size_t row) {
      const TensorTable& tensors = process->tracks[track].tensor;
      MemoryEvent event;
      event.time_ns = tensors.time_ns[row];
      if (tensors.capture[row] != capture) {
        event.change = MemoryChange::kForget;
        if (capture >= 0) take(event);
        capture = tensors.capture[row];
      }
      if (tensors.device[row] != device) return;
      const int64_t bytes = tensors.bytes[row];
      event.change = bytes >= 0 ? MemoryChange::kAlloc : MemoryChange::kFree;
      event.address = tensors.address[row];
      event.owner = bytes >= 0 ? owners[track][row] : 0;
      if (bytes >= 0) event.bytes = static_cast<uint64_t>(bytes);
      if (bytes < 0 && bytes != proto::kReturnedOfUnknownSize)
        event.bytes = -static_cast<uint64_t>(bytes);
      take(event);
      if (const uint64_t reserved = tensors.total_reserved[row]; reserved != 0) {
        event.change = MemoryChange::kTotals;
        event.bytes = reserved;
        take(event);
      }
    });
  }
};

// Sums what the allocator counted itself.
struct AllocatorCounts {
  uint64_t before = 0, peak = 0;
  int64_t counted = 0;  // live by the rows so far
  bool is_told = false;

  void Add(const TensorTable& tensors, size_t row) {
    const uint64_t left = tensors.total_allocated[row];
    const int64_t bytes = tensors.bytes[row];
    if (bytes == proto::kReturnedOfUnknownSize) return;
    if (left != 0 || tensors.total_reserved[row] != 0) {
      if (!is_told) {
        const int64_t rest = static_cast<int64_t>(left) - counted - bytes;
        before = rest > 0 ? static_cast<uint64_t>(rest) : 0;
        is_told = true;
      }
      peak = std::max(peak, left + (bytes < 0 ? -static_cast<uint64_t>(bytes) : 0));
    }
    counted += bytes;
  }
};

}  // namespace

std::vector<DeviceMemoryInput> InputsOfRecording(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  auto rows = std::make_shared<RecordedRows>();
  rows->process = &process;
  uint64_t count = 0;
  for (const Track& track : process.tracks) count += track.tensor.rows();
  if (count == 0) return {};
  ProcessOps& ops = context.ops(index);
  const std::vector<Interval> steps = context.steps(index).Counted();
  const bool is_training = ops.has(NameKind::kAutograd) && !steps.empty();
  OpenOperations operations(&ops, is_training ? steps.front().start : INT64_MAX);
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    rows->times.push_back(&process.tracks[i].tensor.time_ns);
    rows->owners.push_back(operations.OwnersOf(i));
  }
  std::map<uint32_t, AllocatorCounts> devices;
  MergeByTime(rows->times, [&](size_t track, size_t row) {
    const TensorTable& tensors = process.tracks[track].tensor;
    devices[tensors.device[row]].Add(tensors, row);
  });
  std::vector<int64_t> step_ends;
  for (const Interval& step : steps) step_ends.push_back(step.end);
  const bool has_optimizer = ops.has(NameKind::kOptimizerStep);
  std::vector<DeviceMemoryInput> inputs;
  for (const auto& entry : devices) {
    const uint32_t device = entry.first;
    DeviceMemoryInput each;
    each.device = DeviceName(process, device);
    each.number = device;
    each.input.each = [rows, device](const std::function<void(const MemoryEvent&)>& take) {
      rows->Each(device, take);
    };
    each.input.owners = operations.owners();
    each.input.before_bytes = entry.second.before;
    each.input.has_optimizer = has_optimizer;
    each.input.step_ends = step_ends;
    each.place = [&process, names = operations.names()](uint32_t owner) {
      return MemoryPlace{process.String(names[owner]), "", "", ""};
    };
    each.reported_peak = entry.second.peak;
    inputs.push_back(std::move(each));
  }
  return inputs;
}

}  // namespace gpuprof::analysis
