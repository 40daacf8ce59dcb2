// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which workers or stages a job waits for, in which operations, and from which step on. Pure, any
// thread.
//
// A worker is slow if two things hold. With its times alone the job would be slower. And its own
// work of one type takes longer than that of the others, for many steps in a row. These steps are
// the run with the largest sum, if each step counts what exceeds half of the usual excess. Or it
// takes longer in single steps, as in every third one, and its other steps are clearly shorter.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stragglers/schedule.h"
#include "analysis/stragglers/simulation.h"
#include "analysis/stragglers/what_if.h"

namespace gpuprof::analysis {

// Steps of a schedule, by index; the last one is included.
struct StepRun {
  size_t first = 0, last = 0;
  size_t count() const { return last - first + 1; }
};

struct SlowWorker {
  uint32_t worker = 0;
  uint32_t type = 0;  // of the operations that take longer
  StepRun steps;      // from the first to the last one in which they do
  // The steps in which they do, by index, rising. They may be all of `steps`.
  std::vector<size_t> slow_steps;
  size_t every = 0;        // so many steps lie from one of them to the next; 0: it varies, or 1
  double extra_ns = 0;     // in the mean of these steps
  double usual_ns = 0;     // what the operations take in other workers
  double step_ns = 0;      // the mean length of these steps
  double saved_ns = 0;     // if this worker took the ideal time
  bool with_host = false;  // the other workers of its host are slow, too
};

struct SlowStage {
  uint32_t stage = 0;
  uint32_t type = 0;
  double factor = 1;    // the time of its operations, by that of the other stages
  double saved_ns = 0;  // if it took the ideal time
};

enum class StragglerVerdict {
  kBalanced,  // S is small, or chance explains it
  kWorkers,   // some workers are slow
  kStage,     // a stage has more work than others
  kInTurns,   // workers are slow in turns
};

struct StragglerFindings {
  StragglerVerdict verdict = StragglerVerdict::kBalanced;
  std::vector<SlowWorker> workers;  // those that cost most first
  std::optional<SlowStage> stage;
  double saved_ns = 0;             // if all slow workers took the ideal time
  std::vector<std::string> hosts;  // those whose workers are nearly all slow
};

// Finds them. `hosts`: the host of each worker.
StragglerFindings FindStragglers(const Schedule& schedule, const Simulation& simulation,
                                 const WhatIf& what_if, const std::vector<std::string>& hosts);

// The operations that a step waited for most.
struct StepCulprit {
  uint32_t worker = 0, type = 0;
  double ns = 0;        // on the path of the step
  double extra_ns = 0;  // the part above the ideal
};

// Returns for each step the worker and type that exceed the ideal most on its path. None: nothing
// on the path takes longer than the ideal.
std::vector<std::optional<StepCulprit>> FindCulprits(const Schedule& schedule,
                                                     const Simulation& simulation);

}  // namespace gpuprof::analysis
