// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Python's end, as threads of gpuprof must know it that enter CPython: an exit handler of Python
// waits until they are outside, and none enters again. To enter later than this is not safe.

#pragma once

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// What is called at Python's exit, with CPython's lock: on Python's main thread, once before
// threads of gpuprof are waited for, and again if one was inside.
using ExitFunction = void (*)(const Python& python);

// Registers the function, once. It stays: the next capture may begin at any moment. With CPython's
// lock. False: Python does not tell its end, or has come to it.
bool WatchExit(const Python& python, ExitFunction function);

// Returns whether Python has come to its end. Any thread.
bool PythonIsOver();

// Enters Python for a moment, if it has not come to its end. The thread may be ended in the
// constructor where Python could not tell us of its end.
class InsidePython {
 public:
  explicit InsidePython(const Python& python);
  ~InsidePython();
  InsidePython(const InsidePython&) = delete;
  InsidePython& operator=(const InsidePython&) = delete;
  // False: Python has come to its end, perhaps while the thread waited for its lock.
  bool is_in() const { return is_in_ && !PythonIsOver(); }

 private:
  const Python& python_;
  int state_ = 0;
  bool is_in_ = false;
};

// In a forked child: threads of the parent that were inside are not there.
void PythonExitAfterFork();

}  // namespace gpuprof::tracer
