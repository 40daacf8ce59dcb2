// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_rows.h.

#include "analysis/passes/device/step_rows.h"

#include <string>

#include "analysis/model/process_name.h"
#include "analysis/passes/device/iteration_rows.h"
#include "analysis/steps/iterations.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

results::Step StepRow(const Process& process, const StepAnalysis& steps, const Step& step) {
  results::Step row;
  row.set_pid(process.pid);
  row.set_host(process.host);
  row.set_tid(steps.summary.tid);
  row.set_number(step.number);
  row.set_start_ns(step.span.start);
  row.set_duration_ns(step.span.length());
  row.set_input_ns(step.times[0]);
  row.set_forward_ns(step.times[1]);
  row.set_backward_ns(step.times[2]);
  row.set_optimizer_ns(step.times[3]);
  row.set_lock_wait_ns(step.times[4]);
  row.set_blocked_ns(step.times[5]);
  row.set_other_ns(step.times[6]);
  row.set_op_count(step.op_count);
  row.set_batch_count(step.batch_count);
  row.set_capture(step.capture);
  row.set_warmup(step.is_warmup);
  row.set_outlier(step.outlier.has_value());
  if (step.outlier) row.set_outlier_category(std::string(CategoryName(*step.outlier)));
  FillIteration(IterationOf(process, step), &row);
  return row;
}

results::StepSeries SeriesRow(const Process& process, const StepAnalysis& steps) {
  const StepSummary& summary = steps.summary;
  results::StepSeries row;
  row.set_pid(process.pid);
  row.set_host(process.host);
  row.set_name(ProcessName(process));
  row.set_method(steps.detected.method);
  row.set_marker(steps.detected.marker);
  row.set_partial_count(steps.detected.partial);
  row.set_other_batch_count(steps.detected.other_batches);
  row.set_captured_ns(summary.captured_ns);
  row.mutable_confidence()->set_level(summary.confidence.level);
  row.mutable_confidence()->set_reason(summary.confidence.reason);
  if (!steps.found()) return row;
  row.set_tid(summary.tid);
  row.set_warmup_count(summary.warmup_count);
  row.set_warmup_ns(summary.warmup_ns);
  row.set_outlier_count(summary.outlier_count);
  row.set_count(summary.count);
  const StepTimes& lengths = summary.lengths;
  row.set_total_ns(lengths.total_ns);
  row.set_mean_ns(lengths.mean_ns);
  row.set_stddev_ns(lengths.stddev_ns);
  row.set_min_ns(lengths.min_ns);
  row.set_p10_ns(lengths.p10_ns);
  row.set_median_ns(lengths.median_ns);
  row.set_p90_ns(lengths.p90_ns);
  row.set_p99_ns(lengths.p99_ns);
  row.set_max_ns(lengths.max_ns);
  row.set_spread_ratio(Ratio(lengths.p90_ns - lengths.p10_ns, lengths.median_ns));
  row.set_batches_per_step(summary.batches_per_step);
  row.set_coverage_ratio(summary.coverage_ratio);
  for (size_t i = 0; i < kCategories; ++i) {
    const StepTimes& times = summary.categories[i];
    results::StepCategory* category = row.add_categories();
    category->set_name(std::string(CategoryName(static_cast<Category>(i))));
    category->set_meaning(std::string(CategoryMeaning(static_cast<Category>(i))));
    category->set_total_ns(times.total_ns);
    category->set_share_ratio(Ratio(times.total_ns, lengths.total_ns));
    category->set_mean_ns(times.mean_ns);
    category->set_p10_ns(times.p10_ns);
    category->set_median_ns(times.median_ns);
    category->set_p90_ns(times.p90_ns);
  }
  return row;
}

}  // namespace gpuprof::analysis
