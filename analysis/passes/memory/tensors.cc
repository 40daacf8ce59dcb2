// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework memory of the pass `heap`: blocks that a framework's allocators handed out, by device
// and by the op that asked. See passes.h.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/module_paths.h"
#include "analysis/model/names.h"
#include "analysis/passes/memory/live_memory.h"
#include "analysis/passes/memory/merge_tracks.h"
#include "analysis/passes/memory/tensor_history.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/op_walk.h"
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
  VisitOpenOps(times, tree, [&](size_t i, const std::vector<uint32_t>& open) {
    names[i] = ops.name[open.back()];
  });
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

// Tells whose a block is: a module's, if the recording has modules, else an operation's.
class Owners {
 public:
  Owners(PassContext& context, size_t index) : process_(context.process(index)) {
    for (const Track& track : process_.tracks) {
      const TensorTable& tensors = track.tensor;
      for (size_t row = 0; row < tensors.rows(); ++row) ++changes_[tensors.device[row]];
    }
    const bool any = std::any_of(
        process_.strings.begin(), process_.strings.end(),
        [](const auto& text) { return std::string_view(text.second).starts_with("nn.Module: "); });
    if (!any) return;
    modules_.emplace(&context.ops(index), /*instances=*/false);
    if (modules_->source() != results::MODULE_SOURCE_MODULES) modules_.reset();
  }

  results::TensorOwnerKind kind() const {
    return modules_ ? results::TENSOR_OWNER_KIND_MODULE : results::TENSOR_OWNER_KIND_OPERATION;
  }
  // Returns how many changes of a device there are.
  uint64_t ChangesOf(uint32_t device) const { return changes_.at(device); }
  uint32_t Of(size_t track, int64_t time_ns, uint32_t op) const {
    return modules_ ? modules_->At(static_cast<uint32_t>(track), time_ns) : op;
  }
  std::string NameOf(uint32_t owner) const {
    if (!modules_) return process_.String(owner);
    const ModulePath& path = modules_->paths()[owner];
    return path.parent == 0 ? path.name : NameOf(path.parent) + "/" + path.name;
  }

 private:
  const Process& process_;
  std::map<uint32_t, uint64_t> changes_;  // by device
  std::optional<ModulePaths> modules_;
};

// Numbers things in the order in which they come.
class Numbers {
 public:
  uint32_t Of(uint64_t thing) {
    const auto [at, is_new] = numbers_.try_emplace(thing, static_cast<uint32_t>(things_.size()));
    if (is_new) things_.push_back(thing);
    return at->second;
  }
  const std::vector<uint64_t>& things() const { return things_; }

 private:
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<uint64_t> things_;
};

// Returns whether the blocks of a device count. Those of the host always do.
bool IsSelected(uint32_t device, const std::vector<uint32_t>& chosen) {
  constexpr uint32_t kHost = 0;
  if (chosen.empty() || proto::DeviceTypeOf(device) == kHost) return true;
  return std::find(chosen.begin(), chosen.end(), proto::DeviceIndexOf(device)) != chosen.end();
}

// The blocks of one device.
class Device : public BlockWatcher {
 public:
  // `owners` may be null: then there is no history.
  Device(uint32_t device, const Process& process, const std::vector<Interval>& steps,
         const Owners* owners)
      : memory_(0, process.first_ns, process.last_ns, kBuckets, this),
        steps_(steps),
        owners_(owners) {
    if (owners != nullptr) history_.emplace(owners->ChangesOf(device));
  }

  LiveMemory& memory() { return memory_; }
  void Alloc(int64_t time_ns, uint64_t address, uint64_t size, uint32_t op, size_t track) {
    const uint32_t owner =
        owners_ == nullptr ? 0 : owner_numbers_.Of(owners_->Of(track, time_ns, op));
    now_ns_ = time_ns;
    memory_.Alloc(time_ns, address, size, false, groups_.Of(uint64_t{owner} << 32 | op));
  }
  void Free(int64_t time_ns, uint64_t address) {
    now_ns_ = time_ns;
    memory_.Free(time_ns, address);
  }
  void NewCapture(int64_t time_ns) {
    memory_.NewCapture();
    if (history_) history_->Restart(time_ns);
  }
  void Allocated(const MemoryBlock& block) override {
    if (history_) history_->Change(now_ns_, OwnerOf(block), static_cast<int64_t>(block.size));
    OpSums& op = by_op_[OpOf(block)];
    ++op.count;
    op.bytes += block.size;
    while (at_ < steps_.size() && steps_[at_].end <= block.time_ns) ++at_;
    if (at_ < steps_.size() && block.time_ns >= steps_[at_].start) {
      ++step_count_;
      step_bytes_ += block.size;
    }
  }
  void Freed(const MemoryBlock& block, int64_t life_ns) override {
    if (history_) history_->Change(now_ns_, OwnerOf(block), -static_cast<int64_t>(block.size));
    if (life_ns <= kShortLivedNs) ++short_lived_;
  }
  void AddTotals(const TensorTable& tensors, size_t row) { totals_.Add(tensors, row); }
  // Ends the events, and adds what they came to.
  void Finish(const Process& process, uint32_t device, results::Heap* out);

 private:
  uint32_t OpOf(const MemoryBlock& block) const {
    return static_cast<uint32_t>(groups_.things()[block.group]);
  }
  uint32_t OwnerOf(const MemoryBlock& block) const {
    return static_cast<uint32_t>(groups_.things()[block.group] >> 32);
  }
  void FinishHistory(const Process& process, const std::string& device, results::Heap* out);

  LiveMemory memory_;
  const std::vector<Interval>& steps_;
  const Owners* owners_;
  std::optional<TensorHistory> history_;
  Numbers groups_;  // operation, and above it the number of the owner
  Numbers owner_numbers_;
  int64_t now_ns_ = 0;
  size_t at_ = 0;  // step
  std::map<uint32_t, OpSums> by_op_;
  uint64_t short_lived_ = 0;
  uint64_t step_count_ = 0;
  uint64_t step_bytes_ = 0;
  Totals totals_;
};

void Device::FinishHistory(const Process& process, const std::string& device, results::Heap* out) {
  results::TensorHistory* row = out->add_tensor_histories();
  row->set_pid(process.pid);
  row->set_host(process.host);
  row->set_device(device);
  row->set_by(owners_->kind());
  std::vector<std::string> names;
  for (const uint64_t owner : owner_numbers_.things()) {
    if (names.size() == TensorHistory::kMostOwners) break;
    names.push_back(owner == 0 ? "" : owners_->NameOf(static_cast<uint32_t>(owner)));
  }
  history_->Finish(names, row);
}

void Device::Finish(const Process& process, uint32_t device, results::Heap* out) {
  memory_.Finish();
  for (const MemoryBlock& block : memory_.live_at_peak()) by_op_[OpOf(block)].peak += block.size;
  for (const MemoryBlock& block : memory_.live_at_end()) by_op_[OpOf(block)].end += block.size;
  results::TensorDevice* row = out->add_tensors();
  SetProcess(process, row);
  row->set_name(DeviceName(process, device));
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
  if (history_) FinishHistory(process, row->name(), out);
}

void Compute(PassContext& context, size_t index, bool with_history, results::Heap* out) {
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
  std::unique_ptr<Owners> owners;
  if (with_history) owners = std::make_unique<Owners>(context, index);

  const std::vector<Interval> steps = context.steps(index).Counted();
  std::map<uint32_t, Device> devices;
  int capture = -1;
  const auto new_capture = [&](int64_t time_ns) {
    for (auto& [number, device] : devices) device.NewCapture(time_ns);
  };
  MergeByTime(times, [&](size_t track, size_t row) {
    const TensorTable& tensors = process.tracks[track].tensor;
    if (tensors.capture[row] != capture) {
      new_capture(tensors.time_ns[row]);
      capture = tensors.capture[row];
    }
    const uint32_t number = tensors.device[row];
    Device& device =
        devices.try_emplace(number, number, process, steps, owners.get()).first->second;
    const int64_t time = tensors.time_ns[row];
    const int64_t bytes = tensors.bytes[row];
    if (bytes >= 0) {
      device.Alloc(time, tensors.address[row], static_cast<uint64_t>(bytes), names[track][row],
                   track);
    } else {
      device.Free(time, tensors.address[row]);
    }
    device.AddTotals(tensors, row);
  });
  // A capture later than the last row knows nothing of the blocks before it.
  if (process.last_capture() > capture)
    new_capture(process.captures.empty() ? process.last_ns : process.captures.back().start_ns);
  const int first_op = out->tensor_ops_size();
  for (auto& [number, device] : devices) {
    if (IsSelected(number, context.options().devices)) device.Finish(process, number, out);
  }
  std::stable_sort(out->mutable_tensor_ops()->begin() + first_op, out->mutable_tensor_ops()->end(),
                   [](const results::TensorOp& a, const results::TensorOp& b) {
                     if (a.peak_bytes() != b.peak_bytes()) return a.peak_bytes() > b.peak_bytes();
                     if (a.allocated_bytes() != b.allocated_bytes()) {
                       return a.allocated_bytes() > b.allocated_bytes();
                     }
                     return a.name() < b.name();
                   });
}

}  // namespace

void ComputeTensors(PassContext& context, size_t index, results::Heap* out) {
  Compute(context, index, false, out);
}

void ComputeTensorHistories(PassContext& context, size_t index, results::Heap* out) {
  Compute(context, index, true, out);
}

}  // namespace gpuprof::analysis
