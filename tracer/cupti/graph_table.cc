// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/graph_table.h"

#include <utility>

namespace gpuprof::tracer::cupti {
namespace {

constexpr size_t kFirstSlots = 256;

// Fields of proto::GraphNodes and of proto::Graph.
constexpr int kNode = 1, kSource = 2, kGraph = 3, kSourceGraph = 4, kType = 5, kMade = 6,
              kCreated = 8, kThread = 9;
constexpr int kId = 1, kFrom = 2, kExecutable = 3, kBeforeCapture = 4;

uint64_t ZigZag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}

template <typename Entries, typename Value>
void PutDeltas(int field, const Entries& entries, Value value, codec::PbWriter* writer) {
  const uint64_t mark = writer->Begin(field);
  uint64_t before = 0;
  for (const auto& entry : entries) {
    writer->RawVarint(ZigZag(value(entry) - before));
    before = value(entry);
  }
  writer->End(mark);
}

}  // namespace

size_t IdSet::Place(uint64_t id) const {
  const size_t mask = slots_.size() - 1;
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  size_t at = (id * kMultiplier >> 32) & mask;
  while (slots_[at] != 0 && slots_[at] != id) at = (at + 1) & mask;
  return at;
}

bool IdSet::Has(uint64_t id) const { return !slots_.empty() && slots_[Place(id)] == id && id != 0; }

bool IdSet::Add(uint64_t id) {
  if (id == 0 || Has(id)) return true;
  if (count_ >= most_) return false;
  if ((count_ + 1) * size_t{2} > slots_.size()) {
    std::vector<uint64_t> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    old.swap(slots_);
    for (const uint64_t each : old) {
      if (each != 0) slots_[Place(each)] = each;
    }
  }
  slots_[Place(id)] = id;
  ++count_;
  return true;
}

void GraphTable::Consume(GraphEvents* events) {
  GraphEvent event;
  while (events->Take(&event)) AddEvent(event);
}

void GraphTable::AddEvent(const GraphEvent& event) {
  switch (event.what) {
    case kGraphCreated:
    case kGraphCloned:
      if (event.graph != 0) graphs_.push_back({event.graph, event.source_graph, false, false});
      break;
    case kGraphExecCreateStarting: {
      Making* making = MakingOf(event.thread);
      if (making == nullptr) {
        making_.push_back({event.thread, {}});
      } else {  // the one before came to nothing
        nodes_.insert(nodes_.end(), making->nodes.begin(), making->nodes.end());
        making->nodes.clear();
      }
      break;
    }
    case kGraphExecCreated:
      AddExecutable(event);
      break;
    default:
      AddNode(event);
  }
}

void GraphTable::AddNode(const GraphEvent& event) {
  if (event.node == 0) return;
  if (!known_nodes_.Add(event.node)) {
    ++refused_;
    return;
  }
  Making* making = MakingOf(event.thread);
  (making != nullptr ? making->nodes : nodes_)
      .push_back({event.node, event.source_node, event.graph, event.source_graph, event.node_type,
                  event.ticks, event.tid});
}

// Older libraries do not tell an executable graph's number; it is that of the graph into which its
// nodes were cloned.
void GraphTable::AddExecutable(const GraphEvent& event) {
  Making* making = MakingOf(event.thread);
  uint32_t graph = event.graph;
  if (making != nullptr) {
    for (const Node& node : making->nodes) {
      if (graph == 0 && node.source_graph == event.source_graph) graph = node.graph;
    }
    for (Node& node : making->nodes) {
      if (graph != 0) node.graph = graph;
      nodes_.push_back(node);
    }
    std::swap(*making, making_.back());
    making_.pop_back();
  }
  if (graph == 0) return;
  if (!known_graphs_.Add(graph)) ++refused_;
  graphs_.push_back({graph, event.source_graph, true, false});
}

GraphTable::Making* GraphTable::MakingOf(uint64_t thread) {
  for (Making& making : making_) {
    if (making.thread == thread) return &making;
  }
  return nullptr;
}

void GraphTable::Judge(uint32_t graph, uint64_t node) {
  last_graph_ = graph;
  if (judged_.Has(graph)) return;
  if (!judged_.Add(graph)) return;
  if (!IsKnown({graph, node})) unknown_.push_back({graph, node});
}

void GraphTable::GiveUpMaking() {
  for (const Making& making : making_)
    nodes_.insert(nodes_.end(), making.nodes.begin(), making.nodes.end());
  making_.clear();
}

uint32_t GraphTable::Take(const GraphEvents& events, std::vector<uint8_t>* out) {
  // Where events were left out, who can tell what was made when? Where one is just being put, a
  // later call can.
  if (events.refused() != 0 || refused_ != 0) {
    unknown_.clear();
  } else if (events.IsEmpty()) {
    for (const Unknown& unknown : unknown_) {
      if (!IsKnown(unknown)) graphs_.push_back({unknown.graph, 0, true, true});
    }
    unknown_.clear();
  }
  codec::PbWriter writer(out);
  if (!nodes_.empty()) PutNodes(&writer);
  for (const Graph& graph : graphs_) {
    const uint64_t mark = writer.Begin(kMade);
    writer.Varint(kId, graph.graph);
    writer.Varint(kFrom, graph.source);
    writer.Varint(kExecutable, graph.executable);
    writer.Varint(kBeforeCapture, graph.before_capture);
    writer.End(mark);
  }
  const auto count = static_cast<uint32_t>(nodes_.size() + graphs_.size());
  nodes_.clear();
  graphs_.clear();
  return count;
}

void GraphTable::PutNodes(codec::PbWriter* writer) const {
  PutDeltas(
      kNode, nodes_, [](const Node& n) { return n.node; }, writer);
  PutDeltas(
      kSource, nodes_, [](const Node& n) { return n.source; }, writer);
  PutDeltas(
      kGraph, nodes_, [](const Node& n) { return uint64_t{n.graph}; }, writer);
  PutDeltas(
      kSourceGraph, nodes_, [](const Node& n) { return uint64_t{n.source_graph}; }, writer);
  const uint64_t mark = writer->Begin(kType);
  for (const Node& node : nodes_) writer->RawVarint(node.type);
  writer->End(mark);
  // A clone repeats the time of the node before it: a difference of 0 takes one byte.
  uint64_t ticks = 0;
  PutDeltas(
      kCreated, nodes_, [&ticks](const Node& n) { return ticks = n.tid != 0 ? n.ticks : ticks; },
      writer);
  PutDeltas(
      kThread, nodes_, [](const Node& n) { return static_cast<uint64_t>(int64_t{n.tid}); }, writer);
}

}  // namespace gpuprof::tracer::cupti
