// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_summary.h.

#include "analysis/steps/step_summary.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analysis/model/process_name.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/step_timeline.h"

namespace gpuprof::analysis {
namespace {

// Leading steps above this many medians are warm-up.
constexpr int64_t kWarmupMedians = 3;
// An outlier is further from the median than both of these.
constexpr int64_t kOutlierDistances = 9;     // about six standard deviations of quiet steps
constexpr int64_t kOutlierPartOfMedian = 4;  // a quarter

results::Step MakeStep(const Process& process, const DetectedStep& detected, uint64_t number,
                       const CategoryTimeline& timeline, const Column<int64_t>& op_ends) {
  results::Step step;
  const CategoryTimes times = timeline.Split(detected.span);
  step.set_pid(process.pid);
  step.set_host(process.host);
  step.set_number(number);
  step.set_start_ns(detected.span.start);
  step.set_duration_ns(detected.span.length());
  step.set_input_ns(times[0]);
  step.set_forward_ns(times[1]);
  step.set_backward_ns(times[2]);
  step.set_optimizer_ns(times[3]);
  step.set_lock_wait_ns(times[4]);
  step.set_blocked_ns(times[5]);
  step.set_other_ns(times[6]);
  const auto first = std::upper_bound(op_ends.begin(), op_ends.end(), detected.span.start);
  const auto last = std::upper_bound(first, op_ends.end(), detected.span.end);
  step.set_op_count(static_cast<uint64_t>(last - first));
  step.set_batch_count(detected.batches);
  step.set_capture(detected.capture);
  return step;
}

void MarkWarmup(std::vector<results::Step>* steps) {
  std::vector<int64_t> lengths;
  for (const results::Step& step : *steps) lengths.push_back(step.duration_ns());
  const int64_t limit = kWarmupMedians * Samples(std::move(lengths)).median();
  const size_t most = steps->size() / 4;
  for (size_t i = 0; i < most && (*steps)[i].duration_ns() > limit; ++i)
    (*steps)[i].set_warmup(true);
}

void MarkOutliers(const results::StepSeries& series, const Samples& lengths,
                  std::vector<results::Step>* steps) {
  const int64_t limit = std::max(kOutlierDistances * lengths.MedianDistance(),
                                 series.median_ns() / kOutlierPartOfMedian);
  for (results::Step& step : *steps) {
    if (step.warmup() || std::abs(step.duration_ns() - series.median_ns()) <= limit) continue;
    step.set_outlier(true);
    const CategoryTimes times = TimesOf(step);
    int worst = 0;
    int64_t worst_distance = -1;
    for (int i = 0; i < series.categories_size(); ++i) {
      const int64_t distance =
          std::abs(times[static_cast<size_t>(i)] - series.categories(i).median_ns());
      if (distance > worst_distance) {
        worst = i;
        worst_distance = distance;
      }
    }
    step.set_outlier_category(series.categories(worst).name());
  }
}

void Summarise(const Samples& lengths, results::StepSeries* series) {
  series->set_count(lengths.size());
  series->set_total_ns(lengths.total());
  series->set_mean_ns(lengths.mean());
  series->set_stddev_ns(static_cast<int64_t>(lengths.stddev()));
  series->set_min_ns(lengths.min());
  series->set_p10_ns(lengths.Percentile(0.1));
  series->set_median_ns(lengths.median());
  series->set_p90_ns(lengths.Percentile(0.9));
  series->set_p99_ns(lengths.Percentile(0.99));
  series->set_max_ns(lengths.max());
  series->set_spread_ratio(Ratio(series->p90_ns() - series->p10_ns(), series->median_ns()));
}

void AddCategories(const std::vector<results::Step>& steps, results::StepSeries* series) {
  for (size_t i = 0; i < kCategories; ++i) {
    std::vector<int64_t> times;
    for (const results::Step& step : steps) {
      if (!step.warmup()) times.push_back(TimesOf(step)[i]);
    }
    const Samples samples(std::move(times));
    results::StepCategory* category = series->add_categories();
    category->set_name(std::string(CategoryName(static_cast<Category>(i))));
    category->set_meaning(std::string(CategoryMeaning(static_cast<Category>(i))));
    category->set_total_ns(samples.total());
    category->set_share_ratio(Ratio(samples.total(), series->total_ns()));
    category->set_mean_ns(samples.mean());
    category->set_p10_ns(samples.Percentile(0.1));
    category->set_median_ns(samples.median());
    category->set_p90_ns(samples.Percentile(0.9));
  }
}

}  // namespace

CategoryTimes TimesOf(const results::Step& step) {
  return {step.input_ns(),     step.forward_ns(), step.backward_ns(), step.optimizer_ns(),
          step.lock_wait_ns(), step.blocked_ns(), step.other_ns()};
}

int64_t CapturedTime(const Process& process) {
  if (process.captures.empty()) return std::max<int64_t>(process.last_ns - process.first_ns, 0);
  int64_t total = 0;
  for (const CaptureWindow& window : process.captures) {
    total += std::max<int64_t>(window.end_ns - window.start_ns, 0);
  }
  return total;
}

std::vector<Interval> StepAnalysis::Counted() const {
  std::vector<Interval> spans;
  for (const results::Step& step : steps) {
    if (!step.warmup()) spans.push_back({step.start_ns(), step.start_ns() + step.duration_ns()});
  }
  return spans;
}

namespace {

StepAnalysis Analyse(ProcessOps& ops, DetectedSteps detected) {
  StepAnalysis out;
  out.detected = std::move(detected);
  const Process& process = ops.process();
  results::StepSeries& series = out.series;
  series.set_pid(process.pid);
  series.set_host(process.host);
  series.set_name(ProcessName(process));
  series.set_method(out.detected.method);
  series.set_marker(out.detected.marker);
  series.set_partial_count(out.detected.partial);
  series.set_other_batch_count(out.detected.other_batches);
  series.set_captured_ns(CapturedTime(process));
  *series.mutable_confidence() = out.detected.confidence;
  if (!out.found()) return out;

  const Track& track = process.tracks[out.detected.track];
  series.set_tid(track.tid);
  out.timeline = StepTimeline(ops, out.detected.track, out.detected.rivals);
  const CategoryTimeline without_gaps = out.timeline;
  FillShortGaps(&out.timeline);
  for (const DetectedStep& step : out.detected.steps) {
    const uint64_t number = step.number.value_or(out.steps.size() + 1);
    out.steps.push_back(MakeStep(process, step, number, out.timeline, track.op.end_ns));
    out.steps.back().set_tid(track.tid);
  }
  MarkWarmup(&out.steps);

  std::vector<int64_t> lengths;
  uint64_t batches = 0;
  int64_t all = 0;
  for (const results::Step& step : out.steps) {
    all += step.duration_ns();
    if (step.warmup()) {
      series.set_warmup_count(series.warmup_count() + 1);
      series.set_warmup_ns(series.warmup_ns() + step.duration_ns());
      continue;
    }
    lengths.push_back(step.duration_ns());
    batches += step.batch_count();
  }
  const std::vector<Interval> python =
      OptimizerPython(ops, out.detected.track, out.detected.rivals);
  for (const Interval& counted : out.Counted()) {
    out.optimizer_python_ns += CoveredLength(python, counted);
    out.bare_ns += without_gaps.Split(counted)[static_cast<size_t>(Category::kOther)];
  }
  const Samples samples(std::move(lengths));
  Summarise(samples, &series);
  series.set_batches_per_step(Ratio(batches, series.count()));
  series.set_coverage_ratio(Ratio(all, series.captured_ns()));
  AddCategories(out.steps, &series);
  MarkOutliers(series, samples, &out.steps);
  for (const results::Step& step : out.steps) {
    if (step.outlier()) series.set_outlier_count(series.outlier_count() + 1);
  }
  return out;
}

}  // namespace

std::vector<StepAnalysis> AnalyseSteps(ProcessOps& ops, const StepMarker* marker,
                                       const StepCapture& capture) {
  std::vector<StepAnalysis> all;
  for (DetectedSteps& detected : DetectSteps(ops, marker, capture))
    all.push_back(Analyse(ops, std::move(detected)));
  // The thread with the most time in steps leads.
  std::stable_sort(all.begin(), all.end(), [](const StepAnalysis& a, const StepAnalysis& b) {
    return a.series.total_ns() > b.series.total_ns();
  });
  return all;
}

}  // namespace gpuprof::analysis
