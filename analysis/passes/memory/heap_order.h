// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Mends the order of frees and allocations of one address by different threads. Coarse times are
// late by about a millisecond, on a busy machine by more. So a thread's free may seem to come after
// another thread's allocation of the same address. It may also seem to come before the allocation
// that it ends. Any thread.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>

#include "analysis/passes/memory/live_memory.h"

namespace gpuprof::analysis {

class HeapOrder {
 public:
  // Feeds `memory`, which outlives this object. `coarse_step_ns`: by how much coarse times may be
  // late, as the recorder measured; 0: not measured.
  HeapOrder(LiveMemory* memory, int64_t coarse_step_ns);

  struct Event {
    size_t track;
    int64_t time_ns;
    uint64_t address;
    bool is_coarse;  // its time
  };
  void Alloc(const Event& event, uint64_t size, bool sampled, uint32_t stack);
  void Free(const Event& event);
  // Hands on what waits for its counterpart. At the end, and before another capture's events.
  void Flush();

 private:
  // Events of one address that wait for their counterparts. A block can come and go many times
  // within one step of the coarse clock.
  struct Waiting {
    Event last;
    uint64_t count;
  };
  // Events by address, and the addresses in order of time.
  struct Queue {
    std::unordered_map<uint64_t, Waiting> at;
    std::deque<Event> in_order;
    // How many of the addresses in `at` have this hash. Nearly all events are of none of them.
    std::array<uint32_t, 1024> with_hash{};
    static size_t Hash(uint64_t address) { return (address >> 4) % 1024; }
    void Push(const Event& event);
    // Takes an event of this address that is near enough, and of another thread.
    bool Take(const Event& event, int64_t reach_ns) {
      return with_hash[Hash(event.address)] != 0 && TakeWaiting(event, reach_ns);
    }
    bool TakeWaiting(const Event& event, int64_t reach_ns);
    // Drops what has waited too long by `now`. Returns how many events that were.
    uint64_t Expire(int64_t now, int64_t reach_ns);
  };

  void Expire(int64_t now) {
    if (oldest_ns_ < now && oldest_ns_ < now - reach_ns_) ExpireWaiting(now);
  }
  void ExpireWaiting(int64_t now);

  LiveMemory* memory_;
  void Push(const Event& event, Queue* queue) {
    queue->Push(event);
    oldest_ns_ = std::min(oldest_ns_, event.time_ns);
  }

  int64_t reach_ns_;  // events farther apart are in the right order
  // The time of the oldest event in the queues; the greatest time: the queues are empty.
  int64_t oldest_ns_ = std::numeric_limits<int64_t>::max();
  Queue early_frees_;  // of no block so far
  Queue reused_;       // allocations at addresses whose free has not come
};

// Keeps the work for one event inline: there are millions of events.

inline void HeapOrder::Alloc(const Event& event, uint64_t size, bool sampled, uint32_t stack) {
  Expire(event.time_ns);
  if (memory_->Alloc(event.time_ns, event.address, size, sampled, stack)) {
    Push(event, &reused_);
  } else if (early_frees_.Take(event, reach_ns_)) {
    memory_->Free(event.time_ns, event.address);
  }
}

inline void HeapOrder::Free(const Event& event) {
  if (event.address == 0) return;
  Expire(event.time_ns);
  if (reused_.Take(event, reach_ns_)) {
    memory_->FoundImpliedFree();
  } else if (!memory_->FreeIfLive(event.time_ns, event.address)) {
    if (event.is_coarse) {
      Push(event, &early_frees_);
    } else {
      memory_->CountUnmatchedFree();
    }
  }
}

}  // namespace gpuprof::analysis
