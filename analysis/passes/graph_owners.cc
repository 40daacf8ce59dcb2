// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See graph_owners.h.

#include "analysis/passes/graph_owners.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/derived/detailed_op.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "analysis/passes/kernels/launch_site.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct Owner {
  std::string name;  // "": not known
  results::OwnerEvidence evidence = results::OWNER_EVIDENCE_GRAPH;
  results::OwnerGap gap = results::OWNER_GAP_NONE;
  uint32_t detail = 0;  // of the operation, string id
};

// Device, graph that the program made, name, why there is none.
using Key = std::tuple<uint32_t, uint32_t, std::string, results::OwnerGap>;

struct Sums {
  SampleList times;
  results::OwnerEvidence evidence = results::OWNER_EVIDENCE_GRAPH;
  std::set<uint64_t> nodes;
  std::unordered_map<uint32_t, int64_t> stacks;  // and the time of the nodes made there
  std::set<uint32_t> details;
};

// Finds the owners of a process's nodes.
class Owners {
 public:
  Owners(PassContext& context, size_t index)
      : process_(context.process(index)),
        ops_(context.ops(index)),
        details_(context.details(index)) {}

  // `detail`: of the row of work. `graph`: the executable graph.
  Owner Of(const WorkOrigin& origin, uint32_t detail, uint32_t graph) {
    Owner owner;
    if (origin.owner) {
      const OpTable& table = process_.tracks[origin.owner->track].op;
      const uint32_t name = table.name[origin.owner->row];
      if (ops_.name_kind(name) != NameKind::kAnnotation) {
        owner.name = process_.String(name);
        owner.evidence = results::OWNER_EVIDENCE_CAPTURE;
        owner.detail = DetailOf(table, origin.owner->row);
        return owner;
      }
    }
    if (detail != 0) owner.name = OpNameOf(details_.Of(detail), "");
    if (!owner.name.empty()) {
      owner.evidence = results::OWNER_EVIDENCE_SOURCE;
      return owner;
    }
    owner.gap = origin.is_making_known ? results::OWNER_GAP_OUTSIDE
                : IsOlder(graph)       ? results::OWNER_GAP_BEFORE_CAPTURE
                                       : results::OWNER_GAP_NOT_TOLD;
    return owner;
  }

  // Returns the shapes of an operation's inputs, as JSON.
  const std::string& ShapesOf(uint32_t detail) { return details_.Of(detail).shapes; }

  // Returns the graph that the program made; 0: not known.
  uint32_t SourceOf(uint64_t node, uint32_t graph) const {
    const auto root = process_.graphs.nodes.find(process_.graphs.RootOf(node));
    if (root != process_.graphs.nodes.end() && root->second.source == 0) return root->second.graph;
    return process_.graphs.SourceOf(graph);
  }

 private:
  bool IsOlder(uint32_t graph) const {
    const auto made = process_.graphs.made.find(graph);
    return made != process_.graphs.made.end() && made->second.before_capture;
  }

  const Process& process_;
  ProcessOps& ops_;
  RowDetails& details_;
};

template <typename Table>
void AddTable(DeviceWorkKind kind, const Table& table, const Track& track, const Process& process,
              Origin* origins, Owners* owners, std::map<Key, Sums>* groups) {
  ForEachRowOfWork(kind, table, [&](const DeviceWork& work) {
    if (!work.in_graph) return;
    const WorkOrigin origin = origins->Of(work);
    const uint32_t graph = table.graph[work.row];
    uint32_t detail = 0;
    if constexpr (requires { table.detail; }) detail = DetailOf(table, work.row);
    const Owner owner = owners->Of(origin, detail, graph);
    Sums& sums =
        (*groups)[{track.device, owners->SourceOf(work.graph_node, graph), owner.name, owner.gap}];
    sums.times.Add(work.span.length(), work.weight);
    sums.evidence = owner.evidence;
    sums.details.insert(owner.detail);
    if (work.graph_node != 0) sums.nodes.insert(process.graphs.RootOf(work.graph_node));
    if (origin.stack > 1) sums.stacks[origin.stack] += work.span.length() * work.weight;
  });
}

}  // namespace

void AddGraphOwners(PassContext& context, size_t index, results::Graphs* out) {
  const Process& process = context.process(index);
  Origin& origins = context.origin(index);
  Owners owners(context, index);
  std::map<Key, Sums> groups;
  for (const Track& track : process.tracks) {
    AddTable(DeviceWorkKind::kKernel, track.kernel, track, process, &origins, &owners, &groups);
    AddTable(DeviceWorkKind::kCopy, track.memcpy, track, process, &origins, &owners, &groups);
    AddTable(DeviceWorkKind::kSet, track.memset, track, process, &origins, &owners, &groups);
  }
  for (auto& [key, sums] : groups) {
    const auto& [device, graph, name, gap] = key;
    results::Graph* row = out->add_graphs();
    SetProcess(process, row);
    row->set_device(device);
    row->set_name(name.empty() ? "not known" : name);
    row->set_owner_evidence(sums.evidence);
    if (gap != results::OWNER_GAP_NONE) row->set_owner_gap(gap);
    if (graph != 0) row->set_source_graph(graph);
    if (!sums.nodes.empty()) row->set_node_count(sums.nodes.size());
    const auto most =
        std::max_element(sums.stacks.begin(), sums.stacks.end(), [](const auto& x, const auto& y) {
          return x.second != y.second ? x.second < y.second : x.first > y.first;
        });
    if (most != sums.stacks.end()) {
      const std::string site = LaunchSite(context, index, most->first);
      if (!site.empty()) row->set_launched_by(site);
    }
    if (sums.details.size() == 1 && *sums.details.begin() != 0) {
      const std::string& shapes = owners.ShapesOf(*sums.details.begin());
      if (!shapes.empty()) row->set_shapes(shapes);
    }
    const Samples times = sums.times.Take();
    FillDurations(times, row);
  }
}

}  // namespace gpuprof::analysis
