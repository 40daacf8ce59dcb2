// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the training or inference steps of a process from the names of its ops. Called by passes;
// pure functions.
//
// A training step begins where the first batch that feeds it is asked for. Without a loader it
// begins where the previous optimizer step ended, and without an optimizer where the previous
// backward pass ended. It ends where the next step begins, so that what follows the optimizer
// (metrics, logging) belongs to the step. Batches of an evaluation, and the last, empty asking of
// an epoch, belong to no step. A step that a capture's border cuts is not counted.
//
// Each thread that trains has its own steps.

#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"
#include "proto/results/meta.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

struct DetectedStep {
  Interval span;
  uint32_t batches = 0;
  uint32_t capture = 0;
};

struct DetectedSteps {
  results::StepMethod method = results::STEP_METHOD_NONE;
  std::string marker;
  size_t track = 0;            // index: the thread whose ops bound the steps
  std::vector<size_t> rivals;  // indices: other threads that train
  std::vector<DetectedStep> steps;
  uint64_t partial = 0;
  uint64_t other_batches = 0;
  results::Confidence confidence;
  bool found() const { return !steps.empty(); }
};

// Returns the steps of each thread that has some, those of the busiest first. There is always a
// first, which may be without steps. `marker`: op names that begin a step; null: detect.
std::vector<DetectedSteps> DetectSteps(ProcessOps& ops, const std::regex* marker);

// Why there are no steps and what to do, for a whole trace.
std::string NoStepsAdvice(uint64_t op_rows, bool marker_given, bool framework_seen, bool is_window);

}  // namespace gpuprof::analysis
