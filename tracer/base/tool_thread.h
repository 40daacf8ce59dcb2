// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Starts threads of gpuprof: with every signal blocked, a small stack, and nobody who joins them.

#pragma once

#include <cstddef>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// One kind of thread, of which one at a time is begun. It adopts itself (Host::adopt_tool_thread)
// and gives itself its name.
struct ToolThread {
  void* (*main)(void* argument);
  size_t stack_bytes;
  bool has_stack = false;  // libc keeps the stack of a thread that has ended for the next one
};

// Begins a thread. Tells the program's limits of it before. Returns 0, or the error of
// pthread_create. A tool thread, or a thread of the program inside gpuprof's code.
int StartToolThread(const Host& host, ToolThread* thread, void* argument);

}  // namespace gpuprof::tracer
