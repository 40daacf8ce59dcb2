// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Joins samples of native code to those of Python. The sampler reads the functions of Python at its
// ticks, and the kernel takes a native stack after each 10 ms of processor time. A native sample of
// the same thread and time gets the stack of Python. On top of this stack lie the native functions
// that the innermost function of Python called. Frames of the interpreter itself, and what lies
// outside of them, say less than the functions of Python in their place.
//
// For LoadEvents, on one thread, when all rows are there.

#pragma once

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Sets stack and state of the joined rows (proto::kSamplePython and kSampleNative).
void JoinSamples(Process* process);

}  // namespace gpuprof::analysis
