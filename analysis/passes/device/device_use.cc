// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_use.h.

#include "analysis/passes/device/device_use.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/base/parallel.h"
#include "analysis/model/work_summary.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/unseen_work.h"

namespace gpuprof::analysis {
namespace {

// A process's use of a device that others use, too.
struct User {
  std::shared_ptr<const ProcessDevices> owner;  // of the timeline
  const DeviceTimeline* timeline = nullptr;
  size_t next = 0;  // the first gap of the timeline that was not looked at
};

struct SharedUse {
  std::vector<Interval> captures, unseen;
  std::vector<std::vector<Interval>> busy;
  std::vector<User> users;
  uint64_t rows = 0;
  bool has_causes = true;
};

uint64_t RowsOf(const Process& process, uint32_t device) {
  uint64_t rows = 0;
  for (const Track& track : process.tracks) {
    if (track.device != device) continue;
    rows +=
        track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.graph_launch.rows();
  }
  return rows;
}

std::vector<Interval> BusyOf(const Process& process, uint32_t device) {
  std::vector<std::vector<Interval>> busy;
  for (const Track& track : process.tracks)
    if (track.device == device && HasWork(track)) busy.push_back(BusyOf(track));
  return UnionOfAll(std::move(busy));
}

// Adds the use of a device by its only process.
void AddOwn(PassContext& context, size_t index, uint32_t device, const DeviceTimeline* timeline,
            DeviceUse* sum) {
  const Process& process = context.process(index);
  if (timeline == nullptr) {
    const std::vector<Interval> busy = BusyOf(process, device);
    const std::vector<Interval> windows = WorkWindows(CapturesOf(process), busy);
    sum->window_ns += TotalLength(windows);
    sum->busy_ns += BusyWithin(windows, busy);
    sum->has_causes = false;
    return;
  }
  const DeviceGaps gaps(context, index, device, *timeline);
  sum->window_ns += gaps.WindowLength();
  sum->busy_ns += gaps.BusyLength();
  sum->causes.Add(gaps.Causes());
}

// Notes the use of a device by one of several processes. The timelines of all are needed at once:
// they are kept unless they are too large together.
void AddUser(PassContext& context, size_t index, uint32_t device,
             const std::shared_ptr<const ProcessDevices>& owner, const DeviceTimeline* timeline,
             SharedUse* shared) {
  const Process& process = context.process(index);
  const auto append = [](const std::vector<Interval>& from, std::vector<Interval>* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(CapturesOf(process), &shared->captures);
  append(UnseenWork(context, index, device), &shared->unseen);
  shared->busy.push_back(timeline == nullptr ? BusyOf(process, device) : timeline->busy());
  shared->rows += RowsOf(process, device);
  shared->has_causes &= timeline != nullptr && shared->rows <= kMostWorkRows;
  if (shared->has_causes) {
    shared->users.push_back({owner, timeline, 0});
  } else {
    shared->users.clear();
  }
}

// Finds the process whose work ends the gap. If the work of several ends it, the one that was
// launched first counts: it alone would have ended the gap.
std::optional<std::pair<const DeviceTimeline*, DeviceGap>> EndOf(Interval gap,
                                                                 std::vector<User>* users) {
  std::optional<std::pair<const DeviceTimeline*, DeviceGap>> found;
  for (User& user : *users) {
    const std::vector<DeviceGap>& own = user.timeline->gaps();
    while (user.next < own.size() && own[user.next].span.end < gap.end) ++user.next;
    if (user.next == own.size() || own[user.next].span.end != gap.end) continue;
    const DeviceGap& ended = own[user.next];
    const bool is_first =
        !found || (ended.launch && (!found->second.launch ||
                                    ended.launch->start_ns < found->second.launch->start_ns));
    if (is_first) found = {user.timeline, ended};
  }
  if (!found) return std::nullopt;
  found->second.is_same_stream &= found->second.span.start == gap.start;
  found->second.span = gap;
  return found;
}

void AddShared(SharedUse shared, DeviceUse* sum) {
  std::vector<Interval> busy = UnionOfAll(std::move(shared.busy));
  const std::vector<Interval> windows = WorkWindows(UnionOf(std::move(shared.captures)), busy);
  sum->window_ns += TotalLength(windows);
  sum->busy_ns += BusyWithin(windows, busy);
  sum->has_causes &= shared.has_causes;
  if (!shared.has_causes) return;
  const std::vector<Interval> unseen = UnionOf(std::move(shared.unseen));
  for (const Interval& gap : GapsIn(windows, busy)) {
    if (const auto end = EndOf(gap, &shared.users))
      sum->causes.Add(*end->first, end->second, unseen);
  }
}

// Returns the process's numbers of the devices that it used.
std::set<uint32_t> NumbersOf(const Process& process) {
  std::set<uint32_t> used;
  for (const Track& track : process.tracks)
    if (HasWork(track)) used.insert(track.device);
  return used;
}

const DeviceTimeline* TimelineOf(const ProcessDevices& devices, uint32_t number) {
  const auto found = devices.all().find(number);
  return found == devices.all().end() ? nullptr : &found->second;
}

// Adds the use of devices by the only process of each. Threads make the timelines of processes, as
// many at once as fit into memory. The series of steps need the same timelines, so they are made
// with them.
void AddAlone(PassContext& context, const std::vector<size_t>& processes, DeviceUse* sum) {
  uint64_t most = 1;
  for (const size_t index : processes) {
    context.steps(index);
    most = std::max(most, context.process(index).rows);
  }
  const auto fitting = static_cast<int>(std::clamp<uint64_t>(kMostWorkRows / most, 1, 256));
  std::vector<DeviceUse> uses(processes.size());
  ParallelFor(processes.size(), std::min(ThreadCount(0), fitting), [&](size_t i, int) {
    const size_t index = processes[i];
    const ProcessDevices timelines(context, index);
    for (const uint32_t number : NumbersOf(context.process(index)))
      AddOwn(context, index, number, TimelineOf(timelines, number), &uses[i]);
    KeepDeviceSeries(context, index, timelines);
  });
  for (const DeviceUse& use : uses) {
    sum->window_ns += use.window_ns;
    sum->busy_ns += use.busy_ns;
    sum->causes.Add(use.causes);
    sum->has_causes &= use.has_causes;
  }
}

}  // namespace

DeviceUse UseOfAll(PassContext& context, const UsedDevices& devices) {
  DeviceUse sum;
  std::vector<SharedUse> shared(devices.all().size());
  std::vector<size_t> alone;  // processes that share no device
  for (const size_t index : context.selected()) {
    const std::set<uint32_t> used = NumbersOf(context.process(index));
    if (used.empty()) continue;
    const auto is_own = [&](uint32_t number) {
      return devices.all()[devices.Of(index, number)].users.size() == 1;
    };
    if (HasManyProcesses(context) && std::all_of(used.begin(), used.end(), is_own)) {
      alone.push_back(index);
      continue;
    }
    const auto timelines = context.devices(index);
    for (const uint32_t number : used) {
      const DeviceTimeline* timeline = TimelineOf(*timelines, number);
      if (is_own(number)) {
        AddOwn(context, index, number, timeline, &sum);
      } else {
        AddUser(context, index, number, timelines, timeline, &shared[devices.Of(index, number)]);
      }
    }
  }
  AddAlone(context, alone, &sum);
  for (size_t i = 0; i < shared.size(); ++i)
    if (devices.all()[i].users.size() > 1) AddShared(std::move(shared[i]), &sum);
  return sum;
}

}  // namespace gpuprof::analysis
