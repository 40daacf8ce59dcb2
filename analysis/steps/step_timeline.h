// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells what the thread of a training loop does at each moment. The sources are its operations, the
// backward passes that run elsewhere for it, and its waits. For the step detector and the passes;
// pure.

#pragma once

#include <cstddef>
#include <vector>

#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

// Returns when backward passes of this thread's loop run: its own, and those of threads that are
// none of `rivals`. Rivals train on their own. Sorted and disjoint.
std::vector<Interval> BackwardOf(ProcessOps& ops, size_t track, const std::vector<size_t>& rivals);

// Returns the categories of all the thread's time. Otherwise the category is kOther.
//
// The innermost operation decides. Three rules go beyond this:
// - Inside an optimizer step that runs forward and backward passes (a closure, as LBFGS and
//   Lightning use it), only these parts are optimizer: the time from the last backward pass on; the
//   time between a backward pass and the next zeroing of gradients, if forward operations follow
//   the zeroing; and the zeroing.
// - Operations between a backward pass and the optimizer step that follows work on gradients
//   (clipping, unscaling): they are optimizer.
// - Time between two nodes of one backward pass is backward, unless the thread waits.
CategoryTimeline StepTimeline(ProcessOps& ops, size_t track,
                              const std::vector<size_t>& rivals = {});

// Returns when optimizer steps run no operation: sorted and disjoint. If a step runs a closure,
// only the time from the first operation behind the last backward pass counts. What the closure
// does between the two is not the optimizer's.
std::vector<Interval> OptimizerPython(ProcessOps& ops, size_t track,
                                      const std::vector<size_t>& rivals = {});

// Gives gaps of up to two milliseconds to the phase that they lie in. They are Python between two
// operations. Between two of one category they get this category. Between forward and backward,
// between backward and optimizer, and between optimizer and forward, they get the later category.
// Waits keep their own.
void FillShortGaps(CategoryTimeline* timeline);

}  // namespace gpuprof::analysis
