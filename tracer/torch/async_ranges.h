// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When ranges began that may end on another thread: PyTorch's mark of a collective of gloo begins
// where it is called, and ends on the thread that did the work. Any thread; no lock, no heap.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::tracer {

class AsyncRanges {
 public:
  // Notes a range by its address, which no other open range has. `owner`: what was begun for
  // another owner is free. False: there is no room.
  bool Begin(const void* range, uint32_t owner, uint64_t start) noexcept {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      Slot& slot = SlotAt(range, probe);
      const void* held = slot.range.load(std::memory_order_relaxed);
      if (held != nullptr && slot.owner.load(std::memory_order_relaxed) == owner) continue;
      if (!slot.range.compare_exchange_strong(held, range, std::memory_order_acq_rel)) continue;
      slot.start = start;
      slot.owner.store(owner, std::memory_order_relaxed);
      return true;
    }
    return false;
  }

  // Returns when the range began, and forgets it. 0: it is not known. PyTorch orders this behind
  // Begin: it hands the range from thread to thread.
  uint64_t End(const void* range, uint32_t owner) noexcept {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      Slot& slot = SlotAt(range, probe);
      if (slot.range.load(std::memory_order_acquire) != range) continue;
      if (slot.owner.load(std::memory_order_relaxed) != owner) continue;
      const uint64_t start = slot.start;
      slot.range.store(nullptr, std::memory_order_release);
      return start;
    }
    return 0;
  }

 private:
  static constexpr uint32_t kSlots = 512, kProbes = 16;
  struct Slot {
    std::atomic<const void*> range{nullptr};
    std::atomic<uint32_t> owner{0};
    uint64_t start = 0;
  };

  Slot& SlotAt(const void* range, uint32_t probe) noexcept {
    const uint64_t hash = (reinterpret_cast<uintptr_t>(range) >> 4) * 0x9e3779b97f4a7c15u;
    return slots_[((hash >> 40) + probe) % kSlots];
  }

  Slot slots_[kSlots];
};

}  // namespace gpuprof::tracer
