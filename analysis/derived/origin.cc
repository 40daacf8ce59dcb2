// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See origin.h.

#include "analysis/derived/origin.h"

#include <algorithm>
#include <string>

namespace gpuprof::analysis {

Origin::Origin(ProcessOps* ops, const CallIndex& calls) : ops_(ops), calls_(&calls) {
  const std::vector<Track>& tracks = ops->process().tracks;
  by_start_.resize(tracks.size());
  begun_.resize(tracks.size());
  around_.resize(tracks.size());
}

void Origin::NoteExternals() {
  by_external_.emplace();
  const std::vector<Track>& tracks = ops_->process().tracks;
  for (uint32_t t = 0; t < tracks.size(); ++t) {
    const Column<uint64_t>& external = tracks[t].op.external;
    for (uint32_t row = 0; row < external.size(); ++row) {
      if (external[row] != 0) by_external_->try_emplace(external[row], OpRef{t, row});
    }
  }
}

std::optional<OpRef> Origin::Find(uint32_t correlation, uint64_t external) {
  return OpOf(calls_->Find(correlation), external);
}

WorkOrigin Origin::Of(const DeviceWork& work, std::span<const Step> steps) {
  if (!stacks_) stacks_.emplace(ops_->process());
  WorkOrigin origin;
  origin.call = calls_->Find(work.correlation);
  origin.op = OpOf(origin.call, work.external);
  origin.in_graph = IsInGraph(work, origin.call);
  if (origin.call) origin.step = StepAt(steps, origin.call->start_ns);
  if (!origin.in_graph) {
    origin.owner = origin.op;
    origin.stack = stacks_->Find(work.correlation);
  } else if (const auto making = MakingOf(work)) {
    origin.is_making_known = true;
    origin.owner = Innermost(making->track, making->time_ns);
    origin.stack = StackAt(*making);
  }
  return origin;
}

std::optional<OpRef> Origin::Owner(const DeviceWork& work) {
  const std::optional<Call> call = calls_->Find(work.correlation);
  if (!IsInGraph(work, call)) return OpOf(call, work.external);
  const auto making = MakingOf(work);
  return making ? Innermost(making->track, making->time_ns) : std::nullopt;
}

// Some sources do not say that the work is of a graph, but name the call.
bool Origin::IsInGraph(const DeviceWork& work, const std::optional<Call>& launch) {
  if (work.in_graph) return true;
  if (!launch || work.kind == DeviceWorkKind::kGraph) return false;
  const Process& process = ops_->process();
  const ApiTable& calls = process.tracks[launch->track].api;
  if (calls.has_ids_alone()) return false;
  const auto [at, is_new] = launches_graph_.try_emplace(calls.function[launch->row], false);
  if (is_new) {
    const auto name = process.functions.find(at->first);
    at->second = name != process.functions.end() &&
                 process.String(name->second).find("GraphLaunch") != std::string::npos;
  }
  return at->second;
}

std::optional<Origin::Making> Origin::MakingOf(const DeviceWork& work) {
  const Process& process = ops_->process();
  if (work.graph_node == 0 || process.graphs.nodes.empty()) return std::nullopt;
  const auto node = process.graphs.nodes.find(process.graphs.RootOf(work.graph_node));
  if (node == process.graphs.nodes.end() || node->second.made_by == 0) return std::nullopt;
  if (track_of_thread_.empty()) {
    for (uint32_t track = 0; track < process.tracks.size(); ++track) {
      if (!process.tracks[track].is_stream && process.tracks[track].id != 0)
        track_of_thread_[process.tracks[track].tid] = track;
    }
  }
  const auto track = track_of_thread_.find(node->second.made_by);
  if (track == track_of_thread_.end()) return std::nullopt;
  return Making{track->second, node->second.made_ns};
}

// Returns the stack of the call in which the node was made. Calls are in the order of their ends.
uint32_t Origin::StackAt(const Making& making) const {
  const ApiTable& calls = ops_->process().tracks[making.track].api;
  if (calls.has_ids_alone()) return 0;
  size_t first = 0, last = calls.rows();
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (calls.end_ns[middle] < making.time_ns) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  constexpr size_t kMostNested = 4;  // the runtime's call contains the driver's
  for (size_t row = first; row < std::min(first + kMostNested, calls.rows()); ++row) {
    if (calls.end_ns[row] - calls.duration_ns[row] > making.time_ns) continue;
    if (const uint32_t stack = stacks_->Find(calls.correlation[row]); stack != 0) return stack;
  }
  return 0;
}

std::optional<uint32_t> Origin::StepAt(std::span<const Step> steps, int64_t time_ns) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time_ns,
                       [](int64_t time, const Step& step) { return time < step.span.start; });
  if (after == steps.begin()) return std::nullopt;
  if (time_ns >= (after - 1)->span.end) return std::nullopt;
  return static_cast<uint32_t>(after - 1 - steps.begin());
}

std::optional<OpRef> Origin::OpOf(const std::optional<Call>& launch, uint64_t external) {
  if (launch) {
    const uint64_t told = ExternalOf(ops_->process().tracks[launch->track].api, launch->row);
    if (told != 0) external = told;
  }
  if (external != 0) {
    if (!by_external_) NoteExternals();
    const auto at = by_external_->find(external);
    if (at != by_external_->end()) return at->second;
  }
  return launch ? Innermost(launch->track, launch->start_ns) : std::nullopt;
}

std::optional<OpRef> Origin::Innermost(uint32_t track, int64_t time_ns) {
  const OpTree& tree = ops_->tree(track);
  std::vector<uint32_t>& rows = by_start_[track];
  if (rows.size() != tree.rows()) {
    // Parents before their children; the sort keeps this order for equal starts.
    rows.resize(tree.rows());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = tree.in_order(i);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t x, uint32_t y) { return tree.start(x) < tree.start(y); });
  }
  // The moments mostly rise: the search begins where the last one ended.
  size_t& begun = begun_[track];  // rows that have begun
  const auto is_begun = [&](size_t place) { return tree.start(rows[place]) <= time_ns; };
  constexpr size_t kNear = 8;
  const bool is_behind = begun == 0 || (begun <= rows.size() && is_begun(begun - 1));
  size_t near = 0;
  while (is_behind && near < kNear && begun < rows.size() && is_begun(begun)) ++begun, ++near;
  if (!is_behind || near == kNear) {
    const auto at =
        std::upper_bound(rows.begin(), rows.end(), time_ns,
                         [&](int64_t time, uint32_t row) { return time < tree.start(row); });
    begun = static_cast<size_t>(at - rows.begin());
  }
  if (begun == 0) return std::nullopt;
  // No row ends behind the one around it.
  const uint32_t row = around_[track].Find(tree, rows[begun - 1],
                                           [&](uint32_t each) { return tree.end(each) > time_ns; });
  return row == kNoAncestor ? std::nullopt : std::optional(OpRef{track, row});
}

}  // namespace gpuprof::analysis
