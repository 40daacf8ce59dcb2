// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `idle`: the gaps of each device (analysis/derived/device_timeline.h), and what the
// launching threads did in them.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "analysis/passes/device/idle_gaps.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kKeptGaps = 1000;  // the others are only in the sums

void AddShares(const NamesDuring::Shares& shares, int64_t late_ns,
               google::protobuf::RepeatedPtrField<results::HostShare>* out) {
  for (const auto& [name, share] : shares) {
    results::HostShare* row = out->Add();
    row->set_name(name);
    row->set_total_ns(share.ns);
    row->set_total_ratio(Ratio(share.ns, late_ns));
    row->set_gap_count(share.gaps);
  }
  SortByTotal(out);
}

// Adds the longest gaps of all processes; of equal ones, the first.
void AddLongest(const std::vector<std::shared_ptr<IdleGaps>>& processes,
                google::protobuf::RepeatedPtrField<results::IdleGap>* out) {
  struct Place {
    int64_t duration_ns;
    size_t process, span;
  };
  std::vector<Place> longest;
  for (size_t process = 0; process < processes.size(); ++process) {
    const std::vector<IdleSpan>& spans = processes[process]->spans();
    for (size_t span = 0; span < spans.size(); ++span)
      longest.push_back({spans[span].duration_ns, process, span});
  }
  const size_t kept = std::min(longest.size(), kKeptGaps);
  std::partial_sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(kept),
                    longest.end(), [](const Place& x, const Place& y) {
                      return x.duration_ns != y.duration_ns
                                 ? x.duration_ns > y.duration_ns
                                 : std::tie(x.process, x.span) < std::tie(y.process, y.span);
                    });
  longest.resize(kept);
  for (const Place& place : longest) {
    IdleGaps& gaps = *processes[place.process];
    *out->Add() = gaps.Describe(gaps.spans()[place.span]);
  }
}

void FillRows(PassContext& context, results::Idle* out) {
  std::vector<std::shared_ptr<IdleGaps>> processes;
  NamesDuring::Shares ops, functions;
  int64_t late_ns = 0;
  for (const size_t index : context.selected()) {
    const IdleGaps& gaps = *processes.emplace_back(IdleGaps::Of(context, index));
    gaps.AddDevices(out);
    for (const IdleSpan& span : gaps.spans()) late_ns += span.late_ns;
    gaps.ops().AddTo(&ops);
    gaps.functions().AddTo(&functions);
  }
  AddLongest(processes, out->mutable_gaps());
  SetShortKernelNames(out->mutable_gaps());
  AddShares(ops, late_ns, out->mutable_operations());
  AddShares(functions, late_ns, out->mutable_functions());
}

}  // namespace

Error RunIdle(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Idle>(KeptRows<results::Idle>(
      context.kept_of_all(), "idle", [&](results::Idle* rows) { FillRows(context, rows); }));
  context.FillCountMeta("idle", out->mutable_meta());
  AddSampledNote(context, "idle time", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
