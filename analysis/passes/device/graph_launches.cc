// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See graph_launches.h.

#include "analysis/passes/device/graph_launches.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/derived/device_work.h"
#include "analysis/passes/passes.h"

namespace gpuprof::analysis {
namespace {

// CUgraphNodeType.
constexpr uint32_t kKernelNode = 0, kCopyNode = 1, kSetNode = 2;

using ByLaunch = std::map<std::pair<uint32_t, uint32_t>, GraphLaunch>;  // by graph, correlation

void Cover(const Track& track, Interval span, GraphLaunch* launch) {
  const bool is_first = launch->start_ns == launch->end_ns && launch->nodes.empty();
  launch->start_ns = is_first ? span.start : std::min(launch->start_ns, span.start);
  launch->end_ns = is_first ? span.end : std::max(launch->end_ns, span.end);
  launch->device = track.device;
}

template <typename Table>
void AddNodes(const Track& track, const Table& table, uint64_t GraphLaunch::*kind,
              ByLaunch* launches) {
  for (size_t i = 0; i < table.rows(); ++i) {
    if (table.graph[i] == 0) continue;
    GraphLaunch& launch = (*launches)[{table.graph[i], table.correlation[i]}];
    const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
    Cover(track, span, &launch);
    launch.weight = table.weight[i];
    launch.nodes.push_back(span);
    ++(launch.*kind);
  }
}

}  // namespace

std::vector<GraphLaunch> GraphLaunchesOf(const Process& process) {
  ByLaunch by_launch;
  for (const Track& track : process.tracks) {
    AddNodes(track, track.kernel, &GraphLaunch::kernels, &by_launch);
    AddNodes(track, track.memcpy, &GraphLaunch::copies, &by_launch);
    AddNodes(track, track.memset, &GraphLaunch::sets, &by_launch);
  }
  for (const Track& track : process.tracks) {
    const GraphLaunchTable& wholes = track.graph_launch;
    for (size_t i = 0; i < wholes.rows(); ++i) {
      GraphLaunch& launch = by_launch[{wholes.graph[i], wholes.correlation[i]}];
      Cover(track, {wholes.end_ns[i] - wholes.duration_ns[i], wholes.end_ns[i]}, &launch);
      // Where both were recorded, the nodes tell more.
      launch.is_whole = launch.nodes.empty();
      if (launch.is_whole) launch.weight = wholes.weight[i];
    }
  }
  std::vector<GraphLaunch> launches;
  launches.reserve(by_launch.size());
  for (auto& [key, launch] : by_launch) {
    launch.graph = key.first;
    launch.correlation = key.second;
    launches.push_back(std::move(launch));
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const GraphLaunch& x, const GraphLaunch& y) {
                     return x.graph != y.graph ? x.graph < y.graph : x.start_ns < y.start_ns;
                   });
  return launches;
}

bool FindContents(const Process& process, uint32_t graph, GraphContents* contents) {
  bool found = false, tells_types = false;
  for (const auto& [id, node] : process.graphs.nodes) {
    tells_types = tells_types || node.type != kKernelNode;
    if (node.graph != graph) continue;
    found = true;
    if (node.type == kKernelNode) ++contents->kernels;
    if (node.type == kCopyNode) ++contents->copies;
    if (node.type == kSetNode) ++contents->sets;
  }
  return found && tells_types;
}

uint64_t WholeGraphLaunches(const Process& process, const std::unordered_set<uint32_t>* only) {
  uint64_t count = 0;
  for (const Track& track : process.tracks) {
    const GraphLaunchTable& wholes = track.graph_launch;
    for (size_t i = 0; i < wholes.rows(); ++i) {
      const bool counts = only == nullptr || only->count(wholes.correlation[i]) != 0;
      count += counts ? wholes.weight[i] : 0;
    }
    for (const TableSums& table : track.work.tables) {
      if (only != nullptr || table.kind != proto::ChunkKind::kGraphLaunch) continue;
      for (const KeySums& graph : table.keys) count += graph.count;
    }
  }
  return count;
}

void AddWholeGraphNote(const Process& process, uint64_t launches, const char* what,
                       results::Meta* meta) {
  if (launches == 0) return;
  meta->add_notes(
      "pid " + std::to_string(process.pid) + ": " + std::to_string(launches) +
      (launches == 1 ? " launch of a CUDA graph was" : " launches of CUDA graphs were") +
      " recorded as a whole: the " + what +
      " in them are not counted here; 'gpuprof run --graphs=node' records every node");
}

GraphCalls GraphCallsOf(const Process& process) {
  std::unordered_set<uint32_t> launchers;  // functions
  for (const auto& entry : process.functions) {
    const std::string name = ApiFunctionName(process, entry.first);
    if (name.find("GraphLaunch") != std::string::npos) launchers.insert(entry.first);
  }
  GraphCalls calls;
  if (launchers.empty()) return calls;
  std::unordered_set<uint32_t> with_work;  // correlation ids
  for (const Track& track : process.tracks) {
    if (!track.is_stream) continue;
    ForEachDeviceWork(track, [&](const DeviceWork& work) { with_work.insert(work.correlation); });
  }
  std::unordered_set<uint32_t> seen;  // a runtime call and the driver's call in it share an id
  for (const Track& track : process.tracks) {
    const ApiTable& api = track.api;
    for (size_t i = 0; !api.has_ids_alone() && i < api.rows(); ++i) {
      const uint32_t id = api.correlation[i];
      if (launchers.count(api.function[i]) == 0 || !seen.insert(id).second) continue;
      ++calls.count;
      if (with_work.count(id) == 0) ++calls.empty_count;
    }
  }
  return calls;
}

}  // namespace gpuprof::analysis
