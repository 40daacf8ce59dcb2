// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ranges of the process that nvtxRangeStart began and nvtxRangeEnd has not ended yet: one table, in
// which another thread finds what one thread put there. No lock, no allocation.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject::ranges {

struct StartedRange {
  uint64_t start;
  uint32_t name;    // string id
  uint32_t domain;  // string id
  uint64_t style;   // category | colour << 32
  uint64_t payload;
  uint32_t payload_type;
  uint32_t capture;  // in which it began
  int32_t tid;
};

class StartedRanges {
 public:
  // `id` is not 0. False: there is no room. A range of another capture than `range`'s gives way.
  bool Add(uint64_t id, const StartedRange& range) noexcept;
  // Takes that of `capture` out of the table, and those of others that stand before it. False: it
  // is not there.
  bool Take(uint64_t id, uint32_t capture, StartedRange* range) noexcept;
  // Without touching it.
  bool Has(uint64_t id, uint32_t capture) noexcept;
  // As Take, of any that stands at `*place` (from 0) or behind it; `*place` goes on behind it.
  // Without `range`, none is taken: only whether there is one.
  bool TakeNext(uint32_t* place, uint32_t capture, StartedRange* range) noexcept;

 private:
  static constexpr uint32_t kSlots = 4096;
  static constexpr uint32_t kMostProbes = 64;
  static constexpr uint64_t kClaimed = ~uint64_t{0};  // being filled in or read

  struct Slot {
    std::atomic<uint64_t> id;       // 0: free
    std::atomic<uint32_t> capture;  // range's, to be read without claiming the slot
    StartedRange range;
  };
  Slot& SlotOf(uint64_t id, uint32_t probe) noexcept {
    // Ids that count up go to neighbouring slots, addresses as ids are spread.
    return slots_[((id ^ id >> 12 ^ id >> 24) + probe) & (kSlots - 1)];
  }
  Slot* Claim(uint64_t id, uint32_t capture) noexcept;

  std::atomic<uint32_t> is_used_;  // most processes have none, and need not be searched
  Slot slots_[kSlots];
};

}  // namespace gpuprof::inject::ranges
