// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_window.h.

#include "analysis/passes/device/device_window.h"

#include <utility>
#include <vector>

#include "analysis/passes/device/device_gaps.h"

namespace gpuprof::analysis {

DeviceWindow WindowOf(PassContext& context, const UsedDevice& device) {
  std::vector<std::vector<Interval>> busy_of_tracks;
  std::vector<Interval> captures;
  for (const UsedDevice::User& user : device.users) {
    const Process& process = context.process(user.process);
    for (const Track& track : process.tracks) {
      if (HasWork(track) && track.device == user.number) busy_of_tracks.push_back(BusyOf(track));
    }
    for (const Interval& capture : CapturesOf(process)) captures.push_back(capture);
  }
  const std::vector<Interval> busy = UnionOfAll(std::move(busy_of_tracks));
  const std::vector<Interval> windows = WorkWindows(UnionOf(std::move(captures)), busy);
  return {TotalLength(windows), TotalLength(Intersection(busy, windows))};
}

bool HasMuchWork(const PassContext& context) {
  constexpr size_t kMostWork = 2'000'000;
  size_t rows = 0;
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks)
      rows += track.kernel.rows() + track.memcpy.rows() + track.memset.rows() +
              track.graph_launch.rows();
  }
  return rows > kMostWork;
}

}  // namespace gpuprof::analysis
