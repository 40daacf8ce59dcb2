// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/range_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuprof::analysis {
namespace {

using Span = std::pair<int64_t, int64_t>;

// Those of one thread, by start, with what overlaps joined. A range that another thread began or
// ended says nothing about this one's calls.
std::vector<Span> RangesOf(const Process& process, const RangeTable& table,
                           const std::string& name) {
  std::vector<Span> spans;
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
    const std::vector<Span> ranges = RangesOf(process, track.range, name);
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
