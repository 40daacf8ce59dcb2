// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See served_iterations.h.

#include "analysis/passes/device/served_iterations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/derived/call_name.h"
#include "analysis/derived/call_steps.h"
#include "analysis/derived/device_work.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/idle_gaps.h"
#include "analysis/passes/device/step_periods.h"
#include "analysis/steps/iterations.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using proto::IterationPhase;

struct ForwardWork {
  Interval span = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  uint64_t kernels = 0, graph_kernels = 0;
  bool has_work() const { return span.start < span.end; }
};

// With speculation, what is called a decode may be a draft: tokens come from the checks alone.
bool MakesTokens(const proto::IterationName& told, bool has_checks) {
  return told.phase == IterationPhase::kMixed ||
         (told.phase == IterationPhase::kDecode && (!has_checks || told.checks_drafts));
}
bool ReadsPrompts(IterationPhase phase) {
  return phase == IterationPhase::kPrefill || phase == IterationPhase::kMixed;
}

// Tells which calls launch graphs.
class GraphCallFinder {
 public:
  explicit GraphCallFinder(const Process& process, const CallIndex& calls)
      : process_(process), calls_(calls) {
    for (const auto& entry : process.functions) {
      if (ApiFunctionName(process, entry.first).find("GraphLaunch") != std::string::npos)
        functions_.insert(entry.first);
    }
  }
  bool Has(uint32_t correlation) {
    if (functions_.empty()) return false;
    // The nodes of a graph follow each other.
    if (correlation != last_) {
      last_ = correlation;
      const std::optional<Call> call = calls_.Find(correlation);
      const ApiTable* const api = call ? &process_.tracks[call->track].api : nullptr;
      is_last_ = api != nullptr && !api->has_ids_alone() &&
                 functions_.count(api->function[call->row]) != 0;
    }
    return is_last_;
  }

 private:
  const Process& process_;
  const CallIndex& calls_;
  std::unordered_set<uint32_t> functions_;
  uint32_t last_ = 0;
  bool is_last_ = false;
};

// Returns the work of each step by device. Threads may launch work for the thread of the steps, but
// those of `others` serve themselves: indices of tracks.
std::map<uint32_t, std::vector<ForwardWork>> WorkByDevice(const Process& process,
                                                          const CallIndex& calls,
                                                          std::span<const Step> steps,
                                                          const std::set<size_t>& others) {
  std::vector<Interval> spans;
  for (const Step& step : steps) spans.push_back(step.span);
  const CallSteps places(process, calls, spans);
  GraphCallFinder graph_calls(process, calls);
  std::map<uint32_t, std::vector<ForwardWork>> devices;
  for (const Track& track : process.tracks) {
    if (!track.is_stream) continue;
    std::vector<ForwardWork>& works = devices[track.device];
    works.resize(steps.size());
    ForEachDeviceWork(track, [&](const DeviceWork& row) {
      const std::optional<uint32_t> step = places.Find(row.correlation);
      if (!step || *step == kNoStep) return;
      if (!others.empty()) {
        const std::optional<Call> call = calls.Find(row.correlation);
        if (call && others.count(call->track) != 0) return;
      }
      ForwardWork& work = works[*step];
      work.span.start = std::min(work.span.start, row.span.start);
      work.span.end = std::max(work.span.end, row.span.end);
      if (row.kind != DeviceWorkKind::kKernel) return;
      work.kernels += row.weight;
      if (row.in_graph || graph_calls.Has(row.correlation)) work.graph_kernels += row.weight;
    });
  }
  return devices;
}

// Returns when an iteration was done, on the host and on the device.
int64_t EndOf(const Step& step, const ServedIteration& each) {
  return each.forward ? std::max(step.span.end, each.forward->end) : step.span.end;
}

// Marks the iterations before which neither the host nor the device was at work for much longer
// than usual. The device may be at work of a long prefill while no mark is open.
void FindPauses(std::span<const Step> steps, ServingThread* thread) {
  std::vector<int64_t> gaps(steps.size(), 0), lengths;
  for (size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back(EndOf(steps[i], thread->iterations[i]) - steps[i].span.start);
    if (i != 0)
      gaps[i] = std::max<int64_t>(
          steps[i].span.start - EndOf(steps[i - 1], thread->iterations[i - 1]), 0);
  }
  const int64_t most = 2 * Samples(gaps).median() + Samples(std::move(lengths)).median() / 2;
  const std::vector<bool> followed = FollowedDirectly(steps);
  for (size_t i = 1; i < steps.size(); ++i) {
    ServedIteration& each = thread->iterations[i];
    const bool is_other_capture = steps[i].capture != steps[i - 1].capture;
    each.follows_pause = is_other_capture || (!followed[i - 1] && gaps[i] > most);
    if (!each.follows_pause || is_other_capture) continue;
    ++thread->pauses;
    thread->pause_ns += gaps[i];
  }
}

void FillForwards(const DeviceTimeline& timeline, const std::vector<ForwardWork>& works,
                  std::vector<ServedIteration>* all) {
  for (size_t i = 0; i < all->size(); ++i) {
    ServedIteration& each = (*all)[i];
    each.kernels = works[i].kernels;
    each.graph_kernels = works[i].graph_kernels;
    if (!works[i].has_work()) continue;
    each.forward = works[i].span;
    each.busy_ns = CoveredLength(timeline.busy(), works[i].span);
  }
}

void FillBubbles(const DeviceTimeline& timeline, std::vector<ServedIteration>* all) {
  for (size_t i = 1; i < all->size(); ++i) {
    ServedIteration& each = (*all)[i];
    if (!each.forward || each.follows_pause || !(*all)[i - 1].forward) continue;
    const Interval between = {(*all)[i - 1].forward->end, each.forward->start};
    each.bubble_ns = 0;
    if (between.length() <= 0) continue;
    each.bubble = timeline.Split(between);
    for (size_t c = 0; c < results::TIME_CATEGORY_INPUT; ++c) each.bubble[c] = 0;
    for (const int64_t ns : each.bubble) *each.bubble_ns += ns;
  }
}

// Finds what the host did in bubbles. The longest gap of a bubble counts.
void FillHostParts(const IdleGaps& gaps, uint32_t device, std::vector<ServedIteration>* all) {
  size_t next = 0;
  const std::vector<IdleSpan>& spans = gaps.spans();
  for (size_t i = 1; i < all->size(); ++i) {
    ServedIteration& each = (*all)[i];
    if (!each.bubble_ns || *each.bubble_ns == 0) continue;
    const int64_t from = (*all)[i - 1].forward->end, until = each.forward->start;
    const auto is_before = [&](const IdleSpan& span) {
      return span.device < device || (span.device == device && span.start_ns < from);
    };
    while (next < spans.size() && is_before(spans[next])) ++next;
    for (; next < spans.size() && spans[next].device == device && spans[next].start_ns < until;
         ++next) {
      if (spans[next].late_ns <= each.during_ns) continue;
      each.during_ns = spans[next].late_ns;
      each.during_op = spans[next].during_op;
      each.during_function = spans[next].during_function;
    }
  }
}

void FillTokenGaps(const StepAnalysis& steps, std::vector<ServedIteration>* all) {
  std::optional<int64_t> last_end;
  bool has_prefill = false;
  const bool has_checks = std::any_of(all->begin(), all->end(), [](const ServedIteration& each) {
    return each.told.checks_drafts;
  });
  for (size_t i = 0; i < all->size(); ++i) {
    ServedIteration& each = (*all)[i];
    const IterationPhase phase = each.told.phase;
    if (each.follows_pause || phase == IterationPhase::kIdle) last_end.reset();
    has_prefill = has_prefill || ReadsPrompts(phase);
    if (!MakesTokens(each.told, has_checks)) continue;
    const int64_t end = each.forward ? each.forward->end : steps.steps[i].span.end;
    if (last_end) {
      each.token_gap_ns = std::max<int64_t>(end - *last_end, 0);
      each.gap_has_prefill = has_prefill;
    }
    last_end = end;
    has_prefill = false;
  }
}

}  // namespace

results::TimeCategory MostOf(const DeviceTimes& times) {
  const auto most = std::max_element(times.begin(), times.end());
  return *most == 0 ? results::TIME_CATEGORY_NONE
                    : static_cast<results::TimeCategory>(most - times.begin());
}

std::vector<ServingThread> ServingThreadsOf(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  std::vector<ServingThread> threads;
  std::set<size_t> tracks;
  for (const StepAnalysis& steps : context.all_steps(index)) {
    if (!steps.found()) continue;
    std::vector<proto::IterationName> told = IterationsOf(process, steps);
    const bool is_marked =
        std::any_of(told.begin(), told.end(), [](const auto& name) { return name.is_iteration; });
    if (!is_marked &&
        (steps.detected.trains || steps.detected.method != results::STEP_METHOD_MODULES))
      continue;
    ServingThread& thread = threads.emplace_back();
    thread.steps = &steps;
    thread.is_marked = is_marked;
    thread.iterations.resize(steps.steps.size());
    for (size_t i = 0; i < told.size(); ++i) thread.iterations[i].told = told[i];
    tracks.insert(steps.detected.track);
  }
  std::shared_ptr<IdleGaps> gaps;
  for (ServingThread& thread : threads) {
    const StepAnalysis& steps = *thread.steps;
    std::set<size_t> others = tracks;
    others.erase(steps.detected.track);
    const auto devices = context.devices(index);
    const std::map<uint32_t, std::vector<ForwardWork>> works =
        WorkByDevice(process, context.calls(index), steps.steps, others);
    int64_t most = 0;
    for (const auto& [device, work] : works) {
      if (devices->all().count(device) == 0) continue;
      int64_t sum = 0;
      for (const ForwardWork& each : work) sum += each.has_work() ? each.span.length() : 0;
      if (sum <= most) continue;
      most = sum;
      thread.device = device;
    }
    std::vector<Interval> periods = HostPeriods(steps.steps);
    if (thread.device) {
      const DeviceTimeline& timeline = devices->all().at(*thread.device);
      const std::vector<ForwardWork>& work = works.at(*thread.device);
      std::vector<int64_t> ends;
      for (const ForwardWork& each : work) ends.push_back(each.span.end);
      periods =
          StepPeriods(process, *thread.device, context.calls(index), timeline, steps.steps, ends);
      FillForwards(timeline, work, &thread.iterations);
      FindPauses(steps.steps, &thread);
      FillBubbles(timeline, &thread.iterations);
      if (!gaps) gaps = IdleGaps::Of(context, index);
      FillHostParts(*gaps, *thread.device, &thread.iterations);
    } else {
      FindPauses(steps.steps, &thread);
    }
    for (size_t i = 0; i < periods.size(); ++i) thread.iterations[i].period = periods[i];
    FillTokenGaps(steps, &thread.iterations);
  }
  return threads;
}

}  // namespace gpuprof::analysis
