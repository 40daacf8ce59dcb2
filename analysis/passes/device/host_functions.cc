// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_functions.h.

#include "analysis/passes/device/host_functions.h"

#include <algorithm>
#include <utility>

#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/passes.h"

namespace gpuprof::analysis {
namespace {

void AddTimes(const HostFunctionTable& table, std::vector<Interval>* times) {
  for (size_t i = 0; i < table.rows(); ++i)
    times->push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
}

void FillSums(const HostFunctionTable& table, results::HostFunctions* row) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const int64_t duration = table.duration_ns[i];
    const uint32_t weight = table.weight[i];
    row->set_total_ns(row->total_ns() + duration * weight);
    row->set_max_ns(std::max(row->max_ns(), duration));
    if (table.graph[i] != 0) row->set_graph_node_count(row->graph_node_count() + weight);
  }
  row->set_count(CountOf(table));
  row->set_mean_ns(row->total_ns() / static_cast<int64_t>(std::max<uint64_t>(row->count(), 1)));
}

}  // namespace

std::vector<Interval> HostFunctionTimes(const Process& process, uint32_t device) {
  std::vector<Interval> times;
  for (const Track& track : process.tracks)
    if (track.is_stream && track.device == device) AddTimes(track.host_function, &times);
  return UnionOf(std::move(times));
}

void AddHostFunctions(const Process& process, const std::map<uint32_t, std::vector<Interval>>& idle,
                      results::Streams* out) {
  for (const Track& track : process.tracks) {
    const HostFunctionTable& table = track.host_function;
    if (table.rows() == 0) continue;
    results::HostFunctions* row = out->add_host_functions();
    SetProcess(process, row);
    row->set_device(track.device);
    row->set_context(track.context);
    row->set_stream(track.stream);
    FillSums(table, row);
    const auto gaps = idle.find(track.device);
    if (gaps == idle.end()) continue;
    std::vector<Interval> times;
    AddTimes(table, &times);
    row->set_idle_ns(TotalLength(Intersection(UnionOf(std::move(times)), gaps->second)));
  }
}

}  // namespace gpuprof::analysis
