// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `heap`: the C and C++ heap by call stack, sampled or exact. Framework memory is in
// tensors.cc. See passes.h.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/call_stacks.h"
#include "analysis/passes/follow_heap.h"
#include "analysis/passes/passes.h"
#include "analysis/render/stack_frames.h"
#include "analysis/steps/statistics.h"
#include "proto/results/heap.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kShortLivedNs = 10'000'000;
constexpr int kSizeClasses = 65;

struct Sums {
  Estimate count, bytes, peak, end, end_count, brief_count, brief_bytes;
  uint64_t samples = 0;
  int64_t life_ns = 0;
  uint64_t freed = 0;

  void Add(const LiveMemory& memory, size_t index) {
    const LiveMemory::Block& block = memory.blocks()[index];
    const Sampling& sampling = memory.sampling();
    ++samples;
    sampling.AddCount(block.size, block.sampled, &count);
    sampling.AddBytes(block.size, block.sampled, &bytes);
    if (memory.LiveAtPeak(index)) sampling.AddBytes(block.size, block.sampled, &peak);
    if (memory.LiveAtEnd(index)) {
      sampling.AddBytes(block.size, block.sampled, &end);
      sampling.AddCount(block.size, block.sampled, &end_count);
    }
    if (block.life_ns < 0) return;
    life_ns += block.life_ns;
    ++freed;
    if (block.life_ns > kShortLivedNs) return;
    sampling.AddCount(block.size, block.sampled, &brief_count);
    sampling.AddBytes(block.size, block.sampled, &brief_bytes);
  }
};

// A process's row or a stack's.
template <typename Row>
void FillAllocated(const Sums& sums, Row* row) {
  row->set_count(sums.count.value());
  row->set_count_low(sums.count.low());
  row->set_count_high(sums.count.high());
  row->set_allocated_bytes(sums.bytes.value());
  row->set_allocated_low_bytes(sums.bytes.low());
  row->set_allocated_high_bytes(sums.bytes.high());
}

void FillProcess(const Sums& sums, const LiveMemory& memory, results::HeapProcess* row) {
  row->set_sample_count(sums.samples);
  FillAllocated(sums, row);
  row->set_peak_bytes(sums.peak.value());
  // What is live rises with each sample: any of them might have been the peak.
  row->set_peak_low_bytes(sums.peak.low_of_highest(sums.samples));
  row->set_peak_high_bytes(sums.peak.high());
  row->set_peak_time_ns(memory.peak_time());
  row->set_end_bytes(sums.end.value());
  row->set_end_low_bytes(sums.end.low());
  row->set_end_high_bytes(sums.end.high());
  row->set_end_count(sums.end_count.value());
  row->set_short_lived_count(sums.brief_count.value());
  row->set_short_lived_bytes(sums.brief_bytes.value());
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

// What was allocated within the steps, by any thread of the process.
void FillPerStep(const StepAnalysis& steps, const LiveMemory& memory, results::HeapProcess* row) {
  const std::vector<Interval> spans = steps.Counted();
  if (spans.empty()) return;
  Estimate count, bytes;
  size_t at = 0;
  for (const LiveMemory::Block& block : memory.blocks()) {
    while (at < spans.size() && spans[at].end <= block.time_ns) ++at;
    if (at == spans.size()) break;
    if (block.time_ns < spans[at].start) continue;
    memory.sampling().AddCount(block.size, block.sampled, &count);
    memory.sampling().AddBytes(block.size, block.sampled, &bytes);
  }
  row->set_count_per_step(count.sum / static_cast<double>(spans.size()));
  row->set_allocated_bytes_per_step(bytes.sum / static_cast<double>(spans.size()));
}

void AddStack(const Process& process, uint32_t stack, const Sums& sums, uint64_t peak,
              results::Heap* out) {
  results::HeapStack* row = out->add_stacks();
  SetProcess(process, row);
  row->set_stack_id(stack);
  FillAllocated(sums, row);
  row->set_peak_bytes(sums.peak.value());
  row->set_peak_ratio(Ratio(sums.peak.value(), peak));
  row->set_end_bytes(sums.end.value());
  row->set_end_count(sums.end_count.value());
  row->set_short_lived_count(sums.brief_count.value());
  row->set_sample_count(sums.samples);
  row->set_mean_life_ns(sums.freed == 0 ? 0 : sums.life_ns / static_cast<int64_t>(sums.freed));
}

void AddSizes(const std::array<Sums, kSizeClasses>& sizes, results::Heap* out) {
  for (int i = 0; i < kSizeClasses; ++i) {
    const Sums& sums = sizes[static_cast<size_t>(i)];
    if (sums.samples == 0) continue;
    results::HeapSize* row = out->add_sizes();
    row->set_low_bytes(i == 0 ? 0 : uint64_t{1} << (i - 1));
    row->set_high_bytes(i == 0 ? 0 : row->low_bytes() * 2 - 1);
    row->set_count(sums.count.value());
    row->set_allocated_bytes(sums.bytes.value());
    row->set_short_lived_count(sums.brief_count.value());
    row->set_sample_count(sums.samples);
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
    if (process.mode() != "sampled") continue;
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
  const LiveMemory memory = FollowHeap(process);
  if (memory.blocks().empty() && memory.unmatched_frees() == 0) return;

  Sums all;
  const bool is_sampled = process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kSampled);
  all.bytes = all.peak = all.end = memory.sampling().NoBytes(is_sampled);
  std::unordered_map<uint32_t, Sums> stacks;
  std::array<Sums, kSizeClasses> sizes;
  for (size_t i = 0; i < memory.blocks().size(); ++i) {
    all.Add(memory, i);
    stacks[memory.blocks()[i].group].Add(memory, i);
    sizes[static_cast<size_t>(std::bit_width(memory.blocks()[i].size))].Add(memory, i);
  }
  results::HeapProcess* row = out->add_processes();
  SetProcess(process, row);
  row->set_name(ProcessName(process));
  row->set_mode(std::string(HeapModeName(process.heap_mode)));
  row->set_period_bytes(process.heap_mode == 1 ? process.heap_period : 0);
  FillProcess(all, memory, row);
  WidenByLosses(process, row);
  const double seconds = static_cast<double>(CapturedTime(process)) * 1e-9;
  row->set_count_per_s(Ratio(all.count.sum, seconds));
  row->set_allocated_bytes_per_s(Ratio(all.bytes.sum, seconds));
  if (context.steps(index).found()) FillPerStep(context.steps(index), memory, row);

  for (const auto& [stack, sums] : stacks) {
    AddStack(process, stack, sums, all.peak.value(), out);
  }
  AddSizes(sizes, out);
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
  std::sort(all->begin(), all->end(),
            [&](const RowOf<Stack>& a, const RowOf<Stack>& b) { return before(a.first, b.first); });
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
  uint64_t early = 0;
  uint64_t all = 0;
  for (const Track& track : process.tracks) {
    for (const uint32_t operation : track.heap.operation) {
      if (proto::HeapIsFree(operation)) continue;
      ++all;
      if ((proto::FlagsOf(operation) & proto::kFlagNoUnwinder) != 0) ++early;
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
    ComputeTensors(context, index, out.get());
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
