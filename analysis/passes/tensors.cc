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

// The blocks of one device.
class Device : public BlockWatcher {
 public:
  Device(const Process& process, const std::vector<Interval>& steps)
      : memory_(0, process.first_ns, process.last_ns, kBuckets, this), steps_(steps) {}

  LiveMemory& memory() { return memory_; }
  void Allocated(const MemoryBlock& block) override {
    OpSums& op = by_op_[block.group];
    ++op.count;
    op.bytes += block.size;
    while (at_ < steps_.size() && steps_[at_].end <= block.time_ns) ++at_;
    if (at_ < steps_.size() && block.time_ns >= steps_[at_].start) {
      ++step_count_;
      step_bytes_ += block.size;
    }
  }
  void Freed(const MemoryBlock&, int64_t life_ns) override {
    if (life_ns <= kShortLivedNs) ++short_lived_;
  }
  void AddTotals(const TensorTable& tensors, size_t row) { totals_.Add(tensors, row); }
  // Ends the events, and adds what they came to.
  void Finish(const Process& process, uint32_t device, results::Heap* out);

 private:
  LiveMemory memory_;
  const std::vector<Interval>& steps_;
  size_t at_ = 0;  // step
  std::map<uint32_t, OpSums> by_op_;
  uint64_t short_lived_ = 0;
  uint64_t step_count_ = 0;
  uint64_t step_bytes_ = 0;
  Totals totals_;
};

void Device::Finish(const Process& process, uint32_t device, results::Heap* out) {
  memory_.Finish();
  for (const MemoryBlock& block : memory_.live_at_peak()) by_op_[block.group].peak += block.size;
  for (const MemoryBlock& block : memory_.live_at_end()) by_op_[block.group].end += block.size;
  results::TensorDevice* row = out->add_tensors();
  SetProcess(process, row);
  row->set_name(DeviceName(device));
  row->set_end_count(memory_.live_at_end().size());
  row->set_short_lived_count(short_lived_);
  for (const auto& [name, op] : by_op_) {
    row->set_count(row->count() + op.count);
    row->set_allocated_bytes(row->allocated_bytes() + op.bytes);
    row->set_peak_bytes(row->peak_bytes() + op.peak);
    row->set_end_bytes(row->end_bytes() + op.end);
  }
  for (const auto& [name, op] : by_op_) {
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
  row->set_peak_time_ns(memory_.peak_time());
  row->set_unmatched_free_count(memory_.unmatched_frees());
  row->set_implied_free_count(memory_.implied_frees());
  if (totals_.allocated > 0) row->set_reported_peak_bytes(totals_.allocated);
  if (totals_.reserved > 0) row->set_reserved_peak_bytes(totals_.reserved);
  if (!steps_.empty()) {
    row->set_count_per_step(Ratio(step_count_, uint64_t{steps_.size()}));
    row->set_allocated_bytes_per_step(Ratio(step_bytes_, uint64_t{steps_.size()}));
  }
  for (size_t i = 0; i < memory_.timeline().size(); ++i) {
    results::TensorPoint* point = out->add_tensor_timeline();
    point->set_pid(process.pid);
    point->set_device(row->name());
    point->set_time_ns(memory_.bucket_start(i));
    point->set_live_bytes(memory_.timeline()[i]);
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

  const std::vector<Interval> steps = context.steps(index).Counted();
  std::map<uint32_t, Device> devices;
  int capture = -1;
  const auto new_capture = [&] {
    for (auto& [number, device] : devices) device.memory().NewCapture();
  };
  MergeByTime(times, [&](size_t track, size_t row) {
    const TensorTable& tensors = process.tracks[track].tensor;
    if (tensors.capture[row] != capture) {
      new_capture();
      capture = tensors.capture[row];
    }
    Device& device = devices.try_emplace(tensors.device[row], process, steps).first->second;
    const int64_t time = tensors.time_ns[row];
    const int64_t bytes = tensors.bytes[row];
    if (bytes >= 0) {
      device.memory().Alloc(time, tensors.address[row], static_cast<uint64_t>(bytes), false,
                            names[track][row]);
    } else {
      device.memory().Free(time, tensors.address[row]);
    }
    device.AddTotals(tensors, row);
  });
  // A capture later than the last row knows nothing of the blocks before it.
  if (process.last_capture() > capture) new_capture();
  const int first_op = out->tensor_ops_size();
  for (auto& [number, device] : devices) device.Finish(process, number, out);
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
