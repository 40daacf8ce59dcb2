// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_facts.h.

#include "analysis/advice/facts/host_facts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/serving_facts.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/host_activity.h"
#include "analysis/model/names.h"
#include "analysis/passes/main_process.h"
#include "analysis/steps/bootstrap.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

// Returns whether a function is Python's garbage collector.
bool IsCollector(std::string_view name) {
  return name.find("built-in function collect") != std::string_view::npos ||
         name.find("gc.collect") != std::string_view::npos;
}

bool IsOutput(std::string_view name) {
  return HostCategoryOfName(name) == results::TIME_CATEGORY_OUTPUT;
}

std::optional<uint64_t> CountedStepAt(const StepAnalysis& steps, int64_t time_ns) {
  for (const Step& step : steps.steps) {
    const bool is_in = time_ns >= step.span.start && time_ns < step.span.end;
    if (is_in && !step.is_warmup) return step.number;
  }
  return std::nullopt;
}

// Finds the outermost rows whose names fulfil a condition, on one thread and within steps.
class NamedPieces {
 public:
  NamedPieces(const Process& process, const Track& track, const StepAnalysis& steps)
      : process_(process), track_(track), steps_(steps) {}

  template <typename Is>
  Pieces Find(const Is& is) {
    std::vector<std::pair<Interval, uint32_t>> rows;
    Collect(track_.op, is, &rows);
    Collect(track_.range, is, &rows);
    Collect(track_.python, is, &rows);
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.first.start != b.first.start ? a.first.start < b.first.start
                                            : a.first.end > b.first.end;
    });
    Pieces pieces;
    int64_t until = INT64_MIN;
    for (const auto& [span, name] : rows) {
      const std::optional<uint64_t> step = CountedStepAt(steps_, span.start);
      if (span.start < until || !step) continue;
      until = span.end;
      pieces.Add(span.length(), 0, [&, span = span, name = name] {
        Instance made;
        made.name = process_.String(name);
        made.start_ns = span.start;
        made.duration_ns = span.length();
        made.step = step;
        made.tid = track_.tid;
        return made;
      });
    }
    return pieces;
  }

 private:
  template <typename Table, typename Is>
  void Collect(const Table& table, const Is& is,
               std::vector<std::pair<Interval, uint32_t>>* rows) const {
    std::unordered_map<uint32_t, bool> known;
    for (size_t i = 0; i < table.rows(); ++i) {
      const auto [at, is_new] = known.try_emplace(table.name[i], false);
      if (is_new) at->second = is(process_.String(table.name[i]));
      const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
      if (at->second) rows->emplace_back(span, at->first);
    }
  }

  const Process& process_;
  const Track& track_;
  const StepAnalysis& steps_;
};

bool HasPauses(const Process& process) {
  return std::any_of(process.tracks.begin(), process.tracks.end(),
                     [](const Track& track) { return track.gc_pause.rows() != 0; });
}

// Returns the pauses of the garbage collector in counted steps; without steps, all. The collector
// has Python's lock: it stops the thread of the steps also where it runs on another one.
Pieces PausesIn(const Process& process, const StepAnalysis* steps) {
  Pieces pieces;
  for (const Track& track : process.tracks) {
    const GcPauseTable& table = track.gc_pause;
    for (size_t i = 0; i < table.rows(); ++i) {
      const int64_t duration = table.duration_ns[i], start = table.end_ns[i] - duration;
      const std::optional<uint64_t> step =
          steps != nullptr ? CountedStepAt(*steps, start) : std::nullopt;
      if (steps != nullptr && !step) continue;
      pieces.Add(duration, 0, [&] {
        Instance made;
        made.start_ns = start;
        made.duration_ns = duration;
        made.step = step;
        made.tid = track.tid;
        if (steps == nullptr) {
          made.pid = process.pid;
          made.host = process.host;
        }
        return made;
      });
    }
  }
  return pieces;
}

// Returns the median time from the end of a step to the begin of the next.
int64_t BetweenSteps(const std::vector<Interval>& steps) {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < steps.size(); ++i)
    gaps.push_back(std::max<int64_t>(steps[i].start - steps[i - 1].end, 0));
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

// Returns the longest time from the end of a step to the begin of the next.
Instance LongestBetween(const std::vector<Interval>& steps) {
  Instance longest;
  for (size_t i = 1; i < steps.size(); ++i) {
    const int64_t gap = steps[i].start - steps[i - 1].end;
    if (gap <= longest.duration_ns) continue;
    longest.start_ns = steps[i - 1].end;
    longest.duration_ns = gap;
  }
  return longest;
}

Instance InstanceOf(const Step& step, int32_t tid) {
  Instance made;
  made.start_ns = step.span.start;
  made.duration_ns = step.span.length();
  made.step = step.number;
  made.tid = tid;
  return made;
}

// Finds steps that findings lead to.
void FindSteps(const StepAnalysis& steps, HostFacts* facts) {
  const int64_t median = steps.summary.lengths.median_ns;
  const Step *typical = nullptr, *longest = nullptr, *warm_up = nullptr;
  const auto distance = [&](const Step& step) { return std::abs(step.span.length() - median); };
  for (const Step& step : steps.steps) {
    const Step*& most = step.is_warmup ? warm_up : longest;
    if (most == nullptr || step.span.length() > most->span.length()) most = &step;
    if (!step.is_warmup && (typical == nullptr || distance(step) < distance(*typical)))
      typical = &step;
  }
  if (typical != nullptr) facts->typical_step = InstanceOf(*typical, steps.summary.tid);
  if (longest != nullptr) facts->longest_step = InstanceOf(*longest, steps.summary.tid);
  if (warm_up != nullptr) facts->longest_warm_up = InstanceOf(*warm_up, steps.summary.tid);
}

// Returns how long a process lived before a device first worked. 0: that is not known, or none
// did.
int64_t FirstWork(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  // A file of another tool, and a capture that began late, do not tell when the process began.
  const bool is_whole = context.trace().importer.empty() && !process.captures.empty() &&
                        process.captures.front().start_ns - process.LifeStart() < 1'000'000'000;
  int64_t first = INT64_MAX;
  ForEachDeviceWork(process, [&](const Track&, const DeviceWork& work) {
    first = std::min(first, work.span.start);
  });
  return is_whole && first != INT64_MAX ? first - process.LifeStart() : 0;
}

// Faults and migrations of managed memory, which hold up kernels or the host.
Pieces PageFaults(const Process& process, Interval window) {
  constexpr uint32_t kThrashing = 5;  // CUpti_ActivityUnifiedMemoryCounterKind
  std::vector<Interval> spans;
  Pieces pieces;
  for (const Track& track : process.tracks) {
    const UnifiedMemoryTable& table = track.unified_memory;
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t counter = proto::UnifiedMemoryCounterOf(table.operation[i]);
      const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
      if (counter >= kThrashing || span.start < window.start || span.start >= window.end) continue;
      spans.push_back(span);
      pieces.Add(span.length(), 0, [&] {
        Instance made;
        made.name = std::string(UnifiedMemoryCounterName(counter));
        made.start_ns = span.start;
        made.duration_ns = span.length();
        return made;
      });
    }
  }
  pieces.total_ns = TotalLength(UnionOf(std::move(spans)));
  return pieces;
}

}  // namespace

void FillHostFacts(PassContext& context, std::optional<size_t> leading, AdviceFacts* facts) {
  FillIteratorFacts(context, &facts->input);
  if (!context.selected().empty()) {
    const size_t index = MainProcess(context).value_or(context.selected().front());
    facts->host.first_work_ns = FirstWork(context, index);
    facts->host.start.start_ns = context.process(index).LifeStart();
    facts->host.start.duration_ns = facts->host.first_work_ns;
    facts->host.start.pid = context.process(index).pid;
    facts->host.start.host = context.process(index).host;
  }
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (process.has_cupti_clock)
      facts->host.clock_error_ns =
          std::max(facts->host.clock_error_ns, process.cupti_clock.residual_ns);
  }
  if (!leading) {
    if (const std::optional<size_t> main = MainProcess(context)) {
      facts->host.has_pauses = HasPauses(context.process(*main));
      facts->host.collections = PausesIn(context.process(*main), nullptr);
    }
    return;
  }
  FillInputFacts(context, *leading, &facts->input);
  const StepAnalysis& steps = context.steps(*leading);
  const std::vector<Interval> counted = steps.Counted();
  if (counted.empty()) return;
  const Process& process = context.process(*leading);
  NamedPieces named(process, process.tracks[steps.detected.track], steps);
  facts->host.has_pauses = HasPauses(process);
  facts->host.collections =
      facts->host.has_pauses ? PausesIn(process, &steps) : named.Find(IsCollector);
  facts->host.outputs = named.Find(IsOutput);
  std::vector<int64_t> lengths;
  for (const Interval& step : counted) lengths.push_back(step.length());
  facts->noise_ratio = MedianNoise(lengths);
  facts->host.between_steps_ns = BetweenSteps(counted);
  facts->host.longest_between = LongestBetween(counted);
  FindSteps(steps, &facts->host);
  facts->host.serving = FindServing(context, *leading);
  facts->host.page_faults = PageFaults(process, {counted.front().start, counted.back().end});
}

}  // namespace gpuprof::analysis
