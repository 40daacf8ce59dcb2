// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How graphs come to be, as CUPTI's resource callbacks tell it: each callback leaves one event in a
// queue, which the drain empties.

#pragma once

#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/event_queue.h"
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
  uint64_t ticks = 0;         // when a node was made that is not a clone, and the thread's id
  int32_t tid = 0;
};

// Of the largest graphs known (tens of thousands of nodes) not all fit at once, but the drain is
// woken long before it is full.
using GraphEvents = EventQueue<GraphEvent, 1u << 14>;

// The callbacks of domain kResource that tell of graphs.
inline constexpr ResourceId kGraphCallbacks[] = {kGraphCreated,     kGraphCloned,
                                                 kGraphNodeCreated, kGraphExecCreateStarting,
                                                 kGraphExecCreated, kGraphNodeCloned};

// In a callback. False: `id` is not of a graph.
bool ReadGraphEvent(const Functions& functions, uint32_t id, const ResourceData& data,
                    GraphEvent* event);

}  // namespace gpuprof::tracer::cupti
