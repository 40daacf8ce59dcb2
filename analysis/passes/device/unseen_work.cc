// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unseen_work.h.

#include "analysis/passes/device/unseen_work.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analysis/base/units.h"
#include "analysis/derived/device_work.h"
#include "analysis/passes/device/open_launches.h"

namespace gpuprof::analysis {
namespace {

// From the end of a launch to the begin of its work in a stream that is free: ten microseconds or
// so, a multiple of it for copies.
constexpr int64_t kLaunchTakesNs = 200'000;

struct First {
  int64_t start_ns = INT64_MAX;
  uint32_t correlation = 0;
};

// The first work of a track in each capture, as they lie in Process::captures, by time.
void FindFirst(const DeviceWork& work, const std::vector<CaptureWindow>& captures,
               std::vector<First>* first) {
  const auto behind =
      std::upper_bound(captures.begin(), captures.end(), work.span.start,
                       [](int64_t at, const CaptureWindow& w) { return at < w.start_ns; });
  if (behind == captures.begin()) return;
  First& known = (*first)[static_cast<size_t>(behind - captures.begin()) - 1];
  if (work.span.start < known.start_ns) known = {work.span.start, work.correlation};
}

void AddBefore(const Process& process, const CallIndex& calls, const Track& track,
               std::vector<Interval>* unseen) {
  std::vector<First> first(process.captures.size());
  ForEachDeviceWork(track,
                    [&](const DeviceWork& work) { FindFirst(work, process.captures, &first); });
  for (size_t i = 0; i < first.size(); ++i) {
    const CaptureWindow& window = process.captures[i];
    if (!window.cuda_had_begun || first[i].start_ns == INT64_MAX) continue;
    // Without an id it was launched before.
    const std::optional<Call> launch = calls.Find(first[i].correlation);
    if (!launch && first[i].correlation != 0) continue;
    const int64_t launched_ns = launch ? launch->end_ns : window.start_ns;
    if (launched_ns >= window.start_ns && first[i].start_ns - launched_ns > kLaunchTakesNs)
      unseen->push_back({window.start_ns, first[i].start_ns});
  }
}

std::vector<Interval> FindUnseenWork(PassContext& context, size_t index, uint32_t device) {
  const Process& process = context.process(index);
  std::vector<Interval> unseen;
  for (const Track& track : process.tracks)
    if (track.device == device) AddBefore(process, context.calls(index), track, &unseen);
  for (const OpenLaunch& open : OpenLaunchesOf(context, index))
    unseen.push_back({open.start_ns, process.captures[open.capture].end_ns});
  return UnionOf(std::move(unseen));
}

struct UnseenOfDevices {
  std::map<uint32_t, std::vector<Interval>> by_device;
};

}  // namespace

const std::vector<Interval>& UnseenWork(PassContext& context, size_t index, uint32_t device) {
  auto& known =
      context.kept(index).Get<UnseenOfDevices>([] { return UnseenOfDevices(); }).by_device;
  const auto [at, is_new] = known.try_emplace(device);
  if (is_new) at->second = FindUnseenWork(context, index, device);
  return at->second;
}

std::string UnseenNote(const std::string& whose, int64_t unseen_ns) {
  return whose + ": in " + FormatDuration(unseen_ns) +
         " of the idle time, the GPU may have done work that is not recorded (launched before the "
         "capture, or ended after it). The cause of that time is shown as unknown; busy time is a "
         "lower bound";
}

}  // namespace gpuprof::analysis
