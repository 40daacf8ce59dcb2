// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells the launcher's sampler of hardware counters, a process beside the program, that CUDA is in
// use: it touches no GPU before. Any thread; one system call, no descriptor, no heap.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Where nobody waits, in a process that another launcher or none at all has started, or after
// chroot(), it does nothing.
void CallSampler(const Settings& settings);

}  // namespace gpuprof::tracer
