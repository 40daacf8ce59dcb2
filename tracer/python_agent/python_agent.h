// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread that enters CPython, in captures of programs that have a library which must be asked
// through Python (JAX, PyTorch's compiler and process groups), and for what --python asks for.
// Otherwise no Python is run, and there is no thread.
//
// Python may end the thread inside any call, or hold it there for good, when it comes to its own
// end. So the thread holds no lock of ours in such a call, and whoever waits for it has a limit.
//
// Control thread, unless a line says otherwise.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// A capture begins.
void AgentBeginCapture(const Host* host, uint32_t number, const char* trigger);
// Waits until what --python asks for is recorded, if a user asked for the capture: it begins with
// all of it then. Not for long: the program may keep Python's lock.
void AgentAwaitCalls();
// Looks for libraries that need the thread; in captures, now and then.
void AgentTick(const Host* host);
// The capture ends: has the thread hand over what it has, and end. Waits for that a while if no
// thread of the program waits for the capture. A process that is about to go does not wait: its
// thread may have Python's lock.
void AgentEndCapture(StopReason reason, const char* trigger);

// In a forked child: the thread is the parent's.
void AgentAfterForkChild();

// Processor time of the thread so far. Any thread.
uint64_t AgentCpuNs();
// Words for the trace's health; "": there is nothing to say. Any thread.
const char* AgentNote();

}  // namespace gpuprof::tracer
