// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plays a graph, and walks back along the edges that bound. See dependency_graph.h.

#include <algorithm>
#include <limits>

#include "analysis/derived/dependency_graph.h"

namespace gpuprof::analysis {

using results::TimeCategory;

uint32_t DependencyGraph::FindWork(uint32_t track, int64_t start_ns) const {
  auto at = std::lower_bound(
      nodes_.begin(), nodes_.end(), start_ns,
      [](const DependencyNode& node, int64_t time) { return node.span.start < time; });
  for (; at != nodes_.end() && at->span.start == start_ns; ++at) {
    if (at->kind == DependencyNode::Kind::kWork && at->track == track)
      return static_cast<uint32_t>(at - nodes_.begin());
  }
  return kNoNode;
}

PlayedGraph DependencyGraph::Play(const Free& free, const FreeNodes& nodes) const {
  PlayedGraph played;
  played.spans.resize(nodes_.size());
  played.binding.assign(nodes_.size(), kNoNode);
  const int64_t origin = nodes_.empty() ? 0 : nodes_.front().span.start;
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    const DependencyNode& node = nodes_[n];
    const bool is_free = !nodes.own.empty() && nodes.own[n];
    const bool is_free_before = !nodes.before.empty() && nodes.before[n];
    int64_t start = std::numeric_limits<int64_t>::min();
    for (uint32_t e = node.first_edge; e < node.first_edge + node.edges; ++e) {
      const DependencyEdge& edge = edges_[e];
      // A call that does not wait does not depend on work.
      const bool is_wait = node.kind == DependencyNode::Kind::kWaited && edge.from != kNoNode &&
                           nodes_[edge.from].kind == DependencyNode::Kind::kWork;
      if (is_wait && (is_free || free[results::TIME_CATEGORY_SYNC])) continue;
      // What nothing is known to have caused begins when it did.
      int64_t at = node.span.start;
      if (edge.from != kNoNode) {
        const Interval& from = played.spans[edge.from];
        at = edge.is_from_start ? from.start : from.end;
        for (uint32_t p = edge.first_part; p < edge.first_part + edge.parts; ++p)
          if (!free[parts_[p].category] && !is_free_before) at += parts_[p].ns;
      }
      if (at < start || (at == start && played.binding[n] != kNoNode)) continue;
      start = at;
      played.binding[n] = edge.from == kNoNode ? kNoNode : e;
    }
    if (node.edges == 0) start = std::max(origin, node.span.start);
    int64_t length = free[node.category] ? 0 : node.span.length();
    if (is_free) length = static_cast<int64_t>(static_cast<double>(length) * nodes.remains);
    played.spans[n] = {start, start + length};
  }
  return played;
}

DependencyGraph::Free DependencyGraph::Present() const {
  Free present{};
  for (const DependencyNode& node : nodes_) {
    present[node.category] = true;
    // A wait that is left out does not hold up its thread, even if the wait itself took no time.
    if (node.kind == DependencyNode::Kind::kWaited) present[results::TIME_CATEGORY_SYNC] = true;
  }
  for (const TimePart& part : parts_) present[part.category] = true;
  return present;
}

std::vector<PathPiece> CriticalPath(const DependencyGraph& graph, uint32_t node, bool from_end,
                                    int64_t from_ns) {
  const PlayedGraph played = graph.Play({});
  std::vector<PathPiece> pieces;
  int64_t until = std::numeric_limits<int64_t>::max();  // the pieces are disjoint
  const auto add = [&](Interval span, TimeCategory category, uint32_t of, uint32_t to) {
    span = {std::max(span.start, from_ns), std::min(span.end, until)};
    if (span.end <= span.start) return;
    pieces.push_back({span, category, of, to});
    until = span.start;
  };
  bool is_end = from_end;
  while (node != kNoNode) {
    const Interval& span = played.spans[node];
    if (is_end) add(span, graph.nodes()[node].category, node, kNoNode);
    if (span.start <= from_ns || played.binding[node] == kNoNode) break;
    const DependencyEdge& edge = graph.edges()[played.binding[node]];
    int64_t at = span.start;
    // The parts of an edge have no order: from the last back.
    for (uint32_t p = edge.first_part + edge.parts; p-- > edge.first_part;) {
      const TimePart& part = graph.parts()[p];
      add({at - part.ns, at}, part.category, kNoNode, node);
      at -= part.ns;
    }
    is_end = !edge.is_from_start;
    node = edge.from;
  }
  // Nothing that the first piece waited for is in the recording.
  if (!pieces.empty() && pieces.back().span.start > from_ns)
    add({from_ns, pieces.back().span.start}, results::TIME_CATEGORY_UNEXPLAINED, kNoNode, kNoNode);
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace gpuprof::analysis
