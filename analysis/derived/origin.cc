// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See origin.h.

#include "analysis/derived/origin.h"

#include <algorithm>

namespace gpuprof::analysis {

Origin::Origin(ProcessOps* ops, const CallIndex& calls, std::span<const results::Step> steps)
    : ops_(ops), calls_(&calls), steps_(steps) {
  const std::vector<Track>& tracks = ops->process().tracks;
  by_start_.resize(tracks.size());
  for (uint32_t t = 0; t < tracks.size(); ++t) {
    const Column<uint64_t>& external = tracks[t].op.external;
    for (uint32_t row = 0; row < external.size(); ++row) {
      if (external[row] != 0) by_external_.try_emplace(external[row], OpRef{t, row});
    }
  }
}

std::optional<OpRef> Origin::Find(uint32_t correlation, uint64_t external) {
  return OpOf(calls_->Find(correlation), external);
}

WorkOrigin Origin::Of(const DeviceWork& work) {
  if (!stacks_) stacks_.emplace(ops_->process());
  WorkOrigin origin;
  origin.call = calls_->Find(work.correlation);
  origin.op = OpOf(origin.call, work.external);
  origin.stack = stacks_->Find(work.correlation);
  if (origin.call) origin.step = StepAt(origin.call->start_ns);
  return origin;
}

std::optional<uint32_t> Origin::StepAt(int64_t time_ns) const {
  const auto after = std::upper_bound(
      steps_.begin(), steps_.end(), time_ns,
      [](int64_t time, const results::Step& step) { return time < step.start_ns(); });
  if (after == steps_.begin()) return std::nullopt;
  const results::Step& step = *(after - 1);
  if (time_ns >= step.start_ns() + step.duration_ns()) return std::nullopt;
  return static_cast<uint32_t>(after - 1 - steps_.begin());
}

std::optional<OpRef> Origin::OpOf(const std::optional<Call>& launch, uint64_t external) {
  if (launch) {
    const uint64_t told = ExternalOf(ops_->process().tracks[launch->track].api, launch->row);
    if (told != 0) external = told;
  }
  if (external != 0) {
    const auto at = by_external_.find(external);
    if (at != by_external_.end()) return at->second;
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
  auto at = std::upper_bound(rows.begin(), rows.end(), time_ns,
                             [&](int64_t time, uint32_t row) { return time < tree.start(row); });
  if (at == rows.begin()) return std::nullopt;
  for (uint32_t row = *--at; row != OpTree::kNone; row = tree.parent(row)) {
    if (tree.end(row) > time_ns) return OpRef{track, row};
  }
  return std::nullopt;
}

}  // namespace gpuprof::analysis
