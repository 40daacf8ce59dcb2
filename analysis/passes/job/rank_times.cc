// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_times.h.

#include "analysis/passes/job/rank_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/derived/arrivals.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_phase.h"
#include "analysis/derived/layers.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/job/rank_collectives.h"

namespace gpuprof::analysis {
namespace {

constexpr std::array<std::string_view, kRankTimes> kRankTimeNames = {
    "input", "forward", "backward", "optimizer", "compute",
    "copy",  "wait",    "transfer", "host",      "other"};

// Parts of busy time, as layers: what computes comes first, then data that moves.
constexpr RankTime kBusyLayers[] = {RankTime::kForward, RankTime::kBackward, RankTime::kOptimizer,
                                    RankTime::kCompute, RankTime::kTransfer, RankTime::kWait,
                                    RankTime::kCopy};
constexpr size_t kBusyLayerCount = std::size(kBusyLayers);

int64_t& At(RankTimes& times, RankTime time) { return times[static_cast<size_t>(time)]; }

size_t LayerOf(RankTime time) {
  return static_cast<size_t>(std::find(std::begin(kBusyLayers), std::end(kBusyLayers), time) -
                             std::begin(kBusyLayers));
}

RankTime TimeOf(std::optional<Category> phase) {
  if (!phase) return RankTime::kCompute;
  switch (*phase) {
    case Category::kForward:
      return RankTime::kForward;
    case Category::kBackward:
      return RankTime::kBackward;
    case Category::kOptimizer:
      return RankTime::kOptimizer;
    default:
      return RankTime::kCompute;
  }
}

// Returns the part of a device's idle time, or nothing: the device was busy.
std::optional<RankTime> IdleTimeOf(results::TimeCategory category) {
  switch (category) {
    case results::TIME_CATEGORY_INPUT:
      return RankTime::kInput;
    case results::TIME_CATEGORY_OUTPUT:
    case results::TIME_CATEGORY_COMPILE:
    case results::TIME_CATEGORY_SYNC:
    case results::TIME_CATEGORY_PROFILER:
    case results::TIME_CATEGORY_HOST:
    case results::TIME_CATEGORY_LAUNCH:
      return RankTime::kHost;
    case results::TIME_CATEGORY_DEPENDENCY:
    case results::TIME_CATEGORY_UNEXPLAINED:
      return RankTime::kOther;
    default:
      return std::nullopt;
  }
}

bool IsCopy(results::TimeCategory category) {
  return category == results::TIME_CATEGORY_COPY_HTOD ||
         category == results::TIME_CATEGORY_COPY_DTOH ||
         category == results::TIME_CATEGORY_COPY_DTOD;
}

// Sorted, disjoint pieces of time, each with its part.
class PieceList {
 public:
  struct Piece {
    Interval span;
    RankTime time;
  };
  explicit PieceList(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  // Adds what lies in the window. Windows mostly rise.
  void AddTo(Interval window, RankTimes* times) {
    if (at_ > 0 && pieces_[at_ - 1].span.end > window.start) at_ = 0;
    while (at_ < pieces_.size() && pieces_[at_].span.end <= window.start) ++at_;
    for (size_t i = at_; i < pieces_.size() && pieces_[i].span.start < window.end; ++i) {
      const Interval& span = pieces_[i].span;
      At(*times, pieces_[i].time) +=
          std::min(span.end, window.end) - std::max(span.start, window.start);
    }
  }

 private:
  std::vector<Piece> pieces_;
  size_t at_ = 0;
};

// Adds the time of one collective kernel to the layers of waiting and transfer. `matched`: by
// start.
void AddCollective(Interval span, const std::vector<RankCollective>& matched,
                   std::vector<std::vector<Interval>>* layers) {
  auto found = std::partition_point(
      matched.begin(), matched.end(),
      [&](const RankCollective& each) { return each.span.start < span.start; });
  for (; found != matched.end() && found->span.start == span.start; ++found) {
    if (found->span.end != span.end) continue;
    const int64_t last = std::clamp(found->last_ns, span.start, span.end);
    if (last > span.start) (*layers)[LayerOf(RankTime::kWait)].push_back({span.start, last});
    span.start = last;
    break;
  }
  if (span.end > span.start) (*layers)[LayerOf(RankTime::kTransfer)].push_back(span);
}

PieceList DevicePieces(PassContext& context, size_t index, uint32_t device,
                       const std::vector<RankCollective>& collectives) {
  const Process& process = context.process(index);
  KernelPhases phases(process, context.calls(index), context.steps(index).timeline,
                      &context.families(index));
  std::vector<std::vector<Interval>> layers(kBusyLayerCount);
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      const results::TimeCategory category = WorkCategory(track, work, &context.classes(index));
      if (category == results::TIME_CATEGORY_COLLECTIVE) {
        AddCollective(work.span, collectives, &layers);
      } else if (IsCopy(category)) {
        layers[LayerOf(RankTime::kCopy)].push_back(work.span);
      } else {
        layers[LayerOf(TimeOf(phases.Of(track, work)))].push_back(work.span);
      }
    });
  }
  for (std::vector<Interval>& spans : layers) spans = UnionOf(std::move(spans));
  std::vector<PieceList::Piece> pieces;
  for (const LayerSpan& span : TopLayers(layers))
    pieces.push_back({span.span, kBusyLayers[span.layer]});
  return PieceList(std::move(pieces));
}

void AddDeviceSteps(PassContext& context, size_t index, uint32_t device,
                    const DeviceTimeline& timeline, const std::vector<RankCollective>& collectives,
                    RankSteps* out) {
  const std::vector<Step>& steps = context.steps(index).steps;
  const std::vector<Interval> periods = PeriodsOnDevice(context, index, device, timeline);
  PieceList pieces = DevicePieces(context, index, device, collectives);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_warmup || periods[i].length() <= 0) continue;
    RankStep& step = out->steps.emplace_back();
    step.number = steps[i].number;
    step.span = periods[i];
    pieces.AddTo(step.span, &step.times);
    const DeviceTimes all = timeline.Split(step.span);
    for (size_t category = 0; category < all.size(); ++category) {
      const auto idle = IdleTimeOf(static_cast<results::TimeCategory>(category));
      if (idle) At(step.times, *idle) += all[category];
    }
  }
}

RankTime HostTimeOf(Category category) {
  switch (category) {
    case Category::kInput:
      return RankTime::kInput;
    case Category::kForward:
    case Category::kBackward:
    case Category::kOptimizer:
      return TimeOf(category);
    case Category::kLockWait:
    case Category::kBlocked:
      return RankTime::kOther;
    case Category::kOther:
      break;
  }
  return RankTime::kHost;
}

// Returns what is known of the training thread's time. The rest is the host's.
PieceList HostPieces(const StepAnalysis& steps, const std::vector<RankCollective>& collectives) {
  std::vector<Interval> waits, transfers;
  for (const RankCollective& each : collectives) {
    if (each.last_ns > each.span.start) waits.push_back({each.span.start, each.last_ns});
    if (each.span.end > each.last_ns) transfers.push_back({each.last_ns, each.span.end});
  }
  // Layers from the top: what the thread does itself, then collectives, then other waits.
  std::vector<std::vector<Interval>> layers(kRankTimes);
  const auto layer = [&](RankTime time) -> std::vector<Interval>& {
    return layers[static_cast<size_t>(time)];
  };
  for (const CategoryTimeline::Segment& segment : steps.timeline.segments()) {
    const RankTime time = HostTimeOf(segment.category);
    // Waits of the thread are below the collectives that cause them.
    if (time == RankTime::kOther || time == RankTime::kHost) continue;
    layer(time).push_back({segment.start, segment.end});
  }
  layer(RankTime::kTransfer) = UnionOf(std::move(transfers));
  layer(RankTime::kWait) = UnionOf(std::move(waits));
  for (const CategoryTimeline::Segment& segment : steps.timeline.segments()) {
    const RankTime time = HostTimeOf(segment.category);
    if (time == RankTime::kOther) layer(time).push_back({segment.start, segment.end});
  }
  for (std::vector<Interval>& spans : layers) spans = UnionOf(std::move(spans));
  std::vector<PieceList::Piece> pieces;
  for (const LayerSpan& span : TopLayers(layers))
    pieces.push_back({span.span, static_cast<RankTime>(span.layer)});
  return PieceList(std::move(pieces));
}

void AddHostSteps(PassContext& context, size_t index,
                  const std::vector<RankCollective>& collectives, RankSteps* out) {
  const StepAnalysis& steps = context.steps(index);
  PieceList pieces = HostPieces(steps, collectives);
  for (const Step& each : steps.steps) {
    if (each.is_warmup) continue;
    RankStep& step = out->steps.emplace_back();
    step.number = each.number;
    step.span = each.span;
    pieces.AddTo(step.span, &step.times);
    int64_t covered = 0;
    for (const int64_t part : step.times) covered += part;
    At(step.times, RankTime::kHost) += step.span.length() - covered;
  }
}

}  // namespace

std::string_view RankTimeName(RankTime time) { return kRankTimeNames[static_cast<size_t>(time)]; }

int64_t OwnTime(const RankTimes& times) {
  int64_t own = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const auto time = static_cast<RankTime>(i);
    if (time != RankTime::kWait && time != RankTime::kTransfer) own += times[i];
  }
  return own;
}

JobSteps FindJobSteps(PassContext& context) {
  JobSteps job;
  const RankCollectives collectives(context);
  job.has_arrivals = collectives.is_matched();
  job.has_clocks = collectives.has_clocks();
  job.clock_error_ns = collectives.clock_error_ns();
  const std::vector<RankCollective> none;
  std::vector<RankSteps> hosts;
  for (const size_t index : context.selected()) {
    if (!context.steps(index).found()) continue;
    const std::vector<DetectedStep>& detected = context.steps(index).detected.steps;
    const bool has_numbers =
        std::all_of(detected.begin(), detected.end(),
                    [](const DetectedStep& step) { return step.number.has_value(); });
    const auto devices = context.devices(index);
    for (const auto& [device, timeline] : devices->all()) {
      RankSteps rank{index, device, collectives.Offset(index, device), has_numbers, {}};
      AddDeviceSteps(context, index, device, timeline, collectives.Of(index, device), &rank);
      if (!rank.steps.empty()) job.ranks.push_back(std::move(rank));
    }
    if (!job.ranks.empty()) continue;
    RankSteps rank{index, std::nullopt, collectives.Offset(index, std::nullopt), has_numbers, {}};
    AddHostSteps(context, index, collectives.Of(index, std::nullopt), &rank);
    if (!rank.steps.empty()) hosts.push_back(std::move(rank));
  }
  if (job.ranks.empty()) job.ranks = std::move(hosts);
  std::stable_sort(job.ranks.begin(), job.ranks.end(), [&](const auto& a, const auto& b) {
    const auto number = [&](const RankSteps& rank) {
      const auto found = RankOf(context.process(rank.process));
      return found ? found->number : UINT32_MAX;
    };
    return number(a) < number(b);
  });
  return job;
}

}  // namespace gpuprof::analysis
