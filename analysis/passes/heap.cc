// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `heap`: the C and C++ heap by call stack, sampled or exact. Framework memory is in
// tensors.cc. See passes.h.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/host/by_stack.h"
#include "analysis/passes/host/call_stacks.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/passes/memory/follow_heap.h"
#include "analysis/passes/memory/tensor_history.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/heap.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kShortLivedNs = 10'000'000;

// How many blocks that are no samples, and their bytes.
struct Exact {
  uint64_t count = 0;
  uint64_t bytes = 0;

  void Add(uint64_t size) {
    ++count;
    bytes += size;
  }
  void Add(const Exact& other) {
    count += other.count;
    bytes += other.bytes;
  }
};

// The same of samples.
struct Sampled {
  Estimate count, bytes;

  void Add(const Sampling& sampling, uint64_t size) {
    sampling.AddCount(size, true, &count);
    sampling.AddBytes(size, true, &bytes);
  }
};

enum Amount { kAllocated, kBrief, kPeak, kEnd, kAmounts };

// The sums of some blocks. There are millions of exact blocks, so what they touch is small and
// comes first.
class Sums {
 public:
  void Add(Amount amount, const Sampling& sampling, const MemoryBlock& block) {
    if (block.sampled) return AddSample(amount, sampling, block.size);
    exact_[amount].Add(block.size);
  }
  void AddLife(int64_t life_ns) {
    life_ns_ += life_ns;
    ++freed_;
  }
  // Takes in what `other` knows of blocks that are no samples.
  void AddExact(const Sums& other) {
    for (int i = 0; i < kAmounts; ++i) exact_[i].Add(other.exact_[i]);
  }
  // Says that samples of these bytes may have been missed.
  void ExpectSamples(Amount amount, const Estimate& no_bytes) {
    MakeSampled()[amount].bytes = no_bytes;
  }

  Estimate count(Amount amount) const {
    return With(exact_[amount].count, sampled_ == nullptr ? Estimate() : (*sampled_)[amount].count);
  }
  Estimate bytes(Amount amount) const {
    return With(exact_[amount].bytes, sampled_ == nullptr ? Estimate() : (*sampled_)[amount].bytes);
  }
  uint64_t recorded() const { return samples_ + exact_[kAllocated].count; }
  int64_t mean_life_ns() const { return freed_ == 0 ? 0 : life_ns_ / static_cast<int64_t>(freed_); }

 private:
  using OfSamples = std::array<Sampled, kAmounts>;

  // Apart, so that the way of the exact blocks stays short.
  [[gnu::noinline]] void AddSample(Amount amount, const Sampling& sampling, uint64_t size) {
    samples_ += amount == kAllocated;
    MakeSampled()[amount].Add(sampling, size);
  }
  OfSamples& MakeSampled() {
    if (sampled_ == nullptr) sampled_ = std::make_unique<OfSamples>();
    return *sampled_;
  }
  static Estimate With(uint64_t exact, Estimate sampled) {
    sampled.sum += static_cast<double>(exact);
    sampled.seen += static_cast<double>(exact);
    return sampled;
  }

  std::array<Exact, kAmounts> exact_;
  int64_t life_ns_ = 0;
  uint64_t freed_ = 0;
  uint64_t samples_ = 0;
  std::unique_ptr<OfSamples> sampled_;  // null: there are none
};

constexpr int kSizeClasses = 65;

// What was allocated within the steps, by any thread of the process.
class StepSums {
 public:
  explicit StepSums(std::vector<Interval> steps) : steps_(std::move(steps)) {}

  // Blocks come in order of their times.
  void Add(const Sampling& sampling, const MemoryBlock& block) {
    while (at_ < steps_.size() && steps_[at_].end <= block.time_ns) ++at_;
    if (at_ == steps_.size() || block.time_ns < steps_[at_].start) return;
    sums_.Add(kAllocated, sampling, block);
  }
  void Fill(results::HeapProcess* row) const {
    if (steps_.empty()) return;
    const auto steps = static_cast<double>(steps_.size());
    row->set_count_per_step(sums_.count(kAllocated).sum / steps);
    row->set_allocated_bytes_per_step(sums_.bytes(kAllocated).sum / steps);
  }

 private:
  std::vector<Interval> steps_;
  size_t at_ = 0;
  Sums sums_;
};

// Adds up the blocks of a process while its heap is followed.
class HeapSums : public BlockWatcher {
 public:
  HeapSums(const Process& process, std::vector<Interval> steps)
      : sampling_(process.heap_period), steps_(std::move(steps)) {
    const bool is_sampled = process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kSampled);
    if (!is_sampled) return;
    for (const Amount amount : {kAllocated, kPeak, kEnd})
      all_.ExpectSamples(amount, sampling_.NoBytes(true));
  }

  void Allocated(const MemoryBlock& block) override {
    Add(kAllocated, block, &stacks_[block.group]);
    steps_.Add(sampling_, block);
  }
  void Freed(const MemoryBlock& block, int64_t life_ns) override {
    Sums& stack = stacks_[block.group];
    stack.AddLife(life_ns);
    if (life_ns <= kShortLivedNs) Add(kBrief, block, &stack);
  }
  // Ends what was followed.
  void Finish(const LiveMemory& memory) {
    for (const MemoryBlock& block : memory.live_at_peak()) Add(kPeak, block, &stacks_[block.group]);
    for (const MemoryBlock& block : memory.live_at_end()) Add(kEnd, block, &stacks_[block.group]);
    for (const auto& [stack, sums] : stacks_.values()) all_.AddExact(sums);
  }

  const Sums& all() const { return all_; }
  const std::unordered_map<uint32_t, Sums>& stacks() const { return stacks_.values(); }
  const std::array<Sums, kSizeClasses>& sizes() const { return sizes_; }
  const StepSums& steps() const { return steps_; }

 private:
  void Add(Amount amount, const MemoryBlock& block, Sums* stack) {
    stack->Add(amount, sampling_, block);
    sizes_[static_cast<size_t>(std::bit_width(block.size))].Add(amount, sampling_, block);
    if (block.sampled) all_.Add(amount, sampling_, block);
  }

  Sampling sampling_;
  Sums all_;  // until the end without exact blocks: those are in the stacks' sums
  ByStack<Sums> stacks_;
  std::array<Sums, kSizeClasses> sizes_;
  StepSums steps_;
};

// A process's row or a stack's.
template <typename Row>
void FillAllocated(const Sums& sums, Row* row) {
  const Estimate count = sums.count(kAllocated);
  const Estimate bytes = sums.bytes(kAllocated);
  row->set_count(count.value());
  row->set_count_low(count.low());
  row->set_count_high(count.high());
  row->set_allocated_bytes(bytes.value());
  row->set_allocated_low_bytes(bytes.low());
  row->set_allocated_high_bytes(bytes.high());
}

void FillProcess(const Sums& sums, const LiveMemory& memory, results::HeapProcess* row) {
  const Estimate peak = sums.bytes(kPeak);
  const Estimate end = sums.bytes(kEnd);
  row->set_sample_count(sums.recorded());
  FillAllocated(sums, row);
  row->set_peak_bytes(peak.value());
  // What is live rises with each sample: any of them might have been the peak.
  row->set_peak_low_bytes(peak.low_of_highest(sums.recorded()));
  row->set_peak_high_bytes(peak.high());
  row->set_peak_time_ns(memory.peak_time());
  row->set_end_bytes(end.value());
  row->set_end_low_bytes(end.low());
  row->set_end_high_bytes(end.high());
  row->set_end_count(sums.count(kEnd).value());
  row->set_short_lived_count(sums.count(kBrief).value());
  row->set_short_lived_bytes(sums.bytes(kBrief).value());
  row->set_unmatched_free_count(memory.unmatched_frees());
  row->set_implied_free_count(memory.implied_frees());
}

// Any of the records that were lost may have been an allocation, of any size.
void WidenByLosses(const Process& process, results::HeapProcess* row) {
  uint64_t lost = 0;
  for (const auto& [kind, count] : LossesOf(process)) {
    if (kind == proto::LOSS_RING_FULL || kind == proto::LOSS_NO_RING ||
        kind == proto::LOSS_REENTERED || kind == proto::LOSS_WRITE_ERROR ||
        kind == proto::LOSS_CORRUPT_RECORD || kind == proto::LOSS_THREAD_EDGE) {
      lost += count;
    }
  }
  row->set_lost_count(lost);
  if (process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kExact)) {
    row->set_count_high(row->count_high() + lost);
  }
}

void AddStack(const Process& process, uint32_t stack, const Sums& sums, uint64_t peak,
              results::Heap* out) {
  results::HeapStack* row = out->add_stacks();
  SetProcess(process, row);
  row->set_stack_id(stack);
  FillAllocated(sums, row);
  row->set_peak_bytes(sums.bytes(kPeak).value());
  row->set_peak_ratio(Ratio(sums.bytes(kPeak).value(), peak));
  row->set_end_bytes(sums.bytes(kEnd).value());
  row->set_end_count(sums.count(kEnd).value());
  row->set_short_lived_count(sums.count(kBrief).value());
  row->set_sample_count(sums.recorded());
  row->set_mean_life_ns(sums.mean_life_ns());
}

void AddSizes(const std::array<Sums, kSizeClasses>& sizes, results::Heap* out) {
  for (int i = 0; i < kSizeClasses; ++i) {
    const Sums& sums = sizes[static_cast<size_t>(i)];
    if (sums.recorded() == 0) continue;
    results::HeapSize* row = out->add_sizes();
    row->set_low_bytes(i == 0 ? 0 : uint64_t{1} << (i - 1));
    row->set_high_bytes(i == 0 ? 0 : row->low_bytes() * 2 - 1);
    row->set_count(sums.count(kAllocated).value());
    row->set_allocated_bytes(sums.bytes(kAllocated).value());
    row->set_short_lived_count(sums.count(kBrief).value());
    row->set_sample_count(sums.recorded());
  }
}

// Sizes of several processes become one histogram.
void MergeSizes(results::Heap* out) {
  std::map<uint64_t, results::HeapSize> merged;
  for (const results::HeapSize& size : out->sizes()) {
    results::HeapSize& sum = merged[size.low_bytes()];
    sum.set_low_bytes(size.low_bytes());
    sum.set_high_bytes(size.high_bytes());
    sum.set_count(sum.count() + size.count());
    sum.set_allocated_bytes(sum.allocated_bytes() + size.allocated_bytes());
    sum.set_short_lived_count(sum.short_lived_count() + size.short_lived_count());
    sum.set_sample_count(sum.sample_count() + size.sample_count());
  }
  out->clear_sizes();
  for (const auto& [low, size] : merged) *out->add_sizes() = size;
}

void FillConfidence(const PassContext& context, const results::Heap& heap,
                    results::Confidence* confidence) {
  context.FillCountConfidence(heap.meta(), confidence);
  uint64_t samples = 0;
  bool sampled = false;
  for (const results::HeapProcess& process : heap.processes()) {
    if (process.mode() != results::HEAP_MODE_SAMPLED) continue;
    sampled = true;
    samples += process.sample_count();
  }
  if (sampled) LimitToSamples(samples, confidence);
  context.LimitToWindow(confidence);
}

}  // namespace

void ComputeHeap(PassContext& context, size_t index, results::Heap* out) {
  const Process& process = context.process(index);
  out->set_short_lived_ns(kShortLivedNs);
  const auto has_rows = [](const Track& track) { return track.heap.rows() > 0; };
  if (std::none_of(process.tracks.begin(), process.tracks.end(), has_rows)) return;
  const bool has_steps = context.steps(index).found();
  HeapSums sums(process, has_steps ? context.steps(index).Counted() : std::vector<Interval>());
  const LiveMemory memory = FollowHeap(process, &sums);
  if (memory.allocations() == 0 && memory.unmatched_frees() == 0) return;
  sums.Finish(memory);

  results::HeapProcess* row = out->add_processes();
  SetProcess(process, row);
  row->set_name(ProcessName(process));
  if (results::HeapMode_IsValid(static_cast<int>(process.heap_mode)))
    row->set_mode(static_cast<results::HeapMode>(process.heap_mode));
  row->set_period_bytes(process.heap_mode == 1 ? process.heap_period : 0);
  const Sums& all = sums.all();
  FillProcess(all, memory, row);
  WidenByLosses(process, row);
  const double seconds = static_cast<double>(CapturedTime(process)) * 1e-9;
  row->set_count_per_s(Ratio(all.count(kAllocated).sum, seconds));
  row->set_allocated_bytes_per_s(Ratio(all.bytes(kAllocated).sum, seconds));
  sums.steps().Fill(row);

  const uint64_t peak = all.bytes(kPeak).value();
  for (const auto& [stack, of_stack] : sums.stacks()) AddStack(process, stack, of_stack, peak, out);
  AddSizes(sums.sizes(), out);
  for (size_t i = 0; i < memory.timeline().size(); ++i) {
    results::HeapPoint* point = out->add_timeline();
    point->set_pid(process.pid);
    point->set_time_ns(memory.bucket_start(i));
    point->set_live_bytes(memory.timeline()[i]);
  }
}

namespace {

template <typename Row>
void NameStack(size_t process, Row* stack, CallStackTable* table) {
  stack->set_call_stack(table->Add(process, stack->stack_id()));
  if (stack->call_stack() != 0) {
    stack->set_name(AllocationSite(FramesOf(table->stacks(), stack->call_stack())));
  } else {
    stack->set_name(stack->stack_id() == 1 ? "(stack table full)" : "(no stack)");
  }
}

}  // namespace

void NameHeapStack(size_t process, results::HeapStack* stack, CallStackTable* table) {
  NameStack(process, stack, table);
}

namespace {

// A row and the process it is of: a process id may come again.
template <typename Stack>
using RowOf = std::pair<Stack, size_t>;

template <typename Stack>
void TakeRows(google::protobuf::RepeatedPtrField<Stack>* rows, size_t index,
              std::vector<RowOf<Stack>>* all) {
  for (Stack& row : *rows) all->emplace_back(std::move(row), index);
  rows->Clear();
}

// In order, with names as far down as they will be looked at.
template <typename Stack, typename Before>
void PutRows(uint32_t named, std::vector<RowOf<Stack>>* all, Before before, CallStackTable* table,
             google::protobuf::RepeatedPtrField<Stack>* rows) {
  std::stable_sort(all->begin(), all->end(), [&](const RowOf<Stack>& a, const RowOf<Stack>& b) {
    return before(a.first, b.first);
  });
  for (size_t i = 0; i < all->size(); ++i) {
    auto& [row, index] = (*all)[i];
    if (named == 0 || i < named) NameStack(index, &row, table);
    *rows->Add() = std::move(row);
  }
}

bool Before(const results::HeapStack& a, const results::HeapStack& b) {
  if (a.peak_bytes() != b.peak_bytes()) return a.peak_bytes() > b.peak_bytes();
  if (a.allocated_bytes() != b.allocated_bytes()) return a.allocated_bytes() > b.allocated_bytes();
  return std::make_pair(a.pid(), a.stack_id()) < std::make_pair(b.pid(), b.stack_id());
}

bool MappingBefore(const results::MappingStack& a, const results::MappingStack& b) {
  if (a.peak_bytes() != b.peak_bytes()) return a.peak_bytes() > b.peak_bytes();
  if (a.mapped_bytes() != b.mapped_bytes()) return a.mapped_bytes() > b.mapped_bytes();
  return std::make_tuple(a.pid(), a.stack_id(), a.kind()) <
         std::make_tuple(b.pid(), b.stack_id(), b.kind());
}

// A short program may end before stacks could be taken at all.
void NoteEarlyEvents(const Process& process, results::Meta* meta) {
  constexpr uint64_t kToldOneIn = 20;
  constexpr size_t kAtOnce = 1024;
  uint64_t early = 0;
  uint64_t all = 0;
  uint32_t operations[kAtOnce];
  for (const Track& track : process.tracks) {
    const size_t rows = track.heap.rows();
    for (size_t row = 0; row < rows; row += kAtOnce) {
      const size_t count = std::min(kAtOnce, rows - row);
      track.heap.operation.Copy(row, count, operations);
      for (size_t i = 0; i < count; ++i) {
        const bool is_alloc = !proto::HeapIsFree(operations[i]);
        const bool no_unwinder = (proto::FlagsOf(operations[i]) & proto::kFlagNoUnwinder) != 0;
        all += is_alloc;
        early += is_alloc && no_unwinder;
      }
    }
  }
  if (early == 0 || early * kToldOneIn < all) return;
  const bool is_sampled = process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kSampled);
  meta->add_notes(
      "pid " + std::to_string(process.pid) + ": " + std::to_string(early) + " of " +
      std::to_string(all) + (is_sampled ? " samples" : " allocations") +
      " have no stack, because the recorder was not ready to take one yet" +
      (is_sampled ? "; with --trace heap=exact it is ready before the program begins" : ""));
}

}  // namespace

Error RunHeap(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Heap>();
  std::vector<RowOf<results::HeapStack>> stacks;
  std::vector<RowOf<results::MappingStack>> mappings;
  for (const size_t index : context.selected()) {
    ComputeHeap(context, index, out.get());
    TakeRows(out->mutable_stacks(), index, &stacks);
    ComputeTensorHistories(context, index, out.get());
    ComputeMappings(context, index, out.get());
    TakeRows(out->mutable_mapping_stacks(), index, &mappings);
  }
  MergeSizes(out.get());
  CallStackTable table(&context, out->mutable_call_stacks());
  const uint32_t named = context.options().named_rows;
  PutRows(named, &stacks, Before, &table, out->mutable_stacks());
  PutRows(named, &mappings, MappingBefore, &table, out->mutable_mapping_stacks());
  context.FillMeta("heap", out->mutable_meta());
  for (const size_t index : context.selected())
    NoteEarlyEvents(context.process(index), out->mutable_meta());
  FillConfidence(context, *out, out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
