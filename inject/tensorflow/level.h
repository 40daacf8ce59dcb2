// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which of TensorFlow's marks are made: the library's level, which gpuprof and the program's own
// profiler share.
//
// The library makes marks up to a level; below 0 it makes none. Its own profiler begins only if the
// level is below 0, so gpuprof's level gives way there. While the program's profiler records, the
// level is the program's: its file has what it would have without gpuprof. gpuprof records the same
// marks meanwhile.
//
// At level 2 an operation is marked if the executor holds it for expensive. The executor learns
// costs only from runs without marks. So a capture begins with level 1, which has runs of functions
// and waits for input. It goes on with level 2 when functions have run for a while. Before a
// capture that begins at a step, level 1 tells the steps.

#pragma once

#include <cstdint>

#include "inject/tensorflow/library.h"
#include "inject/tensorflow/trace_me.h"

namespace gpuprof::inject::tensorflow {

// Marks are wanted, or no longer: for steps that begin a capture (function_steps.h). Control
// thread.
void MarksAreWanted() noexcept;

// A capture that records operations begins or ends. Any thread, not in a hook.
void CaptureBegins() noexcept;
void CaptureEnds() noexcept;

// Looks for the library, and raises the level when it is time. Control thread, now and then while a
// capture runs.
void Tick() noexcept;

// Returns whether costs are being learned. Any thread, hooks.
bool WarmsUp() noexcept;
// Notes a mark that was made meanwhile. Any thread, hooks.
void NoteMark(const char* name, const NameParts& parts) noexcept;

// The calls of the program's profiler: as the library's own, which they call.
bool StartOfProgram(int level, const uint64_t* filter) noexcept;
void* StopOfProgram(void* events) noexcept;
// Returns whether a mark is for the program's profiler: it records, and did so when the mark began.
bool IsForProgram(const TraceMe& mark) noexcept;

// In a forked child: its capture has not begun yet.
void AfterForkInChild() noexcept;

}  // namespace gpuprof::inject::tensorflow
