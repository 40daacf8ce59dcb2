// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps that the program marks itself by ranges: of NVTX, of ITT, or of a framework (PyTorch's
// record_function, ProfilerStep#N). proto/step_names.h says which names count, for the recorder
// too. For the step detector; pure.

#pragma once

#include <vector>

#include "analysis/steps/step_detector.h"

namespace gpuprof::analysis {

// Returns the steps of each thread that began ranges of these names. If ranges lie within each
// other, the outermost counts. A range without a number has the next number of its process, or of
// its thread if steps of several threads overlap.
std::vector<DetectedSteps> StepsFromRanges(ProcessOps& ops, const StepCapture& capture);

}  // namespace gpuprof::analysis
