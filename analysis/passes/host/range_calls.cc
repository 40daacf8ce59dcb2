// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/host/range_calls.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/steps/op_tree.h"
#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

using Span = std::pair<int64_t, int64_t>;

// Adds the ranges that a framework reports.
void AddRangesOfFramework(const Process& process, const OpTable& ops, const std::string& name,
                          std::vector<Span>* spans) {
  std::unordered_map<uint32_t, bool> wanted;  // by string id
  for (size_t row = 0; row < ops.rows(); ++row) {
    if (!IsUserRange(ops, row)) continue;
    const auto [at, is_new] = wanted.try_emplace(ops.name[row], false);
    if (is_new) {
      const std::string message = process.String(ops.name[row]);
      at->second = message == name || std::string(proto::kFrameworkDomain) + ":" + message == name;
    }
    if (at->second) spans->emplace_back(ops.end_ns[row] - ops.duration_ns[row], ops.end_ns[row]);
  }
}

// Those of one thread, by start, with what overlaps joined. A range that another thread began or
// ended says nothing about this one's calls.
std::vector<Span> RangesOf(const Process& process, const Track& track, const std::string& name) {
  const RangeTable& table = track.range;
  std::vector<Span> spans;
  AddRangesOfFramework(process, track.op, name, &spans);
  for (size_t row = 0; row < table.rows(); ++row) {
    const proto::RangeKind kind = proto::RangeKindOf(table.operation[row]);
    if (kind != proto::RangeKind::kPushPop && kind != proto::RangeKind::kStartEnd) continue;
    if (table.begin_thread[row] != 0 || !IsRangeNamed(process, table, row, name)) continue;
    spans.emplace_back(table.end_ns[row] - table.duration_ns[row], table.end_ns[row]);
  }
  std::sort(spans.begin(), spans.end());
  std::vector<Span> joined;
  for (const Span& span : spans) {
    if (!joined.empty() && span.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, span.second);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

}  // namespace

bool IsRangeNamed(const Process& process, const RangeTable& table, size_t row,
                  const std::string& name) {
  const std::string message = process.String(table.name[row]);
  if (message == name) return true;
  return table.domain[row] != 0 && process.String(table.domain[row]) + ":" + message == name;
}

bool CallsInRanges(const Process& process, const std::string& name,
                   std::unordered_set<uint32_t>* inside) {
  bool found = false;
  for (const Track& track : process.tracks) {
    const std::vector<Span> ranges = RangesOf(process, track, name);
    found = found || !ranges.empty();
    for (size_t call = 0; !ranges.empty() && call < track.api.rows(); ++call) {
      // Calls are on CUPTI's clock, ranges on ours: of a call at the edge the middle decides, which
      // the distance between the two clocks does not move across.
      const int64_t middle = track.api.end_ns[call] - track.api.duration_ns[call] / 2;
      const auto after = std::upper_bound(ranges.begin(), ranges.end(), Span{middle, INT64_MAX});
      if (after != ranges.begin() && middle < std::prev(after)->second) {
        inside->insert(track.api.correlation[call]);
      }
    }
  }
  inside->erase(0);
  return found;
}

}  // namespace gpuprof::analysis
