// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See follow_heap.h.

#include "analysis/passes/memory/follow_heap.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/passes/memory/heap_order.h"
#include "analysis/passes/memory/merge_tracks.h"

namespace gpuprof::analysis {

namespace {

// A part of one track's rows, copied out of its columns. Reading row by row takes longer than all
// the rest.
class HeapRows {
 public:
  explicit HeapRows(const HeapTable& table) : table_(table) {}

  struct Row {
    int64_t time_ns;
    uint64_t address;
    uint64_t size;
    uint32_t operation;
    uint32_t stack;
    int capture;
  };
  Row At(size_t row) {
    if (row - first_ >= count_) [[unlikely]]
      Load(row);
    const size_t i = row - first_;
    return {time_ns_[i], address_[i], size_[i], operation_[i], stack_[i], capture_[i]};
  }
  // Returns the address of a row some way behind this one.
  uint64_t AddressAhead(size_t row) const {
    constexpr size_t kAhead = 12;
    return address_[std::min(row - first_ + kAhead, count_ - 1)];
  }

 private:
  static constexpr size_t kAtOnce = 256;

  void Load(size_t row) {
    first_ = row;
    count_ = std::min(kAtOnce, table_.rows() - row);
    table_.time_ns.Copy(row, count_, time_ns_);
    table_.address.Copy(row, count_, address_);
    table_.size.Copy(row, count_, size_);
    table_.operation.Copy(row, count_, operation_);
    table_.stack.Copy(row, count_, stack_);
    table_.capture.Copy(row, count_, capture_);
  }

  const HeapTable& table_;
  size_t first_ = 0;
  size_t count_ = 0;
  int64_t time_ns_[kAtOnce];
  uint64_t address_[kAtOnce];
  uint64_t size_[kAtOnce];
  uint32_t operation_[kAtOnce];
  uint32_t stack_[kAtOnce];
  uint16_t capture_[kAtOnce];
};

}  // namespace

LiveMemory FollowHeap(const Process& process, BlockWatcher* watcher) {
  LiveMemory memory(process.heap_period, process.first_ns, process.last_ns, kHeapPoints, watcher);
  std::vector<const Column<int64_t>*> times;
  std::vector<std::unique_ptr<HeapRows>> tracks;
  for (const Track& track : process.tracks) {
    times.push_back(&track.heap.time_ns);
    tracks.push_back(track.heap.rows() == 0 ? nullptr : std::make_unique<HeapRows>(track.heap));
  }
  HeapOrder order(&memory, static_cast<int64_t>(process.health.coarse_step_ns()));
  int capture = -1;
  MergeRunsByTime(times, [&](size_t track, size_t first, size_t end) {
    HeapRows& rows = *tracks[track];
    for (size_t number = first; number < end; ++number) {
      const HeapRows::Row row = rows.At(number);
      memory.Expect(rows.AddressAhead(number));
      if (row.capture != capture) {
        order.Flush();
        if (capture >= 0) memory.NewCapture();
        capture = row.capture;
      }
      const uint32_t flags = proto::FlagsOf(row.operation);
      const HeapOrder::Event event{track, row.time_ns, row.address,
                                   (flags & proto::kFlagCoarseTime) != 0};
      if (proto::HeapIsFree(row.operation)) {
        order.Free(event);
      } else {
        order.Alloc(event, row.size, (flags & proto::kFlagSampled) != 0, row.stack);
      }
    }
  });
  order.Flush();
  // A capture later than the last row knows nothing of the blocks before it.
  if (capture >= 0 && process.last_capture() > capture) memory.NewCapture();
  memory.Finish();
  return memory;
}

void LimitToSamples(uint64_t samples, results::Confidence* confidence) {
  if (confidence->level() <= results::LEVEL_LOW) return;
  const results::Level most = samples >= 1000  ? results::LEVEL_HIGH
                              : samples >= 100 ? results::LEVEL_MEDIUM
                                               : results::LEVEL_LOW;
  confidence->set_level(std::min(confidence->level(), most));
  confidence->set_reason(std::to_string(samples) +
                         " sampled allocations; the bounds hold with 95 % confidence");
}

}  // namespace gpuprof::analysis
