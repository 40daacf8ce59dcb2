// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table GraphNodes of a .gpt file into the model. See trace_file.h.

#include <algorithm>

#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {
namespace {

// What is beyond these bounds the recorder did not write.
constexpr size_t kMostNodes = 1u << 20;
constexpr size_t kMostGraphs = 1u << 18;
constexpr size_t kMostMarks = 64u << 10;

}  // namespace

void TraceFile::AddGraphs(const proto::GraphNodes& table, uint32_t capture, uint64_t offset) {
  const int count = std::min({table.node_size(), table.source_size(), table.graph_size(),
                              table.source_graph_size(), table.type_size()});
  if (count != table.node_size())
    AddFault(offset, "table of graph nodes has columns of different length");
  Graphs& graphs = process().graphs;
  const bool has_times = table.created_size() >= count && table.thread_size() >= count;
  uint64_t node = 0, source = 0, graph = 0, source_graph = 0, created = 0, thread = 0;
  for (int i = 0; i < count; ++i) {
    node += static_cast<uint64_t>(table.node(i));
    source += static_cast<uint64_t>(table.source(i));
    graph += static_cast<uint64_t>(table.graph(i));
    source_graph += static_cast<uint64_t>(table.source_graph(i));
    if (graphs.nodes.size() >= kMostNodes && graphs.nodes.count(node) == 0) break;
    GraphNode& made = graphs.nodes[node];
    made = {source, static_cast<uint32_t>(graph), static_cast<uint32_t>(source_graph),
            table.type(i)};
    if (!has_times) continue;
    created += static_cast<uint64_t>(table.created(i));
    thread += static_cast<uint64_t>(table.thread(i));
    if (thread == 0) continue;
    made.made_by = static_cast<int32_t>(thread);
    node_ticks_[node] = created;
  }
  for (const proto::Graph& made : table.made()) {
    if (graphs.made.size() >= kMostGraphs) break;
    graphs.made[made.id()] = {made.source(), made.executable(), made.before_capture()};
  }
  for (const proto::GraphModeMark& mark : table.mark()) {
    if (graph_marks_.size() >= kMostMarks) break;
    graph_marks_.emplace_back(capture, mark);
  }
}

void TraceFile::PlaceGraphMarks(ClockMap::Cursor* cursor) {
  for (const auto& [node, ticks] : node_ticks_) {
    const auto found = process().graphs.nodes.find(node);
    if (found != process().graphs.nodes.end()) found->second.made_ns = cursor->Convert(ticks);
  }
  std::vector<GraphModeMark>& marks = process().graphs.marks;
  for (const auto& [capture, mark] : graph_marks_) {
    const bool is_whole = mark.mode() == static_cast<uint32_t>(proto::GraphMode::kWhole);
    marks.push_back({capture, cursor->Convert(mark.ticks()),
                     is_whole ? proto::GraphMode::kWhole : proto::GraphMode::kNode, mark.nodes()});
  }
  std::stable_sort(marks.begin(), marks.end(), [](const GraphModeMark& x, const GraphModeMark& y) {
    return x.time_ns < y.time_ns;
  });
}

}  // namespace gpuprof::analysis
