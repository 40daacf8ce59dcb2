// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's first interface as a profiler inside the program uses it (torch.profiler): by interposing
// what libraries that are linked to CUPTI call. Activity records know no subscriber there: without
// this, a profiler that begins during a capture takes its buffers, kinds and clock away, and a
// capture that begins meanwhile takes the profiler's.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::inject {

extern tracer::ProgramsCupti g_programs_cupti;

// Of the calling thread, under way.
uint32_t OwnCuptiCalls();
inline bool IsInCuptiCall() { return OwnCuptiCalls() != 0; }

// StartGpu (inject/lifecycle.h) once the calling thread has come out of them: in their midst CUPTI
// would be half the program's and half a capture's.
void StartGpuAfterCuptiCall();

}  // namespace gpuprof::inject
