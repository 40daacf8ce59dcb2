// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Analyses detected steps: each step's categories, warm-up and outliers, and the summary of a
// thread. Pure.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/steps/interval.h"
#include "analysis/steps/step_detector.h"

namespace gpuprof::analysis {

struct Step {
  uint64_t number = 0;
  Interval span;
  CategoryTimes times = {};  // by Category; they add up to the length
  uint64_t op_count = 0;
  uint32_t batch_count = 0, capture = 0;
  uint32_t name = 0;  // string id of the range that is the step; 0: no range
  bool is_warmup = false;
  std::optional<Category> outlier;  // what makes it differ so much; none: it does not
};

// The lengths of several steps, or their times of one category.
struct StepTimes {
  int64_t total_ns = 0, mean_ns = 0, stddev_ns = 0;
  int64_t min_ns = 0, p10_ns = 0, median_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
};

// The steps of one thread. Warm-up steps are counted apart, and in no other figure.
struct StepSummary {
  int32_t tid = 0;  // 0: there are no steps
  uint64_t count = 0;
  StepTimes lengths;
  std::array<StepTimes, kCategories> categories = {};
  double batches_per_step = 0;
  double coverage_ratio = 0;  // the part of the captures that steps cover, warm-up included
  uint64_t warmup_count = 0, outlier_count = 0;
  int64_t warmup_ns = 0;
  int64_t captured_ns = 0;
  StepConfidence confidence;
};

struct StepAnalysis {
  DetectedSteps detected;
  CategoryTimeline timeline;  // of the step's thread; empty without steps
  StepSummary summary;        // count 0 without steps
  std::vector<Step> steps;    // all of them, warm-up included
  bool found() const { return detected.found(); }
  // Time of the counted steps in which no operation was open and the thread did not wait.
  int64_t bare_ns = 0;
  // Time of the counted steps that optimizers spent between their operations.
  int64_t optimizer_python_ns = 0;
  // The steps that the summary counts.
  std::vector<Interval> Counted() const;
};

// Returns the steps of each thread that has some, the busiest first. There is always a first.
std::vector<StepAnalysis> AnalyseSteps(ProcessOps& ops, const RegularExpression* marker,
                                       const StepCapture& capture = {});

// Time that captures of this process lasted.
int64_t CapturedTime(const Process& process);

}  // namespace gpuprof::analysis
