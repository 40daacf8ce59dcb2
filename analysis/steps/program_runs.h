// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs of programs that JAX compiled, as the calls of Python's threads show them: the outermost
// marks PjitFunction(NAME) of a thread. For the step detector; pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_cuts.h"

namespace gpuprof::analysis {

// Returns the name of the function that a mark calls; "": it is another mark.
std::string_view CalledProgram(std::string_view mark);

// Returns why a recording of JAX has no steps, and what to do.
std::string NoStepsOfJax();

// Runs of one function on a thread, in order of time.
struct ProgramRuns {
  size_t track = 0;
  std::string name;
  Marks runs;
};
// Returns the function that most of a thread's time goes to: each call has the time until the
// thread's next call. So what a program waits for behind a call is the call's. Without runs: no
// function was called three times.
ProgramRuns MainProgram(ProcessOps& ops);

// Returns when a thread waited for what programs of JAX compute: sorted and disjoint.
std::vector<Interval> ResultWaits(const Process& process, size_t track);

// Returns when other threads than this one computed for programs of JAX: sorted and disjoint.
std::vector<Interval> ProgramWork(const Process& process, size_t track);

// Returns when marks of JAX are missing: sorted and disjoint.
std::vector<Interval> UnrecordedTimes(const Process& process);

}  // namespace gpuprof::analysis
