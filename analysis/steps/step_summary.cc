// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_summary.h.

#include "analysis/steps/step_summary.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "analysis/steps/iterations.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/step_timeline.h"

namespace gpuprof::analysis {
namespace {

// Leading steps above this many medians are warm-up.
constexpr int64_t kWarmupMedians = 3;
// An outlier is further from the median than both of these.
constexpr int64_t kOutlierDistances = 9;     // about six standard deviations of quiet steps
constexpr int64_t kOutlierPartOfMedian = 4;  // a quarter

// Returns the first of the rows whose time is greater.
size_t FirstBehind(const Column<int64_t>::Reader& times, RowRun rows, int64_t time) {
  for (size_t count = rows.size(); count != 0;) {
    const size_t half = count / 2;
    const bool is_behind = times[rows.first + half] > time;
    if (!is_behind) rows.first += half + 1;
    count = is_behind ? half : count - half - 1;
  }
  return rows.first;
}

Step MakeStep(const DetectedStep& detected, uint64_t number, const CategoryTimeline& timeline,
              const Column<int64_t>::Reader& op_ends, size_t ops) {
  Step step;
  step.number = number;
  step.span = detected.span;
  step.times = timeline.Split(detected.span);
  const size_t first = FirstBehind(op_ends, {0, ops}, detected.span.start);
  step.op_count = FirstBehind(op_ends, {first, ops}, detected.span.end) - first;
  step.batch_count = detected.batches;
  step.name = detected.name;
  step.capture = detected.capture;
  return step;
}

// Iterations of a serving engine are compared with those of their phase: to read a prompt takes
// longer than to make a token.
void MarkWarmup(const Process& process, std::vector<Step>* steps) {
  std::map<proto::IterationPhase, std::vector<int64_t>> lengths;
  std::vector<proto::IterationPhase> phases;  // by step
  phases.reserve(steps->size());
  for (size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    const bool is_known = i != 0 && step.name == (*steps)[i - 1].name;
    phases.push_back(is_known ? phases.back() : IterationOf(process, step).phase);
    lengths[phases.back()].push_back(step.span.length());
  }
  std::map<proto::IterationPhase, int64_t> limits;
  for (auto& [phase, all] : lengths)
    limits[phase] = kWarmupMedians * Samples(std::move(all)).median();
  const size_t most = steps->size() / 4;
  for (size_t i = 0; i < most; ++i) {
    Step& step = (*steps)[i];
    if (step.span.length() <= limits[phases[i]]) break;
    step.is_warmup = true;
  }
}

void MarkOutliers(const StepSummary& summary, const Samples& lengths, std::vector<Step>* steps) {
  const int64_t median = summary.lengths.median_ns;
  const int64_t limit =
      std::max(kOutlierDistances * lengths.MedianDistance(), median / kOutlierPartOfMedian);
  for (Step& step : *steps) {
    if (step.is_warmup || std::abs(step.span.length() - median) <= limit) continue;
    size_t worst = 0;
    int64_t worst_distance = -1;
    for (size_t i = 0; i < kCategories; ++i) {
      const int64_t distance = std::abs(step.times[i] - summary.categories[i].median_ns);
      if (distance > worst_distance) {
        worst = i;
        worst_distance = distance;
      }
    }
    step.outlier = static_cast<Category>(worst);
  }
}

StepTimes TimesOf(const Samples& samples) {
  StepTimes times;
  times.total_ns = samples.total();
  times.mean_ns = samples.mean();
  times.stddev_ns = static_cast<int64_t>(samples.stddev());
  times.min_ns = samples.min();
  times.p10_ns = samples.Percentile(0.1);
  times.median_ns = samples.median();
  times.p90_ns = samples.Percentile(0.9);
  times.p99_ns = samples.Percentile(0.99);
  times.max_ns = samples.max();
  return times;
}

void AddCategories(const std::vector<Step>& steps, StepSummary* summary) {
  for (size_t i = 0; i < kCategories; ++i) {
    std::vector<int64_t> times;
    times.reserve(steps.size());
    for (const Step& step : steps) {
      if (!step.is_warmup) times.push_back(step.times[i]);
    }
    summary->categories[i] = TimesOf(Samples(std::move(times)));
  }
}

}  // namespace

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
  for (const Step& step : steps) {
    if (!step.is_warmup) spans.push_back(step.span);
  }
  return spans;
}

namespace {

StepAnalysis Analyse(ProcessOps& ops, DetectedSteps detected) {
  StepAnalysis out;
  out.detected = std::move(detected);
  const Process& process = ops.process();
  StepSummary& summary = out.summary;
  summary.captured_ns = CapturedTime(process);
  summary.confidence = out.detected.confidence;
  if (!out.found()) return out;

  const Track& track = process.tracks[out.detected.track];
  summary.tid = track.tid;
  out.timeline = StepTimeline(ops, out.detected.track, out.detected.rivals);
  const CategoryTimeline without_gaps = out.timeline;
  FillShortGaps(&out.timeline);
  const Column<int64_t>::Reader op_ends(track.op.end_ns);
  out.steps.reserve(out.detected.steps.size());
  for (const DetectedStep& step : out.detected.steps) {
    const uint64_t number = step.number.value_or(out.steps.size() + 1);
    out.steps.push_back(MakeStep(step, number, out.timeline, op_ends, track.op.rows()));
  }
  MarkWarmup(process, &out.steps);

  std::vector<int64_t> lengths;
  uint64_t batches = 0;
  int64_t all = 0;
  for (const Step& step : out.steps) {
    all += step.span.length();
    if (step.is_warmup) {
      ++summary.warmup_count;
      summary.warmup_ns += step.span.length();
      continue;
    }
    lengths.push_back(step.span.length());
    batches += step.batch_count;
  }
  const std::vector<Interval> python =
      OptimizerPython(ops, out.detected.track, out.detected.rivals);
  for (const Interval& counted : out.Counted()) {
    out.optimizer_python_ns += CoveredLength(python, counted);
    out.bare_ns += without_gaps.Split(counted)[static_cast<size_t>(Category::kOther)];
  }
  const Samples samples(std::move(lengths));
  summary.count = samples.size();
  summary.lengths = TimesOf(samples);
  summary.batches_per_step = Ratio(batches, summary.count);
  summary.coverage_ratio = Ratio(all, summary.captured_ns);
  AddCategories(out.steps, &summary);
  MarkOutliers(summary, samples, &out.steps);
  for (const Step& step : out.steps) summary.outlier_count += step.outlier ? 1 : 0;
  return out;
}

}  // namespace

std::vector<StepAnalysis> AnalyseSteps(ProcessOps& ops, const RegularExpression* marker,
                                       const StepCapture& capture) {
  std::vector<StepAnalysis> all;
  for (DetectedSteps& detected : DetectSteps(ops, marker, capture))
    all.push_back(Analyse(ops, std::move(detected)));
  // The thread with the most time in steps leads.
  std::stable_sort(all.begin(), all.end(), [](const StepAnalysis& a, const StepAnalysis& b) {
    return a.summary.lengths.total_ns > b.summary.lengths.total_ns;
  });
  return all;
}

}  // namespace gpuprof::analysis
