// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From detected steps to the results of the pass `steps`: each step's categories, warm-up and
// outliers, and the summary of a thread. Called by passes; pure.

#pragma once

#include <vector>

#include "analysis/steps/step_detector.h"

namespace gpuprof::analysis {

struct StepAnalysis {
  DetectedSteps detected;
  CategoryTimeline timeline;         // of the step's thread; empty without steps
  results::StepSeries series;        // count 0 without steps
  std::vector<results::Step> steps;  // all of them, warm-up included
  bool found() const { return detected.found(); }
  // Time of the counted steps in which no operation was open and the thread did not wait.
  int64_t bare_ns = 0;
  // Time of the counted steps that optimizers spent between their operations.
  int64_t optimizer_python_ns = 0;
  // The steps that the summary counts.
  std::vector<Interval> Counted() const;
};

// Returns the steps of each thread that has some, the busiest first. There is always a first.
std::vector<StepAnalysis> AnalyseSteps(ProcessOps& ops, const StepMarker* marker,
                                       const StepCapture& capture = {});

// Time that captures of this process lasted.
int64_t CapturedTime(const Process& process);

CategoryTimes TimesOf(const results::Step& step);

}  // namespace gpuprof::analysis
