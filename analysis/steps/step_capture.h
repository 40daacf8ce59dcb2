// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a capture says about the steps in it: which ranges the user named, how the capture began,
// and the number of its first step. For the step detector; pure.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct StepCapture {
  // How the first capture of the process began.
  enum class Begin : uint8_t {
    kElsewhere,  // not at a step, or before any step was seen
    kOptimizer,  // at the end of an optimizer step
    kRange,      // at a range that is a step
  };
  std::string range;  // NAME or NAME@DOMAIN of --capture=steps:FIRST-LAST@NAME; "": no name
  uint64_t first =
      1;  // the number of the first step or optimizer step; steps without numbers begin at 1
  Begin begin = Begin::kElsewhere;
};

StepCapture StepCaptureOf(const Trace& trace, const Process& process);

// Returns whether a trigger of a capture is a step.
bool IsStepTrigger(const std::string& trigger);

}  // namespace gpuprof::analysis
