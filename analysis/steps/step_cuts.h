// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Cuts the time of a thread into steps, each function by other marks. For the step detector; pure.

#pragma once

#include <cstddef>
#include <vector>

#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/optimizer_cycle.h"
#include "analysis/steps/step_detector.h"

namespace gpuprof::analysis {

using Marks = std::vector<Mark>;

// Cuts steps that begin with the first batch that feeds them. A batch trains when a backward pass
// or an optimizer step follows it before the next batch is asked for. A step ends with the batch
// whose optimizer step closes it.
void StepsFromBatches(const Marks& loader, const Marks& optimizer,
                      const std::vector<Interval>& backward, const std::vector<Interval>& busy,
                      DetectedSteps* out);

// Cuts between the ends of optimizer steps, `cycle` of them to a step.
void StepsFromOptimizer(const Marks& optimizer, size_t cycle, DetectedSteps* out);

// Adds the first step of a capture that began where a step did (--capture=steps): this step is
// whole too. What the recorder's own start took lies before its first operation.
void AddFirstOfCapture(ProcessOps& ops, const Marks& optimizer, size_t cycle, DetectedSteps* out);

// Cuts from each mark that the user named to the next. The last mark's own span ends its step if
// the span is as long as a step; else nothing tells where the step ends.
void StepsFromMarks(const Marks& marks, DetectedSteps* out);

// Cuts between the ends of backward passes. A pass ends where another operation of the thread
// begins.
void StepsFromBackward(ProcessOps& ops, size_t track, const std::vector<Interval>& backward,
                       DetectedSteps* out);

// Cuts from run to run of a function. A step that runs of other functions follow, which do not
// follow steps as a rule, ends where the first of these begins. The last step of a capture ends
// with its run.
void StepsFromRuns(const Process& process, const Marks& runs, const std::vector<uint32_t>& batches,
                   const std::vector<Interval>& others, DetectedSteps* out);

// Cuts from batch to batch. If operations follow the batches at all, a batch that none follows
// ended its epoch.
void StepsFromLoader(ProcessOps& ops, const Marks& loader, DetectedSteps* out);

}  // namespace gpuprof::analysis
