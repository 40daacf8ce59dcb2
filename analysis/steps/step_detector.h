// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the steps of a process. Called by passes; pure functions.
//
// Ranges that the program names as steps come first: they are the steps. Without them, training and
// inference steps are found from the names of ops: optimizer steps first, then backward passes,
// then batches of a loader. A capture that the recorder began at an optimizer step has optimizer
// steps.
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
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/regular_expression.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_capture.h"
#include "proto/kinds/run.pb.h"

namespace gpuprof::analysis {

// How sure it is that steps are steps, and why.
struct StepConfidence {
  results::Level level = results::LEVEL_NONE;
  std::string reason;
};

struct DetectedStep {
  Interval span;
  uint32_t batches = 0;
  uint32_t capture = 0;
  std::optional<uint64_t> number = std::nullopt;  // of its range; none: count the steps
  uint32_t name = 0;                              // string id of its range; 0: no range
};

struct DetectedSteps {
  results::StepMethod method = results::STEP_METHOD_NONE;
  std::string marker;
  size_t track = 0;            // index: the thread whose ops or ranges bound the steps
  std::vector<size_t> rivals;  // indices: other threads that train, or have steps of their own
  bool trains = true;          // false: neither an optimizer nor a backward pass was seen
  std::vector<DetectedStep> steps;
  // Optimizer steps within each step, of the class that --capture=steps counts.
  size_t counted = 1;
  uint64_t partial = 0;
  uint64_t other_batches = 0;
  StepConfidence confidence;
  bool found() const { return !steps.empty(); }
};

// Returns the steps of each thread that has some, those of the busiest first. There is always a
// first, which may be without steps. `marker`: op names that begin a step; null: detect.
std::vector<DetectedSteps> DetectSteps(ProcessOps& ops, const RegularExpression* marker,
                                       const StepCapture& capture = {});

// What is known of a whole trace that has no steps.
struct NoSteps {
  uint64_t op_rows = 0;
  bool marker_given = false;
  bool framework_seen = false;
  bool pytorch_seen = false;
  bool is_window = false;    // a flight recorder let the older part go
  bool is_xspace = false;    // TensorFlow or JAX recorded it
  bool has_samples = false;  // of stacks
};
// Returns why there are no steps, and what to do.
std::string NoStepsAdvice(const NoSteps& trace);

}  // namespace gpuprof::analysis
