// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How many steps a process does in a second. A host that runs ahead of its GPU marks the first
// steps too early: it only launches their work. Its marks alone would show too many steps a second.

#pragma once

#include "analysis/steps/step_summary.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// Returns the number of counted steps in a second of steps: the time between steps does not count.
// By how much the GPU fell behind the host's marks meanwhile, that is added to the time of steps.
// 0: there are no steps. `device` holds the process's steps on devices.
double StepsPerSecond(const StepAnalysis& steps, const results::Steps& device);

}  // namespace gpuprof::analysis
