// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recorded allocations of PyTorch, for accounts. See memory_inputs.h.

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analysis/model/names.h"
#include "analysis/passes/memory/memory_inputs.h"
#include "analysis/passes/memory/merge_tracks.h"
#include "analysis/steps/op_walk.h"

namespace gpuprof::analysis {
namespace {

// Tells who allocated: the innermost operation that is open, and what its memory is for by all that
// are open.
class OpenOperations {
 public:
  // In a training, what no rule knows is of a forward pass from the first step on.
  OpenOperations(ProcessOps* ops, int64_t trains_from_ns)
      : ops_(*ops), trains_from_ns_(trains_from_ns) {}

  // Returns an owner for each row of a track's table of tensors; 0: no operation was open.
  std::vector<uint32_t> OwnersOf(size_t track) {
    const Track& of = ops_.process().tracks[track];
    const Column<int64_t>& times = of.tensor.time_ns;
    std::vector<uint32_t> found(times.size(), 0);
    if (times.empty()) return found;
    VisitOpenOps(times, ops_.tree(track), [&](size_t i, const std::vector<uint32_t>& open) {
      found[i] = OwnerOf(of.op, open, times[i]);
    });
    return found;
  }
  const std::vector<MemoryOwner>& owners() const { return owners_; }
  const std::vector<uint32_t>& names() const { return names_; }

 private:
  uint32_t OwnerOf(const OpTable& ops, const std::vector<uint32_t>& open, int64_t time_ns) {
    MemoryJudge judge;
    for (size_t i = open.size(); i-- > 0;) judge.Add(CategoryOf(ops.name[open[i]]));
    if (judge.category() == results::MEMORY_CATEGORY_UNKNOWN && time_ns >= trains_from_ns_)
      judge.Add(results::MEMORY_CATEGORY_ACTIVATIONS);
    const uint32_t name = ops.name[open.back()];
    const uint64_t key = uint64_t{name} << 8 | static_cast<uint64_t>(judge.category());
    const auto [at, is_new] = known_.try_emplace(key, static_cast<uint32_t>(owners_.size()));
    if (is_new) {
      const bool is_known = judge.category() != results::MEMORY_CATEGORY_UNKNOWN;
      owners_.push_back(
          {judge.category(),
           is_known ? results::MEMORY_EVIDENCE_OPERATION : results::MEMORY_EVIDENCE_NONE,
           judge.category() == results::MEMORY_CATEGORY_TEMPORARY,
           judge.category() == results::MEMORY_CATEGORY_OPTIMIZER_STATE});
      names_.push_back(name);
    }
    return at->second;
  }
  results::MemoryCategory CategoryOf(uint32_t name) {
    const auto [at, is_new] = categories_.try_emplace(name);
    if (is_new) {
      const std::string text = ops_.process().String(name);
      at->second = CategoryOfFrame({"", text});
      // What an optimizer needs for a moment is found by its life (MemoryAccount).
      if (ops_.name_kind(name) == NameKind::kOptimizerStep)
        at->second = results::MEMORY_CATEGORY_OPTIMIZER_STATE;
      if (ops_.name_kind(name) == NameKind::kLoaderNext)
        at->second = results::MEMORY_CATEGORY_ACTIVATIONS;
    }
    return at->second;
  }

  ProcessOps& ops_;
  const int64_t trains_from_ns_;
  std::vector<MemoryOwner> owners_ = {{}};
  std::vector<uint32_t> names_ = {0};
  std::unordered_map<uint64_t, uint32_t> known_;
  std::unordered_map<uint32_t, results::MemoryCategory> categories_;
};

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
    each.name = [&process, names = operations.names()](uint32_t owner) {
      return process.String(names[owner]);
    };
    each.reported_peak = entry.second.peak;
    inputs.push_back(std::move(each));
  }
  return inputs;
}

}  // namespace gpuprof::analysis
