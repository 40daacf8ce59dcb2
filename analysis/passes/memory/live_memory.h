// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live bytes over time from allocations and frees in order of time: total, peak, what was live at
// the peak and at the end. A block is kept while it lives; who wants to know of every block
// watches. For heaps (sampled or exact) and for framework allocators; one object per address space,
// one thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

// An estimate and the sum of the variances of its parts; exact while every weight is 1.
struct Estimate {
  double sum = 0;
  double variance = 0;
  double seen = 0;  // what was recorded itself
  // Half the weight of a part that was not seen: of counts the greatest weight of one that was, of
  // bytes half a period. Weights are heavy, so that the normal interval ends too low where few
  // parts, or none, were seen.
  double heaviest = 0;
  uint64_t value() const;
  uint64_t low() const;  // 95 % confidence; never below what was seen
  // Returns the same bound for the highest of so many estimates. The highest estimate was not taken
  // at random. If the truth does not change, the highest estimate lies above the truth
  // (Bonferroni's bound for all estimates at once).
  uint64_t low_of_highest(uint64_t estimates) const;
  // The upper bound of Fay and Feuer for a weighted sum of Poisson numbers (Confidence
  // intervals for directly standardized rates: a method based on the gamma distribution, Statistics
  // in Medicine 16, 1997, 791-801): as if one part more had been seen, of counts an allocation half
  // as large as the smallest that was. Of bytes of which no sample was taken 3.7 periods.
  uint64_t high() const;
};

// How likely an allocation was to be recorded: each byte is a sampling point with probability 1 /
// period.
class Sampling {
 public:
  explicit Sampling(uint32_t period) : period_(period) {}
  double Probability(uint64_t size, bool sampled) const;
  // Adds a block. An exact recording has millions of blocks, and needs only the sum.
  void AddCount(uint64_t size, bool sampled, Estimate* to) const {
    if (sampled) return AddSampledCount(size, to);
    to->sum += 1;
    to->seen += 1;
  }
  void AddBytes(uint64_t size, bool sampled, Estimate* to) const {
    if (sampled) return AddSampledBytes(size, to);
    to->sum += static_cast<double>(size);
    to->seen += static_cast<double>(size);
  }
  // Returns the estimate of bytes that may have had no sample.
  Estimate NoBytes(bool sampled) const;

 private:
  void AddSampledCount(uint64_t size, Estimate* to) const;
  void AddSampledBytes(uint64_t size, Estimate* to) const;

  double period_;
};

struct MemoryBlock {
  int64_t time_ns;
  uint64_t size;
  uint64_t number;  // how many allocations came before it
  uint32_t group;
  bool sampled;
};

// Hears of each block, in order of the events.
class BlockWatcher {
 public:
  virtual ~BlockWatcher() = default;
  virtual void Allocated(const MemoryBlock& block) = 0;
  // Is not called for blocks that were never seen being freed.
  virtual void Freed(const MemoryBlock& block, int64_t life_ns) = 0;
};

class LiveMemory {
 public:
  // Keeps the live size per bucket of [start, end]. `watcher` may be null, and outlives the events.
  LiveMemory(uint32_t period, int64_t start, int64_t end, size_t buckets, BlockWatcher* watcher);

  // Returns whether a block was live at this address. It counts as freed.
  bool Alloc(int64_t time, uint64_t address, uint64_t size, bool sampled, uint32_t group);
  void Free(int64_t time, uint64_t address);
  // Returns whether a block was live at this address. If none was, nothing is counted.
  bool FreeIfLive(int64_t time, uint64_t address);
  // Says that an event of this address comes soon.
  void Expect(uint64_t address) const { live_at_.Expect(address); }
  // Notes that a free, which an Alloc at a live address implied, has come late.
  void FoundImpliedFree() { --implied_frees_; }
  // Counts the free of a block that had no Alloc.
  void CountUnmatchedFree() { ++unmatched_frees_; }
  // Forgets all earlier blocks, because events between the captures were not recorded.
  void NewCapture();
  // Ends the events. Only then are there the blocks of the peak and of the end.
  void Finish();

  const Sampling& sampling() const { return sampling_; }
  uint64_t allocations() const { return allocations_; }
  // Returns blocks in the order of their allocation.
  const std::vector<MemoryBlock>& live_at_peak() const { return at_peak_; }
  const std::vector<MemoryBlock>& live_at_end() const { return at_end_; }
  int64_t peak_time() const { return peak_time_; }
  uint64_t unmatched_frees() const { return unmatched_frees_; }
  uint64_t implied_frees() const { return implied_frees_; }
  // Returns the highest live size in each bucket.
  const std::vector<uint64_t>& timeline() const { return timeline_; }
  int64_t bucket_start(size_t bucket) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Open addressing, linear probing, no tombstones: address -> index of its live block.
  class AddressMap {
   public:
    AddressMap() : slots_(64) {}
    // Returns the place of the address's index: kNone where the address is new.
    uint32_t* Put(uint64_t address);
    bool Erase(uint64_t address, uint32_t* block);
    void Expect(uint64_t address) const { __builtin_prefetch(&slots_[Home(address)]); }
    void Clear();
    template <typename Visit>
    void Each(const Visit& visit) const {
      for (const Slot& slot : slots_) {
        if (slot.block != kNone) visit(slot.block);
      }
    }

   private:
    // A smaller map has much free room, so that hardly any address meets another.
    static constexpr size_t kLargeMap = 1 << 16;

    struct Slot {
      uint64_t address = 0;
      uint32_t block = kNone;
    };
    size_t Home(uint64_t address) const;
    void Grow();
    std::vector<Slot> slots_;
    size_t used_ = 0;
  };

  uint64_t LiveSize(const MemoryBlock& block) const {  // as estimated
    return block.sampled ? SampledSize(block) : block.size;
  }
  uint64_t SampledSize(const MemoryBlock& block) const;
  uint32_t Place();  // for a new block
  void Release(uint32_t index, int64_t time);
  void KeepForPeak(const MemoryBlock& block) {
    if (block.number < peak_allocations_) at_peak_.push_back(block);
  }
  void Advance(int64_t time) {
    if (time >= bucket_end_) EnterBucket(time);
  }
  void EnterBucket(int64_t time);

  Sampling sampling_;
  BlockWatcher* watcher_;
  std::vector<MemoryBlock> blocks_;  // those that live, and free places
  std::vector<uint32_t> free_places_;
  AddressMap live_at_;
  uint64_t allocations_ = 0;
  uint64_t live_ = 0;
  uint64_t peak_ = 0;
  int64_t peak_time_ = 0;
  uint64_t peak_allocations_ = 0;  // up to the peak
  // Blocks of the latest peak that do not live any more; at last also those that do.
  std::vector<MemoryBlock> at_peak_;
  std::vector<MemoryBlock> at_end_;
  uint64_t unmatched_frees_ = 0;
  uint64_t implied_frees_ = 0;
  int64_t start_;
  int64_t width_;
  size_t bucket_ = 0;
  int64_t bucket_end_;
  std::vector<uint64_t> timeline_;
};

// Keeps the work for one event inline: there are millions of events.

inline size_t LiveMemory::AddressMap::Home(uint64_t address) const {
  return static_cast<size_t>((address >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1);
}

inline uint32_t* LiveMemory::AddressMap::Put(uint64_t address) {
  if (used_ * (slots_.size() < kLargeMap ? 8 : 2) >= slots_.size()) Grow();
  size_t i = Home(address);
  for (; slots_[i].block != kNone; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].address == address) return &slots_[i].block;
  }
  slots_[i].address = address;
  ++used_;
  return &slots_[i].block;
}

inline bool LiveMemory::AddressMap::Erase(uint64_t address, uint32_t* block) {
  const size_t mask = slots_.size() - 1;
  size_t hole = Home(address);
  while (slots_[hole].block != kNone && slots_[hole].address != address) hole = (hole + 1) & mask;
  if (slots_[hole].block == kNone) return false;
  *block = slots_[hole].block;
  // Closes the gap: whoever probed past it moves up.
  for (size_t i = (hole + 1) & mask; slots_[i].block != kNone; i = (i + 1) & mask) {
    const size_t home = Home(slots_[i].address);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = {};
  --used_;
  return true;
}

inline uint32_t LiveMemory::Place() {
  if (free_places_.empty()) {
    blocks_.emplace_back();
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  const uint32_t index = free_places_.back();
  free_places_.pop_back();
  return index;
}

inline void LiveMemory::Release(uint32_t index, int64_t time) {
  const MemoryBlock& block = blocks_[index];
  live_ -= LiveSize(block);
  KeepForPeak(block);
  if (watcher_ != nullptr) watcher_->Freed(block, std::max<int64_t>(time - block.time_ns, 0));
  free_places_.push_back(index);
}

inline bool LiveMemory::Alloc(int64_t time, uint64_t address, uint64_t size, bool sampled,
                              uint32_t group) {
  Advance(time);
  uint32_t* const place = live_at_.Put(address);
  const bool was_live = *place != kNone;
  if (was_live) {
    ++implied_frees_;
    Release(*place, time);
  }
  // Is filled where it stays: to copy a block that was just written makes the processor wait.
  MemoryBlock& block = blocks_[*place = Place()];
  block.time_ns = time;
  block.size = size;
  block.number = allocations_++;
  block.group = group;
  block.sampled = sampled;
  if (watcher_ != nullptr) watcher_->Allocated(block);
  live_ += LiveSize(block);
  timeline_[bucket_] = std::max(timeline_[bucket_], live_);
  if (live_ > peak_) {
    peak_ = live_;
    peak_time_ = time;
    peak_allocations_ = allocations_;
    at_peak_.clear();
  }
  return was_live;
}

inline bool LiveMemory::FreeIfLive(int64_t time, uint64_t address) {
  Advance(time);
  uint32_t index = 0;
  if (!live_at_.Erase(address, &index)) return false;
  Release(index, time);
  return true;
}

}  // namespace gpuprof::analysis
