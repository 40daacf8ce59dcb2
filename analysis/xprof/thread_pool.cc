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

constexpr uint64_t kThreadPoolContext = 15;

struct Region {
  Span span;
  uint64_t consumer = 0;
};

std::vector<Region> RegionsOf(const Plane& plane, const Line& line) {
  std::vector<Region> regions;
  uint64_t begin = 0, consumer = 0;
  for (const Event& event : line.events) {
    const std::string_view name = plane.names[event.name].name;
    if (name == "ThreadpoolListener::StartRegion") {
      if (const Stat* stat = plane.Find(event, StatKey::kConsumerId)) {
        begin = line.SpanOf(event).begin;
        consumer = stat->Whole();
      }
    } else if (name == "ThreadpoolListener::StopRegion" && begin != 0) {
      regions.push_back({Span::Between(begin, line.SpanOf(event).begin), consumer});
    }
  }
  return regions;
}

}  // namespace

void AddThreadPoolRegions(Plane* plane) {
  std::optional<uint32_t> name;
  for (Line& line : plane->lines) {
    const std::vector<Region> regions = RegionsOf(*plane, line);
    if (regions.empty()) continue;
    if (!name) {
      name = static_cast<uint32_t>(plane->names.size());
      plane->names.push_back({INT64_MIN, "ThreadpoolListener::Region", EventType::kNone, {}});
    }
    for (const Region& region : regions) {
      Event event;
      event.name = *name;
      event.first_stat = static_cast<uint32_t>(plane->event_stats.size());
      event.stats = 2;
      event.offset =
          static_cast<int64_t>(region.span.begin - static_cast<uint64_t>(line.timestamp_ns) * 1000);
      event.duration = static_cast<int64_t>(region.span.duration);
      using Kind = Stat::Kind;
      plane->event_stats.push_back({StatKey::kConsumerId, Kind::kSigned, region.consumer, {}});
      plane->event_stats.push_back({StatKey::kConsumerType, Kind::kSigned, kThreadPoolContext, {}});
      line.events.push_back(event);
    }
    std::stable_sort(line.events.begin(), line.events.end(), [&](const Event& x, const Event& y) {
      return line.SpanOf(x) < line.SpanOf(y);
    });
  }
}

}  // namespace gpuprof::analysis::xprof
