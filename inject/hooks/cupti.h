// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of what a profiler inside the program (torch.profiler) calls in a libcupti that it is
// linked to. They keep TargetProfilerState. The program goes first: a call that asks CUPTI for
// something waits until a capture has left CUPTI, and then goes to the real function.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::inject {

extern tracer::TargetProfilerState g_target_profiler;

// Resets what belongs to the parent, in a forked child: the child has no capture yet.
void ForgetCuptiCalls();

}  // namespace gpuprof::inject
