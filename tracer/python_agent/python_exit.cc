// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_agent/python_exit.h"

#include <atomic>
#include <climits>

#include "tracer/base/futex.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kExitLimit = 10 * kSecond;
constexpr size_t kMostFunctions = 4;

struct State {
  const Python* python = nullptr;
  std::atomic<bool> has_handler{false};
  std::atomic<ExitFunction> functions[kMostFunctions] = {};
  std::atomic<uint32_t> is_inside{0};  // a futex: a thread of ours is in CPython, or about to be
  std::atomic<bool> is_over{false};    // Python has come to its end
};
constinit State g;

void CallFunctions(const Python& python) {
  for (const auto& function : g.functions)
    if (const ExitFunction call = function.load()) call(python);
}

// Python's exit handler, on its main thread. The agent's thread must be outside of Python from here
// on.
PyObject* AtExit(PyObject*, PyObject* const*, ptrdiff_t) {
  const Python& python = *g.python;
  g.is_over.store(true);
  CallFunctions(python);
  if (g.is_inside.load() != 0) {
    void* const thread = python.save_thread();
    const uint64_t until = Monotonic() + kExitLimit;
    while (g.is_inside.load() != 0 && Monotonic() < until)
      FutexWait(&g.is_inside, 1, 10 * kMillisecond);
    python.restore_thread(thread);
    CallFunctions(python);
  }
  return python.Kept(python.none);
}
PyMethod g_exit = {"gpuprof_exit", reinterpret_cast<void*>(AtExit), kPyFast, nullptr};

// Returns whether Python's main thread has ended: handlers may be running already, and a new one is
// not called then.
bool MainThreadHasEnded(const Python& python) {
  PyObject* const modules = python.modules();
  PyObject* const threading = modules != nullptr ? python.item(modules, "threading") : nullptr;
  PyObject* const main =
      threading != nullptr ? python.attribute(threading, "_main_thread") : nullptr;
  PyObject* const lives = main != nullptr ? python.CallMethod(main, "is_alive") : nullptr;
  const bool has_ended = lives != nullptr && python.as_long(lives) == 0;
  python.Drop(lives);
  python.Drop(main);
  python.clear_error();
  return has_ended;
}

bool Register(const Python& python) {
  if (MainThreadHasEnded(python)) return false;
  g.python = &python;
  PyObject* const module = python.import("atexit");
  PyObject* const function =
      module != nullptr ? python.new_function(&g_exit, nullptr, nullptr) : nullptr;
  const bool is_done = function != nullptr && python.Does(module, "register", function);
  python.Drop(module);
  python.clear_error();
  return is_done;
}

}  // namespace

bool WatchExit(const Python& python, ExitFunction function) {
  if (!g.has_handler.exchange(true)) g.has_handler.store(Register(python));
  if (!g.has_handler.load()) return false;
  for (auto& place : g.functions) {
    ExitFunction expected = nullptr;
    if (place.load() == function || place.compare_exchange_strong(expected, function)) return true;
  }
  return false;
}

bool PythonIsOver() { return g.is_over.load(); }

InsidePython::InsidePython(const Python& python) : python_(python) {
  g.is_inside.store(1);
  is_in_ = !g.is_over.load() && !python.IsFinalizing() && python.is_initialized() != 0;
  if (!is_in_) g.is_over.store(true);
  if (is_in_) state_ = python.ensure();
}

InsidePython::~InsidePython() {
  if (is_in_) python_.release(state_);
  g.is_inside.store(0);
  FutexWake(&g.is_inside);
}

void PythonExitAfterFork() { g.is_inside.store(0); }

}  // namespace gpuprof::tracer
