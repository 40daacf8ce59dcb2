// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads TensorFlow's marks of a training loop: runs of compiled functions (tf.function, Keras), and
// waits for the next element of a dataset. For the step detector; pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_cuts.h"

namespace gpuprof::analysis {

// Returns whether a row is a mark of TensorFlow or JAX for its own profiler. It has no depth.
inline bool IsTraceMe(const OpTable& ops, size_t row) {
  return proto::OpScopeOf(ops.operation[row]) == proto::OpScope::kTraceMe;
}

// A value that an operation says of itself.
struct OpValue {
  int64_t number = 0;
  uint32_t text = 0;  // string id; 0: it is the number
};
// Returns the value `name` (a string id) of a row; none: the operation does not have it.
std::optional<OpValue> ValueOf(const Track& track, size_t row, uint32_t name);

// A number that the program gave to one of its own marks of a step.
struct NumberedMark {
  size_t row = 0;
  uint64_t number = 0;
};
// Returns the marks of a thread that have a number of a step (tf.profiler.experimental.Trace).
std::vector<NumberedMark> NumberedMarksOf(const Process& process, size_t track);

// Returns why a recording of TensorFlow has no steps, and what to do.
std::string NoStepsOfTensorFlow();

// Returns what the code of a function was called: "train_step" of "__inference_train_step_96".
std::string_view FunctionWord(std::string_view name);

// Runs of one function on a thread, in order of time.
struct FunctionRuns {
  size_t track = 0;
  std::string_view word;             // of its name
  Marks runs;                        // without runs that found the dataset at its end
  std::vector<uint32_t> batches;     // by run: elements that it took
  std::vector<Interval> other_runs;  // those of other functions on this thread
  uint64_t at_end = 0;               // runs that found the dataset at its end
};
// Returns the function whose runs take most of a thread's time. Without runs: no thread has any.
// Keras calls its training and its evaluation alike. If a function of the name computes gradients,
// only functions with gradients count.
FunctionRuns MainFunction(ProcessOps& ops);

// Returns whether the process computes gradients or assigns to variables in functions, as far as
// that can be seen.
bool FunctionsTrain(ProcessOps& ops);

// Returns the asking of a loop for the next elements, outside of functions. `rows`: where they are,
// sorted; null: not needed.
Marks ElementsOf(ProcessOps& ops, size_t track, std::vector<size_t>* rows = nullptr);

// Returns when runs of functions on a thread wait for the next element: sorted and disjoint.
std::vector<Interval> InputInFunctions(ProcessOps& ops, size_t track);

}  // namespace gpuprof::analysis
