// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_graph.h.

#include "analysis/xprof/event_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/base/memory_limit.h"

namespace gpuprof::analysis::xprof {
namespace {

// An edge is in two lists, which grow by doubling.
constexpr uint64_t kEdgeBytes = 2 * 2 * sizeof(uint32_t);
constexpr uint64_t kShareOfMemory = 3;
// A context with more on both sides is no context: everybody gives to everybody.
constexpr size_t kCrowd = 64;

}  // namespace

Error EventGraph::Build(Space* space) {
  const uint64_t room = DefaultMemoryLimit() / kShareOfMemory;
  uint64_t events = 0;
  for (const Plane& plane : space->planes)
    for (const Line& line : plane.lines) events += line.events.size();
  const Error too_large = Unreadable(
      "XProf's pages need more memory than this program may take; use a machine with more memory, "
      "or "
      "profile for a shorter time");
  if (events >= UINT32_MAX || events * sizeof(Node) > room) return too_large;
  most_edges_ = (room - events * sizeof(Node)) / kEdgeBytes;
  nodes_.reserve(events);
  ConnectWithinThreads(space);
  ConnectThreads();
  ConnectContexts();
  seen_.assign(nodes_.size(), 0);
  return edges_ > most_edges_ ? too_large : Error();
}

void EventGraph::Connect(uint32_t parent, uint32_t child) {
  if (++edges_ > most_edges_) return;
  nodes_[parent].children.push_back(child);
  nodes_[child].parents.push_back(parent);
}

void EventGraph::AddContexts(uint32_t node, const Event& event) {
  const Plane& plane = *nodes_[node].plane;
  std::optional<int32_t> producer_type, consumer_type, process;
  std::optional<uint64_t> producer, consumer;
  if (const Stat* stat = plane.Find(StatKey::kProcessId))
    process = static_cast<int32_t>(stat->Signed());
  for (const Stat& stat : plane.StatsOf(event)) {
    const auto number = static_cast<int32_t>(stat.Signed());
    if (stat.key == StatKey::kProducerType) producer_type = number;
    if (stat.key == StatKey::kProducerId) producer = stat.Whole();
    if (stat.key == StatKey::kConsumerType) consumer_type = number;
    if (stat.key == StatKey::kConsumerId) consumer = stat.Whole();
    if (stat.key == StatKey::kConsumerPid) process = number;
  }
  const bool has_process = process.has_value();
  if (producer_type && producer) {
    contexts_.push_back({*producer_type, has_process, process.value_or(0), *producer, node, true});
  }
  if (consumer_type && consumer) {
    contexts_.push_back({*consumer_type, has_process, process.value_or(0), *consumer, node, false});
  }
}

void EventGraph::ConnectWithinThreads(Space* space) {
  std::vector<uint32_t> stack;
  for (Plane& plane : space->planes) {
    const bool is_host = plane.name == kHostPlane;
    for (uint32_t line = 0; line < plane.lines.size(); ++line) {
      stack.clear();
      for (uint32_t at = 0; at < plane.lines[line].events.size(); ++at) {
        const auto index = static_cast<uint32_t>(nodes_.size());
        const Event& event = plane.lines[line].events[at];
        Node& node = nodes_.emplace_back();
        node.plane = &plane;
        node.line = line;
        node.event = at;
        node.type = plane.names[event.name].type;
        if (node.type == EventType::kNone && plane.Find(event, StatKey::kCorrelationId) != nullptr)
          node.type = is_host ? EventType::kKernelLaunch : EventType::kKernelExecute;
        bool is_async = false;
        for (const Stat& stat : plane.StatsOf(event)) {
          if (stat.key == StatKey::kRoot) node.root_level = static_cast<int32_t>(stat.Signed());
          if (stat.key == StatKey::kAsync) is_async = stat.Signed() != 0;
        }
        if (!node.root_level && node.type == EventType::kTraceContext) node.root_level = 1;
        if (node.type == EventType::kProcessBatch) node.root_level = 2;
        if (node.type == EventType::kBatchingSessionRun) node.root_level = 1;
        AddContexts(index, event);
        if (is_async) continue;
        const Span span = plane.lines[line].SpanOf(event);
        while (!stack.empty() && !SpanOf(nodes_[stack.back()]).Includes(span)) stack.pop_back();
        if (!stack.empty()) Connect(stack.back(), index);
        stack.push_back(index);
      }
    }
  }
}

void EventGraph::ConnectPairs(EventType parent, EventType child, std::vector<StatKey> keys) {
  const auto values = [&](const Node& node) {
    std::vector<uint64_t> found;
    for (const StatKey key : keys) {
      const Stat* stat = Find(node, key);
      if (stat == nullptr) break;
      found.push_back(stat->Whole());
    }
    return found;
  };
  std::vector<std::pair<std::vector<uint64_t>, uint32_t>> parents;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].type != parent) continue;
    std::vector<uint64_t> found = values(nodes_[i]);
    if (found.size() == keys.size()) parents.emplace_back(std::move(found), i);
  }
  // The last one with the same values counts.
  std::sort(parents.begin(), parents.end());
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].type != child) continue;
    const std::vector<uint64_t> found = values(nodes_[i]);
    if (found.size() != keys.size()) continue;
    const auto end = std::upper_bound(parents.begin(), parents.end(), std::pair(found, UINT32_MAX));
    if (end != parents.begin() && std::prev(end)->first == found)
      Connect(std::prev(end)->second, i);
  }
}

void EventGraph::ConnectThreads() {
  const std::vector<StatKey> iteration = {StatKey::kStepId, StatKey::kIterNum};
  ConnectPairs(EventType::kExecutorProcess, EventType::kIteratorGetNext, iteration);
  ConnectPairs(EventType::kExecutorProcess, EventType::kIteratorGetNextAsOptional, iteration);
  ConnectPairs(EventType::kKernelLaunch, EventType::kKernelExecute, {StatKey::kCorrelationId});
}

void EventGraph::ConnectContexts() {
  const auto key = [](const Context& context) {
    return std::tuple(context.type, context.id, context.has_process, context.process);
  };
  std::stable_sort(contexts_.begin(), contexts_.end(),
                   [&](const Context& x, const Context& y) { return key(x) < key(y); });
  for (size_t begin = 0, end = 0; begin < contexts_.size(); begin = end) {
    std::vector<uint32_t> producers, consumers;
    for (end = begin; end < contexts_.size() && key(contexts_[end]) == key(contexts_[begin]); ++end)
      (contexts_[end].is_producer ? producers : consumers).push_back(contexts_[end].node);
    if (producers.size() >= kCrowd && consumers.size() >= kCrowd) continue;
    for (const uint32_t producer : producers) {
      if (edges_ > most_edges_) return;
      for (const uint32_t consumer : consumers) Connect(producer, consumer);
    }
  }
  contexts_ = {};
}

bool EventGraph::IsNew(uint32_t node) {
  ++visits_;
  return std::exchange(seen_[node], epoch_) != epoch_;
}

std::optional<uint32_t> EventGraph::FindAbove(uint32_t node, bool with_itself,
                                              const std::function<bool(uint32_t)>& is_wanted) {
  ++epoch_;
  queue_.clear();
  IsNew(node);
  const auto add_parents = [&](uint32_t of) {
    for (const uint32_t parent : nodes_[of].parents)
      if (IsNew(parent)) queue_.push_back(parent);
  };
  if (with_itself) {
    queue_.push_back(node);
  } else {
    add_parents(node);
  }
  for (size_t at = 0; at < queue_.size() && !is_exhausted(); ++at) {
    const uint32_t current = queue_[at];
    if (is_wanted(current)) return current;
    add_parents(current);
  }
  return std::nullopt;
}

void EventGraph::Spread(uint32_t node, int64_t group) {
  ++epoch_;
  queue_.assign(1, node);
  IsNew(node);
  for (size_t at = 0; at < queue_.size(); ++at) {
    Node& current = nodes_[queue_[at]];
    if (current.has_group) continue;
    current.has_group = true;
    current.group = group;
    Event& event = EventOf(current);
    event.has_group = true;
    event.group = group;
    for (const uint32_t child : current.children)
      if (IsNew(child)) queue_.push_back(child);
  }
}

}  // namespace gpuprof::analysis::xprof
