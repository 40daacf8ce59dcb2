// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When each condition variable was signalled last. A thread that waits in pthread_cond_wait waits
// twice: for the signal, and then for the mutex. The moment of the signal tells the two apart.
//
// Any thread, also in signal handlers: no lock, no memory of its own. The table is small, and a
// condition may lose its place to another: then its waits are not divided.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject {

class ConditionSignals {
 public:
  void Note(const void* condition, uint64_t ticks) noexcept {
    Slot& slot = SlotOf(condition);
    slot.ticks.store(0, std::memory_order_relaxed);
    slot.condition.store(condition, std::memory_order_release);
    slot.ticks.store(ticks, std::memory_order_release);
  }

  // The moment of the last signal in ticks; 0: not known.
  uint64_t Last(const void* condition) const noexcept {
    const Slot& slot = SlotOf(condition);
    const uint64_t ticks = slot.ticks.load(std::memory_order_acquire);
    if (slot.condition.load(std::memory_order_acquire) != condition) return 0;
    return slot.ticks.load(std::memory_order_relaxed) == ticks ? ticks : 0;
  }

 private:
  struct Slot {
    std::atomic<const void*> condition;
    std::atomic<uint64_t> ticks;
  };
  static constexpr uint64_t kSlots = 256;

  Slot& SlotOf(const void* condition) noexcept { return slots_[IndexOf(condition)]; }
  const Slot& SlotOf(const void* condition) const noexcept { return slots_[IndexOf(condition)]; }
  static uint64_t IndexOf(const void* condition) noexcept {
    return (reinterpret_cast<uintptr_t>(condition) >> 4) * 0x9e3779b97f4a7c15u >> 56;
  }

  Slot slots_[kSlots];
};

}  // namespace gpuprof::inject
