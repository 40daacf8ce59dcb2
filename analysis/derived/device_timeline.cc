// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_timeline.h.

#include "analysis/derived/device_timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/derived/layers.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

using results::TimeCategory;

constexpr int64_t kEver = std::numeric_limits<int64_t>::min();
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A launched piece of work begins within this time on a device that has nothing else to do. Large
// CUDA graphs take the longest: some milliseconds at their first launch.
constexpr int64_t kLongestWay = 5'000'000;

// Returns the category of a copy by its ends: CUpti_ActivityMemoryKind 1 and 2 are of the host.
TimeCategory CopyCategory(uint32_t operation) {
  constexpr uint32_t kPageable = 1, kPinned = 2;
  const auto is_of_host = [](uint32_t kind) { return kind == kPageable || kind == kPinned; };
  const uint32_t source = proto::CopySourceOf(operation);
  const uint32_t destination = proto::CopyDestinationOf(operation);
  if (is_of_host(source) && !is_of_host(destination)) return results::TIME_CATEGORY_COPY_HTOD;
  if (is_of_host(destination) && !is_of_host(source)) return results::TIME_CATEGORY_COPY_DTOH;
  // CUpti_ActivityMemcpyKind, for sources that do not tell the memory.
  constexpr uint32_t kHtoD = 1, kDtoH = 2, kHtoA = 3, kAtoH = 4;
  const uint32_t kind = proto::CopyKindOf(operation);
  if (kind == kHtoD || kind == kHtoA) return results::TIME_CATEGORY_COPY_HTOD;
  if (kind == kDtoH || kind == kAtoH) return results::TIME_CATEGORY_COPY_DTOH;
  return results::TIME_CATEGORY_COPY_DTOD;
}

// Finds the first gap whose start, or end, is not before a moment. The moments mostly rise: the
// search begins where the last one ended.
class GapFinder {
 public:
  GapFinder(const std::vector<DeviceGap>& gaps, int64_t Interval::*edge)
      : gaps_(gaps), edge_(edge) {}

  // Returns its place; the number of gaps: there is none.
  size_t Find(int64_t time_ns) {
    constexpr size_t kNear = 8;
    if (at_ != 0 && !IsBefore(at_ - 1, time_ns)) return at_ = Search(0, at_, time_ns);
    for (size_t i = 0; i < kNear && at_ < gaps_.size(); ++i, ++at_) {
      if (!IsBefore(at_, time_ns)) return at_;
    }
    return at_ = Search(at_, gaps_.size(), time_ns);
  }

 private:
  bool IsBefore(size_t gap, int64_t time_ns) const { return gaps_[gap].span.*edge_ < time_ns; }
  size_t Search(size_t first, size_t end, int64_t time_ns) const {
    while (first < end) {
      const size_t middle = first + (end - first) / 2;
      IsBefore(middle, time_ns) ? first = middle + 1 : end = middle;
    }
    return first;
  }

  const std::vector<DeviceGap>& gaps_;
  int64_t Interval::*edge_;
  size_t at_ = 0;
};

// Returns when the stream ran functions on the host, sorted and disjoint.
std::vector<Interval> TimesOf(const HostFunctionTable& functions) {
  std::vector<Interval> times;
  for (size_t i = 0; i < functions.rows(); ++i)
    times.push_back({functions.end_ns[i] - functions.duration_ns[i], functions.end_ns[i]});
  return UnionOf(std::move(times));
}

// Marks gaps in which the stream of the next work ran a function on the host. That work did not
// wait for the queue alone.
void SeeHostFunctions(const Process& process, std::vector<DeviceGap>* gaps) {
  std::vector<std::vector<Interval>> times(process.tracks.size());
  for (size_t t = 0; t < times.size(); ++t) times[t] = TimesOf(process.tracks[t].host_function);
  for (DeviceGap& gap : *gaps) {
    if (!gap.next || CoveredLength(times[gap.next->track], gap.span) == 0) continue;
    gap.is_same_stream = false;
    gap.is_explained = true;
  }
}

}  // namespace

TimeCategory WorkCategory(const Track& track, const DeviceWork& work, KernelClasses* classes) {
  switch (work.kind) {
    case DeviceWorkKind::kKernel:
      return classes->Of(track, work);
    case DeviceWorkKind::kCopy:
      return CopyCategory(track.memcpy.operation[work.row]);
    case DeviceWorkKind::kSet:
      return results::TIME_CATEGORY_COPY_DTOD;
    case DeviceWorkKind::kGraph:
      break;
  }
  return results::TIME_CATEGORY_GRAPH;
}

int64_t DeviceGap::HostUntil() const {
  if (!launch) return span.start;
  return std::clamp(launch->start_ns, span.start, span.end);
}

TimeCategory DeviceGap::Rest() const {
  if (!launch) return results::TIME_CATEGORY_UNEXPLAINED;
  const bool was_launched = launch->end_ns <= span.start;
  return was_launched && !is_same_stream ? results::TIME_CATEGORY_DEPENDENCY
                                         : results::TIME_CATEGORY_LAUNCH;
}

int64_t DeviceGap::UnseenFrom() const {
  if (!launch || is_explained) return span.end;
  // The call itself may load code, however long that takes.
  const int64_t queued = std::clamp(launch->end_ns, span.start, span.end);
  return span.end - queued > kLongestWay ? queued : span.end;
}

DeviceTimeline::DeviceTimeline(const Process& process, uint32_t device, const CallIndex& calls,
                               KernelClasses* classes, HostActivity* host, bool may_lack_work)
    : host_(host) {
  std::vector<std::vector<Interval>> by_category(kTimeCategories);
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      by_category[WorkCategory(track, work, classes)].push_back(work.span);
    });
  }
  for (std::vector<Interval>& spans : by_category) spans = UnionOf(std::move(spans));
  for (const LayerSpan& span : TopLayers(by_category))
    pieces_.push_back({span.span, static_cast<TimeCategory>(span.layer)});
  busy_ = UnionOfAll(std::move(by_category));
  if (busy_.empty()) return;
  FindGaps(process, device, calls);
  const bool has_others =
      std::any_of(process.tracks.begin(), process.tracks.end(),
                  [&](const Track& track) { return track.is_stream && track.device != device; });
  for (DeviceGap& gap : gaps_) gap.is_explained = has_others || !may_lack_work;
  SeeHostFunctions(process, &gaps_);
}

void DeviceTimeline::FindGaps(const Process& process, uint32_t device, const CallIndex& calls) {
  int64_t from = kEver;
  for (const Interval& busy : busy_) {
    gaps_.push_back({{from, busy.start}, {}, {}, false, true});
    from = busy.end;
  }
  gaps_.push_back({{from, kNever}, {}, {}, false, true});
  // The number of the last stream whose work ended where a gap begins, plus 1, by gap.
  std::vector<uint32_t> ended_by(gaps_.size(), 0);
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const Track& track = process.tracks[t];
    if (!track.is_stream || track.device != device) continue;
    GapFinder at_start(gaps_, &Interval::start), at_end(gaps_, &Interval::end);
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      const size_t ended = at_start.Find(work.span.end);
      if (ended != gaps_.size() && gaps_[ended].span.start == work.span.end)
        ended_by[ended] = t + 1;
    });
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      const size_t found = at_end.Find(work.span.start);
      if (found == gaps_.size() || gaps_[found].span.end != work.span.start) return;
      DeviceGap* const gap = &gaps_[found];
      const std::optional<Call> launch = calls.Find(work.correlation);
      const bool is_first =
          !gap->next || (launch && (!gap->launch || launch->start_ns < gap->launch->start_ns));
      if (!is_first) return;
      gap->next = WorkRef{t, work.kind, work.row};
      gap->launch = launch;
      gap->is_same_stream = ended_by[found] == t + 1;
    });
  }
}

void DeviceTimeline::AddGap(const DeviceGap& gap, Interval window, DeviceTimes* times) const {
  const Interval part = {std::max(gap.span.start, window.start),
                         std::min(gap.span.end, window.end)};
  if (part.end <= part.start) return;
  const int64_t late_until = std::clamp(gap.HostUntil(), part.start, part.end);
  const int64_t seen_until = std::clamp(gap.UnseenFrom(), late_until, part.end);
  (*times)[gap.Rest()] += seen_until - late_until;
  (*times)[results::TIME_CATEGORY_UNEXPLAINED] += part.end - seen_until;
  if (late_until > part.start) host_->Split(gap.launch->track, {part.start, late_until}, times);
}

DeviceTimes DeviceTimeline::Split(Interval window) const {
  DeviceTimes times{};
  if (window.end <= window.start) return times;
  auto span =
      std::upper_bound(pieces_.begin(), pieces_.end(), window.start,
                       [](int64_t time, const Piece& each) { return time < each.span.end; });
  for (; span != pieces_.end() && span->span.start < window.end; ++span) {
    times[span->category] +=
        std::min(span->span.end, window.end) - std::max(span->span.start, window.start);
  }
  auto gap =
      std::upper_bound(gaps_.begin(), gaps_.end(), window.start,
                       [](int64_t time, const DeviceGap& each) { return time < each.span.end; });
  for (; gap != gaps_.end() && gap->span.start < window.end; ++gap) AddGap(*gap, window, &times);
  if (gaps_.empty()) times[results::TIME_CATEGORY_UNEXPLAINED] += window.length();
  return times;
}

}  // namespace gpuprof::analysis
