// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework memory of the pass `heap`: blocks that a framework's allocators handed out, by device
// and by the op that asked. See passes.h.

#include <algorithm>
#include <map>

#include "analysis/model/names.h"
#include "analysis/passes/live_memory.h"
#include "analysis/passes/merge_tracks.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kBuckets = 120;
constexpr int64_t kShortLivedNs = 10'000'000;
// For each tensor row of a track the name of the innermost op open then; 0: none.
std::vector<uint32_t> OpsOpenAt(const Column<int64_t>& times, const OpTree& tree,
                                const OpTable& ops) {
  std::vector<uint32_t> names(times.size(), 0);
  std::vector<uint32_t> open;  // rows, outermost first
  size_t next = 0;
  for (size_t i = times.size(); i-- > 0;) {
    const int64_t time = times[i];
    for (; next < tree.rows() && tree.end(tree.in_order(next)) > time; ++next) {
      const uint32_t row = tree.in_order(next);
      while (!open.empty() && open.back() != tree.parent(row)) open.pop_back();
      open.push_back(row);
    }
    while (!open.empty() && tree.start(open.back()) > time) open.pop_back();
    if (!open.empty()) names[i] = ops.name[open.back()];
  }
  return names;
}

// The most that the framework's own allocator counted on a device: blocks from before a capture are
// in it.
struct Totals {
  uint64_t allocated = 0;
  uint64_t reserved = 0;

  // A row has what is counted after it: a block that it gives back was there until then.
  void Add(const TensorTable& tensors, size_t row) {
    const uint64_t left = tensors.total_allocated[row];
    if (left == 0 && tensors.total_reserved[row] == 0) return;  // not told
    const int64_t bytes = tensors.bytes[row];
    const bool is_returned = bytes < 0 && bytes != proto::kReturnedOfUnknownSize;
    const uint64_t returned = is_returned ? -static_cast<uint64_t>(bytes) : 0;
    allocated = std::max(allocated, left + returned);
    reserved = std::max(reserved, tensors.total_reserved[row]);
  }
};

struct OpSums {
  uint64_t count = 0, bytes = 0, peak = 0, end = 0;
};

void AddDevice(PassContext& context, size_t index, uint32_t device, const LiveMemory& memory,
               const Totals& totals, results::Heap* out) {
  const Process& process = context.process(index);
  results::TensorDevice* row = out->add_tensors();
  SetProcess(process, row);
  row->set_name(DeviceName(device));
  std::map<uint32_t, OpSums> by_op;
  uint64_t step_count = 0, step_bytes = 0;
  const std::vector<Interval> steps = context.steps(index).Counted();
  size_t at = 0;
  for (size_t i = 0; i < memory.blocks().size(); ++i) {
    const LiveMemory::Block& block = memory.blocks()[i];
    OpSums& op = by_op[block.group];
    ++op.count;
    op.bytes += block.size;
    if (memory.LiveAtPeak(i)) op.peak += block.size;
    if (memory.LiveAtEnd(i)) {
      op.end += block.size;
      row->set_end_count(row->end_count() + 1);
    }
    if (block.life_ns >= 0 && block.life_ns <= kShortLivedNs) {
      row->set_short_lived_count(row->short_lived_count() + 1);
    }
    while (at < steps.size() && steps[at].end <= block.time_ns) ++at;
    if (at < steps.size() && block.time_ns >= steps[at].start) {
      ++step_count;
      step_bytes += block.size;
    }
  }
  for (const auto& [name, op] : by_op) {
    row->set_count(row->count() + op.count);
    row->set_allocated_bytes(row->allocated_bytes() + op.bytes);
    row->set_peak_bytes(row->peak_bytes() + op.peak);
    row->set_end_bytes(row->end_bytes() + op.end);
  }
  for (const auto& [name, op] : by_op) {
    results::TensorOp* op_row = out->add_tensor_ops();
    SetProcess(process, op_row);
    op_row->set_device(row->name());
    op_row->set_name(process.String(name));
    op_row->set_count(op.count);
    op_row->set_allocated_bytes(op.bytes);
    op_row->set_peak_bytes(op.peak);
    op_row->set_peak_ratio(Ratio(op.peak, row->peak_bytes()));
    op_row->set_end_bytes(op.end);
  }
  row->set_peak_time_ns(memory.peak_time());
  row->set_unmatched_free_count(memory.unmatched_frees());
  row->set_implied_free_count(memory.implied_frees());
  if (totals.allocated > 0) row->set_reported_peak_bytes(totals.allocated);
  if (totals.reserved > 0) row->set_reserved_peak_bytes(totals.reserved);
  if (!steps.empty()) {
    row->set_count_per_step(Ratio(step_count, uint64_t{steps.size()}));
    row->set_allocated_bytes_per_step(Ratio(step_bytes, uint64_t{steps.size()}));
  }
  for (size_t i = 0; i < memory.timeline().size(); ++i) {
    results::TensorPoint* point = out->add_tensor_timeline();
    point->set_pid(process.pid);
    point->set_device(row->name());
    point->set_time_ns(memory.bucket_start(i));
    point->set_live_bytes(memory.timeline()[i]);
  }
}

}  // namespace

void ComputeTensors(PassContext& context, size_t index, results::Heap* out) {
  const Process& process = context.process(index);
  std::vector<const Column<int64_t>*> times;
  std::vector<std::vector<uint32_t>> names;
  uint64_t rows = 0;
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    const Track& track = process.tracks[i];
    times.push_back(&track.tensor.time_ns);
    rows += track.tensor.rows();
    names.push_back(track.tensor.rows() == 0
                        ? std::vector<uint32_t>()
                        : OpsOpenAt(track.tensor.time_ns, context.ops(index).tree(i), track.op));
  }
  if (rows == 0) return;

  std::map<uint32_t, LiveMemory> devices;
  std::map<uint32_t, Totals> totals;
  int capture = -1;
  const auto new_capture = [&] {
    for (auto& [device, memory] : devices) memory.NewCapture();
  };
  MergeByTime(times, [&](size_t track, size_t row) {
    const TensorTable& tensors = process.tracks[track].tensor;
    if (tensors.capture[row] != capture) {
      new_capture();
      capture = tensors.capture[row];
    }
    const uint32_t device = tensors.device[row];
    auto at = devices.find(device);
    if (at == devices.end()) {
      at = devices.try_emplace(device, 0u, process.first_ns, process.last_ns, kBuckets).first;
    }
    const int64_t time = tensors.time_ns[row];
    const int64_t bytes = tensors.bytes[row];
    if (bytes >= 0) {
      at->second.Alloc(time, tensors.address[row], static_cast<uint64_t>(bytes), false,
                       names[track][row]);
    } else {
      at->second.Free(time, tensors.address[row]);
    }
    totals[device].Add(tensors, row);
  });
  // A capture later than the last row knows nothing of the blocks before it.
  if (process.last_capture() > capture) new_capture();
  const int first_op = out->tensor_ops_size();
  for (auto& [device, memory] : devices) {
    memory.Finish();
    AddDevice(context, index, device, memory, totals[device], out);
  }
  std::sort(out->mutable_tensor_ops()->begin() + first_op, out->mutable_tensor_ops()->end(),
            [](const results::TensorOp& a, const results::TensorOp& b) {
              if (a.peak_bytes() != b.peak_bytes()) return a.peak_bytes() > b.peak_bytes();
              if (a.allocated_bytes() != b.allocated_bytes()) {
                return a.allocated_bytes() > b.allocated_bytes();
              }
              return a.name() < b.name();
            });
}

}  // namespace gpuprof::analysis
