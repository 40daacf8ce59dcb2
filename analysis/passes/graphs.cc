// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `graphs`: launches of CUDA graphs, by executable graph, by node, or by the operation
// that made nodes. A node stands for all that was cloned from it.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/graph_launches.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/graph_owners.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/kernel_rule_file.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/results/graphs.pb.h"

namespace gpuprof::analysis {
namespace {

results::GraphMaking MadeOf(const Process& process, uint32_t graph) {
  const auto found = process.graphs.made.find(graph);
  if (found == process.graphs.made.end()) return results::GRAPH_MAKING_UNKNOWN;
  return found->second.before_capture ? results::GRAPH_MAKING_BEFORE_CAPTURE
                                      : results::GRAPH_MAKING_IN_CAPTURE;
}

// Nodes of one launch, by the launches whose nodes were recorded, or by what was made.
void FillContents(const Process& process, uint32_t graph, const GraphContents& sum,
                  uint64_t launches, results::Graph* row) {
  GraphContents contents = sum;
  if (launches == 0 && !FindContents(process, graph, &contents)) return;
  const auto each = static_cast<double>(std::max<uint64_t>(launches, 1));
  row->set_kernel_count_per_launch(static_cast<double>(contents.kernels) / each);
  row->set_copy_count_per_launch(static_cast<double>(contents.copies) / each);
  row->set_set_count_per_launch(static_cast<double>(contents.sets) / each);
}

struct Gaps {
  int64_t busy_ns = 0, span_ns = 0, longest_ns = 0;
  uint64_t count = 0;

  void Add(const GraphLaunch& launch) {
    const std::vector<Interval> busy = UnionOf(launch.nodes);
    busy_ns += TotalLength(busy) * launch.weight;
    span_ns += (launch.end_ns - launch.start_ns) * launch.weight;
    for (size_t i = 1; i < busy.size(); ++i) {
      longest_ns = std::max(longest_ns, busy[i].start - busy[i - 1].end);
      count += launch.weight;
    }
  }

  void Fill(results::Graph* row) const {
    row->set_busy_ns(busy_ns);
    row->set_gap_ns(span_ns - busy_ns);
    row->set_gap_count(count);
    row->set_gap_max_ns(longest_ns);
    row->set_gap_ratio(Ratio(span_ns - busy_ns, span_ns));
  }
};

// The calls of the launches, in the launches' order.
void FillCalls(const std::vector<GraphLaunch>& launches, size_t first, size_t behind,
               const CallIndex& calls, results::Graph* row) {
  SampleList times;
  for (size_t i = first; i < behind; ++i) {
    const std::optional<Call> call = calls.Find(launches[i].correlation);
    if (!call) continue;
    times.Add(call->end_ns - call->start_ns, launches[i].weight);
    if (i == first) row->set_first_call_ns(times.values().back());
  }
  if (times.count() == 0) return;
  const Samples samples = times.Take();
  row->set_call_count(samples.size());
  row->set_call_total_ns(samples.total());
  row->set_call_median_ns(samples.median());
}

// Launches [first, behind) are one graph's.
void AddGraph(const Process& process, const std::vector<GraphLaunch>& launches, size_t first,
              size_t behind, const CallIndex& calls, results::Graphs* out) {
  const uint32_t graph = launches[first].graph;
  results::Graph* row = out->add_graphs();
  row->set_name("graph " + std::to_string(graph));
  SetProcess(process, row);
  row->set_device(launches[first].device);
  row->set_graph(graph);
  if (const uint32_t source = process.graphs.SourceOf(graph); source != 0)
    row->set_source_graph(source);
  row->set_made(MadeOf(process, graph));
  SampleList times;
  GraphContents sum;  // of the launches that were recorded
  Gaps gaps;
  uint64_t wholes = 0, by_nodes = 0;
  for (size_t i = first; i < behind; ++i) {
    const GraphLaunch& launch = launches[i];
    times.Add(launch.end_ns - launch.start_ns, launch.weight);
    wholes += launch.is_whole ? launch.weight : 0;
    by_nodes += launch.is_whole ? 0 : 1;
    sum.kernels += launch.kernels;
    sum.copies += launch.copies;
    sum.sets += launch.sets;
    if (!launch.is_whole) gaps.Add(launch);
  }
  row->set_first_ns(times.values().front());
  FillDurations(times.Take(), row);
  row->set_whole_count(wholes);
  row->set_mode(wholes == 0     ? results::GRAPH_RECORDING_NODES
                : by_nodes == 0 ? results::GRAPH_RECORDING_WHOLE
                                : results::GRAPH_RECORDING_BOTH);
  FillContents(process, graph, sum, by_nodes, row);
  if (by_nodes != 0) gaps.Fill(row);
  FillCalls(launches, first, behind, calls, row);
}

void AddGraphs(const Process& process, const std::vector<GraphLaunch>& launches,
               const CallIndex& calls, results::Graphs* out) {
  for (size_t first = 0, behind = 0; first < launches.size(); first = behind) {
    while (behind < launches.size() && launches[behind].graph == launches[first].graph) ++behind;
    AddGraph(process, launches, first, behind, calls, out);
  }
}

// What a row by node stands for.
struct NodeKey {
  uint32_t device;
  uint64_t node;
  results::GraphNodeKind kind;
  std::string name;  // of a kernel as the compiler named it
  auto operator<=>(const NodeKey&) const = default;
};

struct NodeSums {
  SampleList times;
  std::set<uint32_t> graphs;
};

using NodeGroups = std::map<NodeKey, NodeSums>;

template <typename Table, typename Name>
void AddNodes(const Process& process, const Track& track, const Table& table,
              results::GraphNodeKind kind, Name name, NodeGroups* groups) {
  for (size_t i = 0; i < table.rows(); ++i) {
    if (table.graph[i] == 0) continue;
    const uint64_t node = process.graphs.RootOf(table.graph_node[i]);
    NodeSums& sums = (*groups)[NodeKey{track.device, node, kind, name(i)}];
    sums.times.Add(table.duration_ns[i], table.weight[i]);
    sums.graphs.insert(table.graph[i]);
  }
}

NodeGroups NodesOf(const Process& process) {
  NodeGroups groups;
  for (const Track& track : process.tracks) {
    const auto kernel_name = [&](size_t i) {
      const auto found = process.signatures.find(track.kernel.signature[i]);
      return process.String(found == process.signatures.end() ? 0 : found->second.name());
    };
    const auto copy_name = [&](size_t i) {
      return std::string(CopyKindName(proto::CopyKindOf(track.memcpy.operation[i])));
    };
    AddNodes(process, track, track.kernel, results::GRAPH_NODE_KERNEL, kernel_name, &groups);
    AddNodes(process, track, track.memcpy, results::GRAPH_NODE_COPY, copy_name, &groups);
    AddNodes(
        process, track, track.memset, results::GRAPH_NODE_SET,
        [](size_t) { return std::string("Memset"); }, &groups);
  }
  return groups;
}

void AddNodes(const Process& process, results::Graphs* out) {
  for (auto& [key, sums] : NodesOf(process)) {
    results::Graph* row = out->add_graphs();
    row->set_name(key.kind == results::GRAPH_NODE_KERNEL ? Demangle(key.name.c_str()) : key.name);
    if (row->name() != key.name) row->set_mangled(key.name);
    if (key.kind == results::GRAPH_NODE_KERNEL) row->set_family(FamilyOf(process, row->name()));
    row->set_kind(key.kind);
    SetProcess(process, row);
    row->set_device(key.device);
    row->set_node(key.node);
    if (sums.graphs.size() == 1) row->set_graph(*sums.graphs.begin());
    const auto root = process.graphs.nodes.find(key.node);
    if (root != process.graphs.nodes.end() && root->second.source == 0 &&
        sums.graphs.count(root->second.graph) == 0)
      row->set_source_graph(root->second.graph);
    FillDurations(sums.times.Take(), row);
  }
}

void AddModes(const Process& process, results::Graphs* out) {
  for (const GraphModeMark& mark : process.graphs.marks) {
    results::GraphModeChange* change = out->add_modes();
    change->set_name(mark.mode == proto::GraphMode::kWhole ? results::GRAPH_RECORDING_WHOLE
                                                           : results::GRAPH_RECORDING_NODES);
    SetProcess(process, change);
    change->set_capture(mark.capture);
    change->set_time_ns(mark.time_ns);
    if (mark.nodes != 0) change->set_node_count(mark.nodes);
  }
}

}  // namespace

Error RunGraphs(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Graphs>();
  const std::string by = context.By("graph");
  out->set_by(by);
  std::set<std::pair<size_t, uint32_t>> graphs;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const std::vector<GraphLaunch> launches = GraphLaunchesOf(process);
    for (const GraphLaunch& launch : launches) {
      out->set_count(out->count() + launch.weight);
      out->set_whole_count(out->whole_count() + (launch.is_whole ? launch.weight : 0));
      out->set_total_ns(out->total_ns() + (launch.end_ns - launch.start_ns) * launch.weight);
      graphs.insert({context.Owner(index), launch.graph});
    }
    if (by == "owner")
      AddGraphOwners(context, index, out.get());
    else if (by == "node")
      AddNodes(process, out.get());
    else
      AddGraphs(process, launches, context.calls(index), out.get());
    if (!launches.empty()) AddModes(process, out.get());
    out->set_call_count(out->call_count() + GraphCallsOf(process).count);
  }
  out->set_graph_count(graphs.size());
  int64_t total = 0;
  for (const results::Graph& row : out->graphs()) total += row.total_ns();
  for (results::Graph& row : *out->mutable_graphs())
    row.set_total_ratio(Ratio(row.total_ns(), total));
  SortByTotal(out->mutable_graphs());
  context.FillMeta("graphs", out->mutable_meta());
  if (by != "graph") {
    for (const size_t index : context.selected()) {
      const Process& process = context.process(index);
      AddWholeGraphNote(process, WholeGraphLaunches(process, nullptr), "nodes",
                        out->mutable_meta());
    }
  }
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  AddSampledNote(context, "", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
