// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_periods.h.

#include "analysis/passes/device/step_periods.h"

#include <algorithm>
#include <limits>

#include "analysis/derived/device_work.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

int64_t MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns when the first work of a stream began whose launch is in the recording. What is older on
// this stream was launched before the recording began. INT64_MIN: no launch is known.
int64_t FirstKnownWork(const Track& stream, const CallIndex& calls) {
  int64_t first = std::numeric_limits<int64_t>::max();
  ForEachDeviceWork(stream, [&](const DeviceWork& work) {
    if (work.span.start < first && calls.Find(work.correlation)) first = work.span.start;
  });
  return first == std::numeric_limits<int64_t>::max() ? kNever : first;
}

// Returns for each step when the work ends that was launched before its mark.
std::vector<int64_t> PendingUntil(const Process& process, uint32_t device, const CallIndex& calls,
                                  std::span<const Step> steps) {
  std::vector<int64_t> pending(steps.size(), kNever);
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    const int64_t known_from = FirstKnownWork(track, calls);
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      const std::optional<Call> call = calls.Find(work.correlation);
      const int64_t launched = call                           ? call->start_ns
                               : work.span.start < known_from ? kNever
                                                              : work.span.start;
      const auto next =
          std::upper_bound(steps.begin(), steps.end(), launched,
                           [](int64_t time, const Step& step) { return time < step.span.start; });
      if (next == steps.end()) return;
      int64_t& until = pending[static_cast<size_t>(next - steps.begin())];
      until = std::max(until, work.span.end);
    });
  }
  for (size_t i = 1; i < pending.size(); ++i) pending[i] = std::max(pending[i], pending[i - 1]);
  return pending;
}

// Returns the end of the work that a step without a recorded past waits for: it launched work that
// did not begin for long, although nothing else ran. The device was at work that is not in the
// recording. `from`: the begin of the step otherwise.
int64_t UnseenUntil(const DeviceTimeline& timeline, Interval step) {
  // Before such a gap the step has done next to nothing.
  constexpr double kLittle = 0.05;
  const auto latest =
      step.start + static_cast<int64_t>(kLittle * static_cast<double>(step.length()));
  int64_t until = step.start;
  for (const DeviceGap& gap : timeline.gaps()) {
    if (gap.span.start > latest) break;
    if (gap.span.end <= step.start || gap.span.end >= step.end) continue;
    if (gap.UnseenFrom() < gap.span.end) until = gap.span.end;
  }
  return until;
}

}  // namespace

std::vector<bool> FollowedDirectly(std::span<const Step> steps) {
  std::vector<bool> followed(steps.size(), false);
  std::vector<int64_t> pauses, lengths;
  for (size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back(steps[i].span.length());
    const bool has_next = i + 1 < steps.size() && steps[i + 1].capture == steps[i].capture;
    if (has_next) pauses.push_back(steps[i + 1].span.start - steps[i].span.end);
  }
  const int64_t most = 2 * std::max<int64_t>(MedianOf(pauses), 0) + MedianOf(lengths) / 2;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    followed[i] = steps[i + 1].capture == steps[i].capture &&
                  steps[i + 1].span.start - steps[i].span.end <= most;
  }
  return followed;
}

std::vector<Interval> HostPeriods(std::span<const Step> steps) {
  const std::vector<bool> followed = FollowedDirectly(steps);
  std::vector<Interval> periods;
  for (size_t i = 0; i < steps.size(); ++i)
    periods.push_back(
        {steps[i].span.start, followed[i] ? steps[i + 1].span.start : steps[i].span.end});
  return periods;
}

void SetStepPeriod(const std::vector<int64_t>& lengths, results::Overview* out) {
  const Samples samples{std::vector<int64_t>(lengths)};
  if (samples.total() <= 0) return;
  results::StepPeriod* step = out->mutable_step();
  step->set_count(lengths.size());
  step->set_mean_ns(samples.mean());
  step->set_median_ns(samples.median());
  step->set_p10_ns(samples.Percentile(0.1));
  step->set_p90_ns(samples.Percentile(0.9));
  constexpr double kNsPerSecond = 1e9;
  out->set_steps_per_s(static_cast<double>(lengths.size()) * kNsPerSecond /
                       static_cast<double>(samples.total()));
}

std::vector<Interval> StepPeriods(const Process& process, uint32_t device, const CallIndex& calls,
                                  const DeviceTimeline& timeline, std::span<const Step> steps,
                                  std::span<const int64_t> work_ends) {
  const std::vector<int64_t> pending = PendingUntil(process, device, calls, steps);
  const std::vector<bool> followed = FollowedDirectly(steps);
  std::vector<Interval> periods(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    Interval& period = periods[i];
    period = {std::max(steps[i].span.start, pending[i]), std::max(steps[i].span.end, work_ends[i])};
    if ((i == 0 || !followed[i - 1]) && period.length() > 0)
      period.start = UnseenUntil(timeline, period);
    // Where the device sets the pace at the begin of a step, it does so at its end.
    const bool is_behind = period.start > steps[i].span.start && work_ends[i] > period.start;
    if (is_behind) period.end = work_ends[i];
  }
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    const int64_t next = periods[i + 1].start;
    if (followed[i] || periods[i].end > next) periods[i].end = next;
  }
  for (Interval& period : periods)
    if (period.length() < 0) period = {period.start, period.start};
  return periods;
}

}  // namespace gpuprof::analysis
