// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/graph_events.h"

namespace gpuprof::tracer::cupti {
namespace {

// Each thread has another address for it.
thread_local char t_thread;

template <typename Function, typename Id>
void Ask(Function function, void* handle, Id* id) {
  if (function != nullptr && handle != nullptr && function(handle, id) != kSuccess) *id = 0;
}

}  // namespace

bool GraphEvents::Put(const GraphEvent& event, bool* is_crowded) {
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

bool GraphEvents::Take(GraphEvent* event) {
  Slot& slot = slots_[taken_ % kSlots];
  const uint64_t turn = 2 * (taken_ / kSlots) + 1;
  if (slot.turn.load(std::memory_order_acquire) != turn) return false;
  *event = slot.event;
  slot.turn.store(turn + 1, std::memory_order_release);
  ++taken_;
  return true;
}

void GraphEvents::Forget() {
  for (Slot& slot : slots_) {
    if (slot.turn.load(std::memory_order_relaxed) != 0) slot.turn.store(0);
  }
  put_.store(0);
  taken_ = 0;
}

bool ReadGraphEvent(const Functions& functions, uint32_t id, const ResourceData& data,
                    GraphEvent* event) {
  bool is_known = false;
  for (const ResourceId known : kGraphCallbacks) is_known |= id == known;
  if (!is_known || data.descriptor == nullptr) return false;
  const auto& graph = *static_cast<const GraphData*>(data.descriptor);
  event->what = id;
  event->thread = reinterpret_cast<uintptr_t>(&t_thread);
  switch (id) {
    case kGraphCreated:
      Ask(functions.get_graph_id, graph.graph, &event->graph);
      break;
    case kGraphCloned:
      Ask(functions.get_graph_id, graph.graph, &event->graph);
      Ask(functions.get_graph_id, graph.original_graph, &event->source_graph);
      break;
    case kGraphExecCreateStarting:
      break;
    case kGraphExecCreated:
      Ask(functions.get_graph_exec_id, graph.graph_exec, &event->graph);
      Ask(functions.get_graph_id, graph.graph, &event->source_graph);
      break;
    default:  // a node
      event->node_type = graph.node_type;
      Ask(functions.get_graph_node_id, graph.node, &event->node);
      Ask(functions.get_graph_id, graph.graph, &event->graph);
      if (id == kGraphNodeCreated) break;
      Ask(functions.get_graph_node_id, graph.original_node, &event->source_node);
      Ask(functions.get_graph_id, graph.original_graph, &event->source_graph);
  }
  return true;
}

}  // namespace gpuprof::tracer::cupti
