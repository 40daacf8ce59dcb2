// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See summed_work.h.

#include "analysis/passes/device/summed_work.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/passes/device/device_gaps.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct Stretch {
  BusyStretch span;
  std::tuple<size_t, size_t, proto::ChunkKind> series;  // process, track, table
};

struct Bounds {
  int64_t low_ns = 0, high_ns = 0;
};

// Returns the bounds of the time of some stretches that touch each other, [first, end).
Bounds BoundsOfGroup(const Stretch* first, const Stretch* end) {
  // Tables of one stream may overlap, too: graphs and kernels do.
  std::map<std::tuple<size_t, size_t, proto::ChunkKind>, int64_t> by_series;
  Bounds bounds;
  int64_t last_ns = first->span.last_ns;
  for (const Stretch* each = first; each != end; ++each) {
    by_series[each->series] += each->span.busy_ns;
    bounds.high_ns += each->span.busy_ns;
    last_ns = std::max(last_ns, each->span.last_ns);
  }
  const int64_t length_ns = last_ns - first->span.first_ns;
  bounds.high_ns = std::min(bounds.high_ns, length_ns);
  for (const auto& [series, busy_ns] : by_series)
    bounds.low_ns = std::max(bounds.low_ns, std::min(busy_ns, length_ns));
  return bounds;
}

// `stretches` are sorted by their begin.
Bounds BoundsOf(const std::vector<Stretch>& stretches) {
  Bounds bounds;
  for (size_t first = 0; first < stretches.size();) {
    int64_t reaches_ns = stretches[first].span.last_ns;
    size_t end = first + 1;
    for (; end < stretches.size() && stretches[end].span.first_ns < reaches_ns; ++end)
      reaches_ns = std::max(reaches_ns, stretches[end].span.last_ns);
    const Bounds group = BoundsOfGroup(&stretches[first], stretches.data() + end);
    bounds.low_ns += group.low_ns;
    bounds.high_ns += group.high_ns;
    first = end;
  }
  return bounds;
}

std::vector<Stretch> StretchesOf(const PassContext& context, const UsedDevice& device) {
  std::vector<Stretch> stretches;
  for (const UsedDevice::User& user : device.users) {
    const Process& process = context.process(user.process);
    for (size_t t = 0; t < process.tracks.size(); ++t) {
      if (process.tracks[t].device != user.number) continue;
      for (const BusyStretch& span : process.tracks[t].work.stretches)
        stretches.push_back({span, {user.process, t, span.kind}});
    }
  }
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& x, const Stretch& y) {
    return std::pair(x.span.first_ns, x.span.last_ns) < std::pair(y.span.first_ns, y.span.last_ns);
  });
  return stretches;
}

}  // namespace

void FillSummedUse(PassContext& context, const UsedDevices& devices, results::OverviewGpu* gpu) {
  int64_t window_ns = 0;
  Bounds all;
  for (const UsedDevice& device : devices.all()) {
    const std::vector<Stretch> stretches = StretchesOf(context, device);
    const Bounds bounds = BoundsOf(stretches);
    all.low_ns += bounds.low_ns;
    all.high_ns += bounds.high_ns;
    std::vector<Interval> captures, spans;
    for (const UsedDevice::User& user : device.users) {
      const std::vector<Interval> of_process = CapturesOf(context.process(user.process));
      captures.insert(captures.end(), of_process.begin(), of_process.end());
    }
    for (const Stretch& each : stretches) spans.push_back({each.span.first_ns, each.span.last_ns});
    window_ns += TotalLength(WorkWindows(UnionOf(std::move(captures)), UnionOf(std::move(spans))));
  }
  if (window_ns == 0) return;
  all.low_ns = std::min(all.low_ns, window_ns);
  all.high_ns = std::min(all.high_ns, window_ns);
  gpu->set_window_ns(window_ns);
  gpu->set_busy_ns(all.low_ns);
  gpu->set_busy_ratio(Ratio(all.low_ns, window_ns));
  gpu->set_busy_high_ns(all.high_ns);
  gpu->set_busy_high_ratio(Ratio(all.high_ns, window_ns));
}

void SumCopies(PassContext& context, results::Memcpy* out) {
  bool lacks_bytes = false;
  uint64_t bytes = 0;
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      for (const TableSums& table : track.work.tables) {
        if (table.kind != proto::ChunkKind::kMemcpy && table.kind != proto::ChunkKind::kMemset)
          continue;
        lacks_bytes |= table.lacks_bytes;
        for (const KeySums& sums : table.keys) {
          out->set_count(out->count() + sums.count);
          out->set_total_ns(out->total_ns() + sums.total_ns);
          bytes += sums.bytes;
        }
      }
    }
  }
  if (!lacks_bytes) out->set_total_bytes(bytes);
}

}  // namespace gpuprof::analysis
