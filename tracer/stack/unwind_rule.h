// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How to step from a frame to its caller, for one code address, in 30 bits; and the process-wide
// cache of such rules.
//
// The cache is a flat table of single atomic words: looked up and filled in hook context by any
// number of threads without a lock, correct after fork as it is. A lost insertion is only read from
// the tables again. One table serves all threads.

#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

namespace gpuprof::tracer {

enum class RuleKind : uint32_t {
  kUnknown = 0,
  kFromSp = 1,     // canonical frame address = sp + cfa_offset
  kFromFp = 2,     // = fp + cfa_offset
  kRealigned = 3,  // = the word at fp + cfa_offset; the caller's fp is at fp + 0
  kSignal = 4,     // signal frame: sp points to the interrupted context
  kOutermost = 5,  // no caller
  kNone = 6,       // code without unwind information
  kOdd = 7,        // a rule that needs other registers, or too large a frame
};

struct UnwindRule {
  RuleKind kind = RuleKind::kUnknown;
  bool own = false;        // code of gpuprof: stepped over, never told
  int32_t cfa_offset = 0;  // bytes
  int32_t fp_offset = 0;   // where the caller's fp is saved, from the cfa; 0: fp is unchanged
};

inline constexpr uint32_t kRuleBits = 30;

// Offsets on this architecture are multiples of 8. What does not fit becomes kOdd.
constexpr uint64_t PackRule(UnwindRule rule) {
  const int32_t cfa = rule.cfa_offset / 8;
  const int32_t fp = rule.fp_offset / 8;
  const bool fits = cfa * 8 == rule.cfa_offset && fp * 8 == rule.fp_offset && cfa >= -32768 &&
                    cfa <= 32767 && fp >= -512 && fp <= 511;
  if (!fits) return PackRule({RuleKind::kOdd, rule.own, 0, 0});
  return static_cast<uint64_t>(rule.kind) | (rule.own ? 8u : 0u) |
         (static_cast<uint64_t>(cfa & 0xffff) << 4) | (static_cast<uint64_t>(fp & 0x3ff) << 20);
}

constexpr UnwindRule UnpackRule(uint64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  return {static_cast<RuleKind>(word & 7), (word & 8) != 0,
          static_cast<int16_t>((word >> 4) & 0xffff) * 8,
          (static_cast<int32_t>(word << 2) >> 22) * 8};
}

// A word of the table: the upper bits of the address, and the rule.
class RuleCache {
 public:
  static constexpr uint32_t kBucketBits = 16;
  static constexpr uint32_t kWays = 4;
  static constexpr uint64_t kBytes = (uint64_t{1} << kBucketBits) * kWays * sizeof(uint64_t);

  // `table`: kBytes of private, anonymous pages, still zero.
  void Use(void* table) { table_ = static_cast<std::atomic<uint64_t>*>(table); }
  bool ready() const { return table_ != nullptr; }

  // The packed rule, or 0. Addresses of 48 bits and more are never found.
  uint64_t Find(uint64_t address) const noexcept {
    const std::atomic<uint64_t>* bucket = Bucket(address);
    const uint64_t tag = TagOf(address);
    for (uint32_t way = 0; way < kWays; ++way) {
      const uint64_t word = bucket[way].load(std::memory_order_relaxed);
      if ((word & ~kRuleMask) == tag) return word & kRuleMask;
    }
    return 0;
  }

  void Insert(uint64_t address, uint64_t rule) noexcept {
    if (address >> 48 != 0) return;
    std::atomic<uint64_t>* bucket = Bucket(address);
    uint32_t way = 0;
    while (way < kWays && bucket[way].load(std::memory_order_relaxed) != 0) ++way;
    if (way == kWays) way = static_cast<uint32_t>(address >> 5) % kWays;
    bucket[way].store(TagOf(address) | rule, std::memory_order_relaxed);
  }

  // Concurrent insertions may survive: an address that is on a stack has a valid rule.
  void Clear() noexcept {
    if (table_ != nullptr) madvise(table_, kBytes, MADV_DONTNEED);
  }

 private:
  static constexpr uint64_t kRuleMask = (uint64_t{1} << kRuleBits) - 1;

  // Tag and bucket together are the address again (48 bits), so that a hit is never another
  // address's. The low bits of code addresses are spread well enough, and a walk waits for this
  // computation at every frame.
  static uint64_t TagOf(uint64_t address) { return address >> kBucketBits << kRuleBits; }
  std::atomic<uint64_t>* Bucket(uint64_t address) const {
    const uint64_t number = (address ^ (address >> kBucketBits)) & ((1u << kBucketBits) - 1);
    return table_ + number * kWays;
  }

  std::atomic<uint64_t>* table_ = nullptr;
};

}  // namespace gpuprof::tracer
