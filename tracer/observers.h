// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Those that look at the program from inside while a capture runs: the observer of PyTorch's
// operations and the sampler of Python's threads. Control thread, unless a function says otherwise.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Attaches those whose library or interpreter is there by now. May wait for the loader's lock.
// True: one is about to come, so look again soon.
bool LookForFrameworks(const Host* host);
// Ends all of them, as the capture ends.
void EndObservers();
// Returns the state of framework ops: PyTorch's, or that of TensorFlow or JAX without PyTorch.
// Static storage. Any thread.
const char* StateOfOps(const Host& host);
// Returns the processor time of their threads. Any thread.
uint64_t ObserversCpuNs();
// The trace file is a new one.
void ObserversBeginFile();

// Around fork, on the forking thread.
void ObserversBeforeFork();
void ObserversAfterForkParent();
void ObserversAfterForkChild();

}  // namespace gpuprof::tracer
