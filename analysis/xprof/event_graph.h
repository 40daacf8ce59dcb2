// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The events of a space as a graph: which event lies in which, launches which, or gives work to
// which. XProf finds the steps of events in it. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

class EventGraph {
 public:
  struct Node {
    Plane* plane = nullptr;
    uint32_t line = 0, event = 0;
    EventType type = EventType::kNone;
    std::optional<int32_t> root_level;
    bool has_group = false;  // given here; what the file says does not count
    int64_t group = 0;
    std::vector<uint32_t> parents, children;
  };

  // Adds all events of the space, which outlives this object, and connects them. An Error: the
  // events are tied by more edges than the memory holds.
  Error Build(Space* space);

  std::vector<Node>& nodes() { return nodes_; }
  const Line& LineOf(const Node& node) const { return node.plane->lines[node.line]; }
  Event& EventOf(Node& node) const { return node.plane->lines[node.line].events[node.event]; }
  const Event& EventOf(const Node& node) const { return LineOf(node).events[node.event]; }
  const EventName& NameOf(const Node& node) const { return node.plane->names[EventOf(node).name]; }
  Span SpanOf(const Node& node) const { return LineOf(node).SpanOf(EventOf(node)); }
  const Stat* Find(const Node& node, StatKey key) const {
    return node.plane->Find(EventOf(node), key);
  }
  bool IsEarlier(uint32_t x, uint32_t y) const { return SpanOf(nodes_[x]) < SpanOf(nodes_[y]); }

  void Connect(uint32_t parent, uint32_t child);

  // Visits a node and all nodes above it, the nearest first, until `is_wanted` returns true.
  // Returns the node, if so. Visits are counted: see is_exhausted().
  std::optional<uint32_t> FindAbove(uint32_t node, bool with_itself,
                                    const std::function<bool(uint32_t)>& is_wanted);
  // Gives the group to the node and to all nodes below that have no group.
  void Spread(uint32_t node, int64_t group);
  // Returns whether searches took more visits than any program's events need. The results are then
  // not complete.
  bool is_exhausted() const { return visits_ > kMostVisits || edges_ > most_edges_; }

 private:
  static constexpr uint64_t kMostVisits = 2'000'000'000;

  void ConnectWithinThreads(Space* space);
  void ConnectThreads();
  void ConnectPairs(EventType parent, EventType child, std::vector<StatKey> keys);
  void ConnectContexts();
  bool IsNew(uint32_t node);

  // Who gives work and who takes it, by type, number and process.
  struct Context {
    int32_t type = 0;
    bool has_process = false;
    int32_t process = 0;
    uint64_t id = 0;
    uint32_t node = 0;
    bool is_producer = false;
  };
  void AddContexts(uint32_t node, const Event& event);

  std::vector<Node> nodes_;
  std::vector<Context> contexts_;
  std::vector<uint32_t> seen_, queue_;
  uint32_t epoch_ = 0;
  uint64_t visits_ = 0, edges_ = 0, most_edges_ = 0;
};

}  // namespace gpuprof::analysis::xprof
