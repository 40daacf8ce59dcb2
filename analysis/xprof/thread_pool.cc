// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thread_pool.h.

#include "analysis/xprof/thread_pool.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace gpuprof::analysis::xprof {
namespace {

std::vector<Span> RegionsOf(const Plane& plane, const Line& line) {
  std::vector<Span> regions;
  uint64_t begin = 0;
  for (const Event& event : line.events) {
    const std::string_view name = plane.names[event.name].name;
    if (name == "ThreadpoolListener::StartRegion") {
      if (plane.Find(event, StatKey::kConsumerId) != nullptr) begin = line.SpanOf(event).begin;
    } else if (name == "ThreadpoolListener::StopRegion" && begin != 0) {
      regions.push_back(Span::Between(begin, line.SpanOf(event).begin));
    }
  }
  return regions;
}

}  // namespace

// The region belongs to no step: XProf does not take the mark's giver over.
void AddThreadPoolRegions(Plane* plane) {
  std::optional<uint32_t> name;
  for (Line& line : plane->lines) {
    const std::vector<Span> regions = RegionsOf(*plane, line);
    if (regions.empty()) continue;
    if (!name) {
      name = static_cast<uint32_t>(plane->names.size());
      plane->names.push_back({INT64_MIN, "ThreadpoolListener::Region", EventType::kNone, {}});
    }
    for (const Span& region : regions) {
      Event event;
      event.name = *name;
      event.offset =
          static_cast<int64_t>(region.begin - static_cast<uint64_t>(line.timestamp_ns) * 1000);
      event.duration = static_cast<int64_t>(region.duration);
      line.events.push_back(event);
    }
    std::stable_sort(line.events.begin(), line.events.end(), [&](const Event& x, const Event& y) {
      return line.SpanOf(x) < line.SpanOf(y);
    });
  }
}

}  // namespace gpuprof::analysis::xprof
