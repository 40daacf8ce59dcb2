// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live bytes over time from allocations and frees in order of time: total, peak, what was live at
// the peak, what lived shortly. For heaps (sampled or exact) and for framework allocators; one
// object per address space, one thread.

#pragma once

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
  void AddCount(uint64_t size, bool sampled, Estimate* to) const;
  void AddBytes(uint64_t size, bool sampled, Estimate* to) const;
  // Returns the estimate of bytes that may have had no sample.
  Estimate NoBytes(bool sampled) const;

 private:
  double period_;
};

class LiveMemory {
 public:
  static constexpr uint32_t kNever = 0xffffffffu;
  struct Block {
    int64_t time_ns;
    int64_t life_ns;  // -1: not seen being freed
    uint64_t size;
    uint32_t group;
    uint32_t freed;  // how many frees came before its own; kNever
    bool sampled;
  };

  // Keeps the live size per bucket of [start, end].
  LiveMemory(uint32_t period, int64_t start, int64_t end, size_t buckets);

  void Alloc(int64_t time, uint64_t address, uint64_t size, bool sampled, uint32_t group);
  void Free(int64_t time, uint64_t address);
  bool IsLive(uint64_t address) { return live_at_.Find(address) != nullptr; }
  // Notes that a free, which an Alloc at a live address implied, has come late.
  void FoundImpliedFree() { --implied_frees_; }
  // Counts the free of a block that had no Alloc.
  void CountUnmatchedFree() { ++unmatched_frees_; }
  // Forgets all earlier blocks, because events between the captures were not recorded.
  void NewCapture();
  void Finish();

  const Sampling& sampling() const { return sampling_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  bool LiveAtPeak(size_t block) const;
  bool LiveAtEnd(size_t block) const;
  int64_t peak_time() const { return peak_time_; }
  uint64_t unmatched_frees() const { return unmatched_frees_; }
  uint64_t implied_frees() const { return implied_frees_; }
  // Returns the highest live size in each bucket.
  const std::vector<uint64_t>& timeline() const { return timeline_; }
  int64_t bucket_start(size_t bucket) const;

 private:
  // Open addressing, linear probing, no tombstones: address -> index of its live block.
  class AddressMap {
   public:
    AddressMap() : slots_(64) {}
    uint32_t* Find(uint64_t address);
    void Insert(uint64_t address, uint32_t block);
    bool Erase(uint64_t address, uint32_t* block);
    void Clear();

   private:
    struct Slot {
      uint64_t address = 0;
      uint32_t block = kNever;
    };
    size_t Home(uint64_t address) const;
    void Grow();
    std::vector<Slot> slots_;
    size_t used_ = 0;
  };

  uint64_t LiveSize(const Block& block) const;  // as estimated
  void Release(uint32_t index, int64_t time);
  void Advance(int64_t time);

  Sampling sampling_;
  std::vector<Block> blocks_;
  AddressMap live_at_;
  uint64_t live_ = 0;
  uint64_t peak_ = 0;
  int64_t peak_time_ = 0;
  size_t peak_blocks_ = 0;
  uint32_t peak_frees_ = 0;
  size_t peak_capture_ = 0;
  size_t capture_ = 0;  // first block of the capture
  uint32_t frees_ = 0;
  uint64_t unmatched_frees_ = 0;
  uint64_t implied_frees_ = 0;
  int64_t start_;
  int64_t width_;
  size_t bucket_ = 0;
  std::vector<uint64_t> timeline_;
};

}  // namespace gpuprof::analysis
