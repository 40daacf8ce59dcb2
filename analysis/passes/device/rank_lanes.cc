// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_lanes.h.

#include "analysis/passes/device/rank_lanes.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/derived/call_steps.h"
#include "analysis/derived/collective_ends.h"
#include "analysis/derived/collective_entries.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_phase.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/step_periods.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using Pieces = std::vector<LanePiece>;

LanePhase PhaseOf(Category category) {
  switch (category) {
    case Category::kInput:
      return LanePhase::kInput;
    case Category::kForward:
      return LanePhase::kForward;
    case Category::kBackward:
      return LanePhase::kBackward;
    case Category::kOptimizer:
      return LanePhase::kOptimizer;
    case Category::kLockWait:
      return LanePhase::kLockWait;
    case Category::kBlocked:
      return LanePhase::kBlocked;
    case Category::kOther:
      break;
  }
  return LanePhase::kOther;
}

// Returns what the thread of the steps did at a moment.
Category CategoryAt(const CategoryTimeline& timeline, int64_t time) {
  const auto& segments = timeline.segments();
  const auto found =
      std::partition_point(segments.begin(), segments.end(),
                           [time](const auto& segment) { return segment.end <= time; });
  return found == segments.end() || found->start > time ? Category::kOther : found->category;
}

// Cuts pieces, sorted and disjoint, to what `within` (sorted, disjoint) does not cover.
Pieces Without(const Pieces& pieces, const std::vector<Interval>& within) {
  Pieces kept;
  size_t first = 0;
  for (const LanePiece& piece : pieces) {
    int64_t from = piece.span.start;
    while (first < within.size() && within[first].end <= from) ++first;
    for (size_t i = first; i < within.size() && within[i].start < piece.span.end; ++i) {
      if (within[i].start > from) kept.push_back({{from, within[i].start}, piece.phase});
      from = std::max(from, within[i].end);
    }
    if (piece.span.end > from) kept.push_back({{from, piece.span.end}, piece.phase});
  }
  return kept;
}

// Adds what no piece covers of a span.
Pieces Filled(const Pieces& pieces, Interval span) {
  Pieces filled;
  int64_t from = span.start;
  const auto add = [&](Interval part, LanePhase phase) {
    if (part.length() <= 0) return;
    if (!filled.empty() && filled.back().phase == phase && filled.back().span.end == part.start)
      filled.back().span.end = part.end;
    else
      filled.push_back({part, phase});
  };
  for (const LanePiece& piece : pieces) {
    const Interval part = {std::max(piece.span.start, from), std::min(piece.span.end, span.end)};
    if (part.length() <= 0) continue;
    add({from, part.start}, LanePhase::kOther);
    add(part, piece.phase);
    from = part.end;
  }
  add({from, span.end}, LanePhase::kOther);
  return filled;
}

void Shift(int64_t offset, LaneStep* step) {
  const auto move = [offset](Interval* span) {
    span->start += offset;
    span->end += offset;
  };
  move(&step->span);
  for (LanePiece& piece : step->pieces) move(&piece.span);
  for (LaneCollective& each : step->collectives) {
    each.arrival_ns += offset;
    each.done_ns += offset;
    move(&each.wait);
  }
}

// Puts clocks right that differ by about a step or more: there, the times of collectives lead to
// the wrong ones. Numbers of steps that the program gave lead to the right ones.
void AlignByNumbers(RankLanes* out) {
  std::vector<JobLane>& lanes = out->job.lanes;
  const bool has_numbers =
      std::all_of(lanes.begin(), lanes.end(), [](const JobLane& lane) { return lane.has_numbers; });
  if (lanes.empty() || !has_numbers) return;
  std::map<uint64_t, const LaneStep*> steps;
  for (const LaneStep& step : lanes[0].steps) steps.emplace(step.number, &step);
  for (size_t i = 1; i < lanes.size(); ++i) {
    std::vector<int64_t> distances, lengths;
    for (const LaneStep& step : lanes[i].steps) {
      const auto found = steps.find(step.number);
      const bool is_same = found != steps.end() && !step.collectives.empty() &&
                           found->second->collectives.size() == step.collectives.size();
      if (!is_same) continue;
      lengths.push_back(step.span.length());
      distances.push_back(found->second->collectives.back().done_ns -
                          step.collectives.back().done_ns);
    }
    if (distances.empty()) continue;
    constexpr int64_t kPartsOfStep = 4;
    const int64_t distance = Samples(std::move(distances)).median();
    if (std::abs(distance) <= Samples(std::move(lengths)).median() / kPartsOfStep) continue;
    for (LaneStep& step : lanes[i].steps) Shift(distance, &step);
    out->offsets[i] += distance;
  }
}

// What a rank did over all of its recording.
struct RankWork {
  std::vector<Interval> periods;
  std::vector<uint32_t> steps_of_entries;  // by entry; kNoStep: none
  Pieces pieces;                           // sorted, disjoint
  std::vector<Interval> busy;              // in which it does not wait for a collective
};

class LaneMaker {
 public:
  LaneMaker(PassContext& context, size_t index, const RankEntries& entries, int64_t offset,
            RankLanes* out)
      : context_(context),
        index_(index),
        process_(context.process(index)),
        steps_(context.steps(index)),
        entries_(entries),
        offset_(offset),
        out_(*out),
        phases_(process_, context.calls(index), steps_.timeline, &context.families(index)) {}

  JobLane Make() {
    JobLane lane;
    if (!steps_.found()) return lane;
    RankWork work = entries_.device ? DeviceWorkOf(*entries_.device) : HostWork();
    lane.has_numbers =
        std::all_of(steps_.detected.steps.begin(), steps_.detected.steps.end(),
                    [](const DetectedStep& step) { return step.number.has_value(); });
    const std::vector<bool> followed = FollowedDirectly(steps_.steps);
    for (size_t i = 0; i < steps_.steps.size(); ++i) {
      LaneStep& step = lane.steps.emplace_back();
      step.number = steps_.steps[i].number;
      step.span = work.periods[i];
      step.is_warmup = steps_.steps[i].is_warmup;
      step.follows = i != 0 && followed[i - 1];
    }
    AddCollectives(work, &lane);
    AddPieces(work, &lane);
    return lane;
  }

 private:
  RankWork HostWork() {
    RankWork work;
    work.periods = HostPeriods(steps_.steps);
    for (const auto& segment : steps_.timeline.segments())
      work.pieces.push_back({{segment.start, segment.end}, PhaseOf(segment.category)});
    StepFinder finder(work.periods);
    for (const CollectiveEntry& entry : entries_.entries)
      work.steps_of_entries.push_back(finder.StepAt(entry.start_ns));
    work.busy = HostBusy();
    return work;
  }

  // Returns when threads of the loop ran operations, apart from collectives.
  std::vector<Interval> HostBusy() const {
    std::unordered_map<uint32_t, bool> counts;  // by string id of a name
    std::vector<Interval> busy, waits;
    for (size_t at = 0; at < process_.tracks.size(); ++at) {
      const Track& track = process_.tracks[at];
      const auto& rivals = steps_.detected.rivals;
      if (std::find(rivals.begin(), rivals.end(), at) != rivals.end()) continue;
      const OpTable& ops = track.op;
      for (size_t row = 0; row < ops.rows(); ++row) {
        const auto [known, is_new] = counts.try_emplace(ops.name[row], false);
        if (is_new) {
          const std::string name = process_.String(ops.name[row]);
          known->second = !IsCollectiveCall(name) && !IsBackendMark(name);
        }
        if (!known->second || IsUserRange(ops, row)) continue;
        busy.push_back({ops.end_ns[row] - ops.duration_ns[row], ops.end_ns[row]});
      }
      if (at < entries_.waits.size())
        waits.insert(waits.end(), entries_.waits[at].begin(), entries_.waits[at].end());
    }
    busy = UnionOf(std::move(busy));
    if (waits.empty()) return busy;
    Pieces pieces;
    for (const Interval& each : busy) pieces.push_back({each});
    busy.clear();
    for (const LanePiece& piece : Without(pieces, UnionOf(std::move(waits))))
      busy.push_back(piece.span);
    return busy;
  }

  struct Launched {
    Interval span;
    LanePhase phase;
  };

  RankWork DeviceWorkOf(uint32_t device) {
    RankWork work;
    const auto devices = context_.devices(index_);
    const auto timeline = devices->all().find(device);
    std::vector<Interval> marks;
    for (const Step& step : steps_.steps) marks.push_back(step.span);
    const CallSteps call_steps(process_, context_.calls(index_), marks);
    std::vector<int64_t> ends(marks.size(), std::numeric_limits<int64_t>::min());
    std::vector<Launched> launched;
    std::map<std::pair<int64_t, uint32_t>, uint32_t> step_of_entry;  // by begin and track
    for (uint32_t at = 0; at < process_.tracks.size(); ++at) {
      const Track& track = process_.tracks[at];
      if (!track.is_stream || track.device != device) continue;
      ForEachDeviceWork(track, [&](const DeviceWork& row) {
        const std::optional<uint32_t> step = call_steps.Find(row.correlation);
        if (step && *step != kNoStep) ends[*step] = std::max(ends[*step], row.span.end);
        if (row.kind == DeviceWorkKind::kKernel && IsCollectiveKernel(track.kernel, row.row)) {
          step_of_entry[{row.span.start, at}] = step.value_or(kNoStep);
          return;
        }
        launched.push_back({row.span, PhaseOfWork(track, row)});
      });
    }
    if (timeline == devices->all().end()) {
      work.periods = HostPeriods(steps_.steps);
    } else {
      work.periods = StepPeriods(process_, device, context_.calls(index_), timeline->second,
                                 steps_.steps, ends);
    }
    StepFinder finder(work.periods);
    for (const CollectiveEntry& entry : entries_.entries) {
      const auto found = step_of_entry.find({entry.start_ns, entry.track});
      const bool is_known = found != step_of_entry.end() && found->second != kNoStep;
      work.steps_of_entries.push_back(is_known ? found->second : finder.StepAt(entry.start_ns));
    }
    work.pieces = Joined(std::move(launched));
    for (const LanePiece& piece : work.pieces) work.busy.push_back(piece.span);
    if (timeline != devices->all().end()) AddGaps(timeline->second, &work.pieces);
    return work;
  }

  bool IsCollectiveKernel(const KernelTable& kernels, size_t row) {
    const auto [known, is_new] = collectives_.try_emplace(kernels.signature[row], false);
    if (is_new)
      known->second =
          context_.families(index_).Of(known->first) == results::KERNEL_FAMILY_COLLECTIVE;
    return known->second;
  }

  // Returns the phase of the step that the work is part of.
  LanePhase PhaseOfWork(const Track& track, const DeviceWork& row) {
    if (const std::optional<Category> phase = phases_.Of(track, row)) return PhaseOf(*phase);
    const std::optional<Call> call = context_.calls(index_).Find(row.correlation);
    const bool loads = call && CategoryAt(steps_.timeline, call->start_ns) == Category::kInput;
    return loads ? LanePhase::kInput : LanePhase::kCompute;
  }

  // Makes disjoint pieces of work that may overlap: what began first counts.
  static Pieces Joined(std::vector<Launched> work) {
    std::stable_sort(work.begin(), work.end(), [](const Launched& a, const Launched& b) {
      return a.span.start < b.span.start;
    });
    Pieces pieces;
    int64_t until = std::numeric_limits<int64_t>::min();
    for (const Launched& each : work) {
      const Interval part = {std::max(each.span.start, until), each.span.end};
      if (part.length() <= 0) continue;
      pieces.push_back({part, each.phase});
      until = part.end;
    }
    return pieces;
  }

  // Adds times in which the device had nothing to do.
  static void AddGaps(const DeviceTimeline& timeline, Pieces* pieces) {
    const Interval all = timeline.Span();
    Pieces gaps;
    for (const DeviceGap& gap : timeline.gaps()) {
      // The first and the last gap have no border.
      const int64_t reach = all.length() + 1;
      const Interval part = {std::max(gap.span.start, all.start - reach),
                             std::min(gap.span.end, all.end + reach)};
      DeviceTimes times{};
      timeline.AddGap(gap, part, &times);
      int64_t from = part.start;
      const auto add = [&](int64_t length, LanePhase phase) {
        if (length > 0) gaps.push_back({{from, from + length}, phase});
        from += std::max<int64_t>(length, 0);
      };
      // What was the host's comes first. What it was exactly has no place in the gap.
      const int64_t late = std::clamp(gap.HostUntil(), part.start, part.end) - part.start;
      const int64_t input = std::min(times[results::TIME_CATEGORY_INPUT], late);
      const bool is_first = gap.span.start < all.start;
      // Before the first work the loader comes last: its batch is what the work needs.
      if (is_first) from = part.start + late - input;
      add(input, LanePhase::kInput);
      if (!is_first) add(late - input, LanePhase::kHost);
      add(times[results::TIME_CATEGORY_LAUNCH], LanePhase::kHost);
    }
    pieces->insert(pieces->end(), gaps.begin(), gaps.end());
    std::stable_sort(pieces->begin(), pieces->end(), [](const LanePiece& a, const LanePiece& b) {
      return a.span.start < b.span.start;
    });
  }

  void AddCollectives(const RankWork& work, JobLane* lane) {
    for (size_t i = 0; i < entries_.entries.size(); ++i) {
      const CollectiveEntry& entry = entries_.entries[i];
      if (work.steps_of_entries[i] == kNoStep) continue;
      LaneCollective each;
      each.arrival_ns = entry.start_ns;
      each.done_ns = std::max(entry.done_ns.value_or(entry.start_ns), entry.start_ns);
      each.name = NameOf(process_.String(entry.name));
      each.stream = entries_.device ? entry.track : 0;
      each.has_end = entry.done_ns.has_value();
      if (each.has_end) FindWait(work.busy, &each);
      lane->steps[work.steps_of_entries[i]].collectives.push_back(each);
    }
  }

  // Finds the time in which the rank did nothing else, at the end of the collective. The mark of a
  // backend may end after the rank went on: then the collective ended with the wait.
  void FindWait(const std::vector<Interval>& busy, LaneCollective* each) const {
    constexpr int64_t kLateMarkNs = 1'000'000;
    // Files of other tools round begins and lengths, so work behind the end may seem to overlap it.
    constexpr int64_t kRoundingNs = 1'000;
    constexpr int64_t kLeastParts = 50;  // a shorter gap is a pause between two operations
    const int64_t slack = entries_.device ? kRoundingNs : kLateMarkNs;
    const int64_t least = (each->done_ns - each->arrival_ns) / kLeastParts;
    auto next = std::partition_point(
        busy.begin(), busy.end(), [&](const Interval& span) { return span.start < each->done_ns; });
    int64_t end = each->done_ns;
    while (end >= each->done_ns - slack && end > each->arrival_ns) {
      const int64_t start = next == busy.begin() ? each->arrival_ns
                                                 : std::max(each->arrival_ns, std::prev(next)->end);
      if (end - start > least) {
        each->wait = {start, end};
        each->done_ns = end;
        return;
      }
      if (next == busy.begin()) return;
      --next;
      end = next->start;
    }
  }

  void AddPieces(const RankWork& work, JobLane* lane) {
    size_t first = 0;
    for (LaneStep& step : lane->steps) {
      while (first < work.pieces.size() && work.pieces[first].span.end <= step.span.start) ++first;
      Pieces own;
      for (size_t i = first; i < work.pieces.size() && work.pieces[i].span.start < step.span.end;
           ++i)
        own.push_back(work.pieces[i]);
      std::vector<Interval> waits;
      for (const LaneCollective& each : step.collectives) waits.push_back(each.wait);
      step.pieces = Without(Filled(own, step.span), UnionOf(std::move(waits)));
      Shift(offset_, &step);
    }
  }

  uint32_t NameOf(const std::string& name) {
    std::vector<std::string>& names = out_.job.names;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<uint32_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return index;
  }

  PassContext& context_;
  size_t index_;
  const Process& process_;
  const StepAnalysis& steps_;
  const RankEntries& entries_;
  int64_t offset_;
  RankLanes& out_;
  std::unordered_map<uint32_t, bool> collectives_;  // by signature
  KernelPhases phases_;
};

}  // namespace

RankLanes MakeRankLanes(PassContext& context, const Arrivals& arrivals,
                        const std::vector<size_t>& processes) {
  RankLanes out;
  for (const RankArrivals& rank : arrivals.ranks) {
    const size_t index = processes[rank.process];
    for (const RankEntries& entries : FindCollectiveEntries(context.process(index))) {
      if (entries.device != rank.device) continue;
      out.job.lanes.push_back(
          LaneMaker(context, index, entries, rank.clock_offset_ns, &out).Make());
      out.processes.push_back(index);
      out.devices.push_back(rank.device);
      out.offsets.push_back(rank.clock_offset_ns);
    }
  }
  AlignByNumbers(&out);
  return out;
}

}  // namespace gpuprof::analysis
