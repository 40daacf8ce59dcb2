// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CPython in this process: where its runtime is, and how it lies in memory.
//
// FindInterpreter may wait for the loader's lock: the control thread. The result is plain data.

#pragma once

#include <cstdint>

#include "tracer/python/layout.h"

namespace gpuprof::tracer {

struct Interpreter {
  void* handle = nullptr;  // for dlsym
  uint64_t runtime = 0;    // _PyRuntime
  uint64_t code_type = 0;  // PyCode_Type
  uint32_t version = 0;    // 0x030b: 3.11
  PythonLayout layout = {};
};

enum class PythonFound : uint8_t { kNone, kBegins, kReady, kUnknown };

// Looks for the interpreter, which is kept once it is ready. kBegins: it is not initialised yet.
// kUnknown: it cannot be read.
PythonFound FindInterpreter(const Interpreter** found);
// Returns why an interpreter cannot be read; null: it can, or there is none. Any thread.
const char* InterpreterRefusal();

}  // namespace gpuprof::tracer
