// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From CUPTI's callbacks to the drain: a queue of `kMost` events (a power of two).
//
// The callbacks run inside CUDA on the program's threads, several at a time: no heap, no lock,
// nobody waits. What finds the queue full is counted and left out.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::tracer::cupti {

template <typename Event, uint32_t kMost>
class EventQueue {
 public:
  static constexpr uint32_t kSlots = kMost;

  // Any thread. False: full. `is_crowded` says that the drain should come.
  bool Put(const Event& event, bool* is_crowded) {
    uint64_t at = put_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at % kSlots];
      const uint64_t turn = slot.turn.load(std::memory_order_acquire);
      const uint64_t free = 2 * (at / kSlots);
      if (turn < free) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      if (turn > free) {  // another thread was here meanwhile
        at = put_.load(std::memory_order_relaxed);
        continue;
      }
      if (!put_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
      slot.event = event;
      slot.turn.store(free + 1, std::memory_order_release);
      *is_crowded = at % (kSlots / 4) == kSlots / 4 - 1;
      return true;
    }
  }

  // The drain. False: nothing is there yet.
  bool Take(Event* event) {
    Slot& slot = slots_[taken_ % kSlots];
    const uint64_t turn = 2 * (taken_ / kSlots) + 1;
    if (slot.turn.load(std::memory_order_acquire) != turn) return false;
    *event = slot.event;
    slot.turn.store(turn + 1, std::memory_order_release);
    ++taken_;
    return true;
  }

  // Whether everything that was begun to be put has been taken. The drain.
  bool IsEmpty() const { return put_.load(std::memory_order_acquire) == taken_; }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  // In a forked child, which has no CUPTI.
  void Forget() {
    for (Slot& slot : slots_) {
      if (slot.turn.load(std::memory_order_relaxed) != 0) slot.turn.store(0);
    }
    put_.store(0);
    taken_ = 0;
  }

 private:
  // turn: 2 n while the slot is free for its use number n (from 0), 2 n + 1 while it holds that
  // event. All zero at first, so that unused slots take no memory.
  struct Slot {
    std::atomic<uint64_t> turn{0};
    Event event;
  };

  Slot slots_[kSlots];
  std::atomic<uint64_t> put_{0};
  uint64_t taken_ = 0;
  std::atomic<uint64_t> refused_{0};
};

}  // namespace gpuprof::tracer::cupti
