// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/gc_pauses.h"

#include <string.h>

#include "tracer/python_calls/call_recorder.h"

namespace gpuprof::tracer {
namespace {

struct State {
  const Python* python = nullptr;
  PyObject* function = nullptr;
  uint64_t start = 0;  // of the pause; 0: none. Collections do not nest.
};
constinit State g;

uint64_t NumberIn(PyObject* info, const char* name) {
  PyObject* const value = g.python->item(info, name);
  const long number = value != nullptr ? g.python->as_long(value) : 0;
  return number > 0 ? static_cast<uint64_t>(number) : 0;
}

// Called with "start" or "stop", and a dict.
PyObject* OnPhase(PyObject*, PyObject* const* arguments, ptrdiff_t count) {
  const char* const phase = count == 2 ? g.python->text(arguments[0]) : nullptr;
  if (phase != nullptr && strcmp(phase, "start") == 0) {
    g.start = CallTicks();
  } else if (phase != nullptr && g.start != 0) {
    GcPauseEnds(g.start, static_cast<uint32_t>(NumberIn(arguments[1], "generation")),
                NumberIn(arguments[1], "collected"), NumberIn(arguments[1], "uncollectable"));
    g.start = 0;
  }
  g.python->clear_error();
  return g.python->Kept(g.python->none);
}

PyMethod g_method = {"gpuprof_gc", reinterpret_cast<void*>(OnPhase), kPyFast, nullptr};

}  // namespace

const char* GcPausesBegin(const Python& python) {
  constexpr const char* kWhy =
      "pauses of the garbage collector are not recorded: gc.callbacks "
      "took no function";
  g.python = &python;
  g.start = 0;
  PyObject* const callbacks = python.Member("gc", "callbacks");
  if (callbacks == nullptr) return kWhy;
  g.function = python.new_function(&g_method, nullptr, nullptr);
  const bool is_done =
      g.function != nullptr && python.Does(callbacks, "append", python.Kept(g.function));
  if (!is_done && g.function != nullptr) {
    python.decrement(g.function);
    g.function = nullptr;
  }
  python.decrement(callbacks);
  return is_done ? nullptr : kWhy;
}

void GcPausesEnd(const Python& python) {
  if (g.function == nullptr) return;
  PyObject* const callbacks = python.Member("gc", "callbacks");
  if (callbacks != nullptr) python.Does(callbacks, "remove", python.Kept(g.function));
  python.Drop(callbacks);
  python.decrement(g.function);
  g.function = nullptr;
}

}  // namespace gpuprof::tracer
