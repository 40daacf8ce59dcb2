// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks PyTorch's compiler (Inductor) which files it generated in this process, and which of their
// lines came from which place of the program. The compiler keeps this in a dict of Python
// (PyCodeCache.linemaps), with the file's path as the key.
//
// Python is entered only in processes that have loaded a part of the compiler, now and then in a
// capture, at its end, and at Python's exit.

#pragma once

#include <cstdint>

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer::inductor {

// Returns whether a file is of those that only the compiler loads: Triton, or a library of kernels
// for the processor. `path`: of a loaded object. Any thread.
bool IsOfCompiler(const char* path);
// Returns whether one is loaded. Control thread: may wait for the loader's lock.
bool IsLoaded();

// A capture begins, or has ended: looks again soon. Control thread.
void BeginCapture();
void EndCapture();
// Returns whether a look is due. Any thread.
bool IsDue();
// Has a look, without the interpreter's lock. Python may end the thread inside of it, or hold it.
// The agent's thread.
void Look(const Python& python);

// In a forked child: what the parent has told stays told.
void LineMapsAfterForkChild();

}  // namespace gpuprof::tracer::inductor
