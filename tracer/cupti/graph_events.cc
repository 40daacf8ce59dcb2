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
