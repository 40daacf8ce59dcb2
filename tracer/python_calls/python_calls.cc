// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/python_calls.h"

#include <atomic>
#include <climits>

#include "tracer/base/futex.h"
#include "tracer/python/interpreter.h"
#include "tracer/python_agent/python_api.h"
#include "tracer/python_agent/python_exit.h"
#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/code_table.h"
#include "tracer/python_calls/gc_pauses.h"
#include "tracer/python_calls/monitoring.h"
#include "tracer/python_calls/profile_function.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kLook = 100 * kMillisecond;  // for threads that came since
// How soon a wait that keeps the program from something ends.
constexpr uint64_t kGlance = kMillisecond;
constexpr uint32_t kFirstMonitored = 0x030c;

// What is in CPython. Changes under its lock.
enum Part : uint32_t { kMonitoring = 1, kProfile = 2, kGc = 4 };

struct State {
  const Host* host = nullptr;
  std::atomic<uint32_t> parts{0};
  std::atomic<uint32_t> is_settled{0};  // a futex: of this capture, all is done or refused
  std::atomic<const char*> note{""};
};
constinit State g;

bool Wants(const Host& host, uint32_t source) { return (host.settings->sources & source) != 0; }

void Settle() {
  g.is_settled.store(1);
  FutexWake(&g.is_settled, INT_MAX);
}

void Remove(const Python& python) {
  const uint32_t parts = g.parts.load();
  if ((parts & kMonitoring) != 0) MonitoringEnd(python);
  if ((parts & kProfile) != 0) ProfileEnd();
  if ((parts & kGc) != 0) GcPausesEnd(python);
  g.parts.store(0);
}

// Says that other interpreters of the process are not looked at.
void LookForInterpreters(const Python& python) {
  if (python.first_interpreter == nullptr || python.next_interpreter == nullptr) return;
  PyInterpreter* const first = python.first_interpreter();
  if (first != nullptr && python.next_interpreter(first) != nullptr)
    g.note.store("functions and pauses of sub-interpreters are not recorded");
}

// At Python's exit, on its main thread.
void AtExit(const Python& python) {
  if (g.parts.load() != 0) LookForInterpreters(python);
  Remove(python);
  Settle();
}

const char* BeginCalls(const Python& python, const Interpreter& interpreter) {
  if (python.globals == nullptr ||
      !CodeTableInit(python, interpreter.layout, g.host->settings->python_globs))
    return "calls are not recorded: there is no memory";
  const bool is_monitored = interpreter.version >= kFirstMonitored;
  const char* const why =
      is_monitored ? MonitoringBegin(python) : ProfileBegin(python, interpreter);
  if (why == nullptr) g.parts.fetch_or(is_monitored ? kMonitoring : kProfile);
  return why;
}

void Begin(const Python& python, const Interpreter& interpreter) {
  const char* why = nullptr;
  if (!WatchExit(python, AtExit)) {
    g.note.store("calls and pauses are not recorded: the program keeps atexit from gpuprof");
    return;
  }
  if (Wants(*g.host, proto::kSourcePythonCalls)) why = BeginCalls(python, interpreter);
  if (why != nullptr) g.note.store(why);
  if (Wants(*g.host, proto::kSourcePythonGc)) {
    why = GcPausesBegin(python);
    if (why == nullptr) g.parts.fetch_or(kGc);
    if (why != nullptr) g.note.store(why);
  }
  LookForInterpreters(python);
}

}  // namespace

bool CallsWanted(const Host& host) {
  return Wants(host, proto::kSourcePythonCalls | proto::kSourcePythonGc);
}

void CallsBeginCapture(const Host* host, uint32_t number) {
  if (!CallsWanted(*host)) return;
  g.host = host;
  if (!CallRecorderInit(host)) return CallsRefuse("calls are not recorded: there is no memory");
  if (number > 1) CallRecorderBeginNext();
  // What an earlier capture left in CPython may be taken out of it at this moment.
  g.is_settled.store(0);
  if (PythonIsOver()) Settle();
}

void CallsEndCapture() {
  if (g.host != nullptr) CallRecorderEnd();
}

bool CallsAreDue(bool is_capturing) {
  if (g.host == nullptr || PythonIsOver()) return false;
  const uint32_t parts = g.parts.load();
  if (!is_capturing) return parts != 0;
  return g.is_settled.load() == 0 || (parts & kProfile) != 0;
}

uint64_t CallsRound(const Python& python, const Interpreter& interpreter,
                    const std::atomic<uint32_t>& capture) {
  if (!CallsAreDue(capture.load() != 0)) return 0;
  const InsidePython inside(python);
  if (!inside.is_in()) {
    Settle();
    return 0;
  }
  // It may have ended, and another one may have begun, while the thread waited for CPython.
  if (capture.load() != 0) {
    if (g.is_settled.load() != 0) {
      if (const char* const missing = ProfileLook()) g.note.store(missing);
    } else {
      if (g.parts.load() == 0) Begin(python, interpreter);
      Settle();
    }
  }
  if (capture.load() == 0 || PythonIsOver()) {
    LookForInterpreters(python);
    Remove(python);
    return 0;
  }
  return (g.parts.load() & kProfile) != 0 ? kLook : 0;
}

void CallsRefuse(const char* why) {
  g.note.store(why);
  Settle();
}

void AwaitCalls(uint64_t limit) {
  if (g.host == nullptr) return;
  for (const uint64_t until = Monotonic() + limit;
       g.is_settled.load() == 0 && g.host->hurry->load() == 0 && Monotonic() < until;)
    FutexWait(&g.is_settled, 0, 10 * kMillisecond);
}

void AwaitSettledCalls(uint64_t limit) {
  for (const uint64_t until = Monotonic() + limit;
       g.is_settled.load() == 0 && !g.host->must_hasten() && Monotonic() < until;)
    FutexWait(&g.is_settled, 0, kGlance);
}

void WatchPythonExit() {
  const Python* const python = FindPython();
  if (python == nullptr || python->is_initialized() == 0) return;
  const int state = python->ensure();
  WatchExit(*python, AtExit);
  python->release(state);
}

void CallsThreadBegins() {
  if ((g.parts.load(std::memory_order_relaxed) & kProfile) != 0) ProfileThreadBegins();
}

void CallsAfterForkChild() {
  if (g.host == nullptr) return;
  CallRecorderAfterFork();
  ProfileAfterFork();
  g.note.store("");
}

const char* CallsNote() { return g.note.load(); }

}  // namespace gpuprof::tracer
