// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counts the steps of a program of TensorFlow for --capture=steps and for triggers. A step is a run
// of the function that most time of its thread went to so far, as analysis/steps/function_runs.h
// has it. Or it is a mark with a number of a step, which the library makes while the program's own
// profiler records. A mark comes when it ends.
//
// Keras takes the result of a run out of a container. If it did so once, a run without a result
// found the dataset at its end, and is no step.
//
// A program that runs no function has a step for each element that it asks a dataset for.

#pragma once

#include "inject/tensorflow/trace_me.h"

namespace gpuprof::inject::tensorflow {

// Returns whether marks are needed between captures, to know when the first one begins. Any thread.
bool WantsFunctionSteps() noexcept;

// Counts a mark, and begins or ends a capture there. Threads of the program, inside the library,
// after the mark has been recorded: no heap, no lock, errno untouched.
void CountMark(const TraceMe& mark) noexcept;

// Looks for the library and has it make marks of functions. Control thread, now and then. False:
// they are not wanted, or no longer.
bool LookForFunctionSteps() noexcept;

// In a forked child, which counts its own steps.
void ForgetFunctionSteps() noexcept;

}  // namespace gpuprof::inject::tensorflow
