// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a device did for each iteration of a server (analysis/steps/iterations.h): its forward, and
// the bubble before it. For passes and advice; one thread.
//
// A forward is the time from the first work that an iteration launched to the end of the last. A
// bubble is the time without any work between the forwards of two iterations that follow each other
// directly. After a pause there is no bubble: the server may have had no request.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/derived/device_timeline.h"
#include "analysis/passes/context.h"
#include "analysis/steps/step_summary.h"
#include "proto/iteration_names.h"

namespace gpuprof::analysis {

struct ServedIteration {
  proto::IterationName told;
  Interval period;                  // of the step (step_periods.h); may be empty
  std::optional<Interval> forward;  // on the device
  int64_t busy_ns = 0;              // in the forward
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;  // of them, those that launches of graphs launched
  bool follows_pause = false;
  std::optional<int64_t> bubble_ns;
  DeviceTimes bubble{};  // bubble_ns by cause
  // Strings: what the launching thread was in for most of the time in which it was late in the
  // bubble. 0: in none. With this time of the gap that counts.
  uint32_t during_op = 0, during_function = 0;
  int64_t during_ns = 0;
  // From the end of the last iteration that makes tokens to the end of this one. None: this one
  // makes none, or a pause is between them.
  std::optional<int64_t> token_gap_ns;
  bool gap_has_prefill = false;  // prompts were read in that time
};

struct ServingThread {
  const StepAnalysis* steps = nullptr;
  bool is_marked = true;                    // else the steps are runs of a compiled program
  std::optional<uint32_t> device;           // that the iterations gave most work
  std::vector<ServedIteration> iterations;  // by index of the step
  uint64_t pauses = 0;
  int64_t pause_ns = 0;
};

// Returns the threads of a process that serve. Steps without marks count if the program does not
// train and its steps are runs of a compiled program.
std::vector<ServingThread> ServingThreadsOf(PassContext& context, size_t index);

// Returns what most of these times is. NONE: all are 0.
results::TimeCategory MostOf(const DeviceTimes& times);

}  // namespace gpuprof::analysis
