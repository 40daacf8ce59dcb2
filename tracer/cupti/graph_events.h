// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How graphs come to be, as CUPTI's resource callbacks tell it: each callback leaves one event in a
// queue, which the drain empties.
//
// The callbacks run inside CUDA on the program's threads, several at a time: no heap, no lock,
// nobody waits. What finds the queue full is counted and left out.

#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/library.h"

namespace gpuprof::tracer::cupti {

// The numbers are CUPTI's; 0: none, or not to be had from this library.
struct GraphEvent {
  uint32_t what = 0;  // ResourceId
  uint32_t node_type = 0;
  uint64_t node = 0;
  uint64_t source_node = 0;
  uint32_t graph = 0;         // of a node; what was created or cloned
  uint32_t source_graph = 0;  // cloned from; of an executable graph what it was made of
  uint64_t thread = 0;        // tells the threads apart, no more
};

class GraphEvents {
 public:
  // Of the largest graphs known (tens of thousands of nodes) not all fit at once, but the drain is
  // woken long before it is full.
  static constexpr uint32_t kSlots = 1u << 14;

  // Any thread. False: full. `is_crowded` says that the drain should come.
  bool Put(const GraphEvent& event, bool* is_crowded);
  // The drain. False: nothing is there yet.
  bool Take(GraphEvent* event);

  // Whether everything that was begun to be put has been taken. The drain.
  bool IsEmpty() const { return put_.load(std::memory_order_acquire) == taken_; }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // In a forked child, which has no CUPTI.
  void Forget();

 private:
  // turn: 2 n while the slot is free for its use number n (from 0), 2 n + 1 while it holds that
  // event. All zero at first, so that unused slots take no memory.
  struct Slot {
    std::atomic<uint64_t> turn{0};
    GraphEvent event;
  };

  Slot slots_[kSlots];
  std::atomic<uint64_t> put_{0};
  uint64_t taken_ = 0;
  std::atomic<uint64_t> refused_{0};
};

// The callbacks of domain kResource that tell of graphs.
inline constexpr ResourceId kGraphCallbacks[] = {kGraphCreated,     kGraphCloned,
                                                 kGraphNodeCreated, kGraphExecCreateStarting,
                                                 kGraphExecCreated, kGraphNodeCloned};

// In a callback. False: `id` is not of a graph.
bool ReadGraphEvent(const Functions& functions, uint32_t id, const ResourceData& data,
                    GraphEvent* event);

}  // namespace gpuprof::tracer::cupti
