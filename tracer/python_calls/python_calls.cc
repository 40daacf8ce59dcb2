// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/python_calls.h"

#include <atomic>
#include <climits>

#include "tracer/base/futex.h"
#include "tracer/python/interpreter.h"
#include "tracer/python_agent/python_api.h"
#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/code_table.h"
#include "tracer/python_calls/gc_pauses.h"
#include "tracer/python_calls/monitoring.h"
#include "tracer/python_calls/profile_function.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kLook = 100 * kMillisecond;  // for threads that came since
constexpr uint64_t kExitLimit = 10 * kSecond;
// How soon a wait that keeps the program from something ends.
constexpr uint64_t kGlance = kMillisecond;
constexpr uint32_t kFirstMonitored = 0x030c;

// What is in CPython. Changes under its lock.
enum Part : uint32_t { kMonitoring = 1, kProfile = 2, kGc = 4 };

struct State {
  const Host* host = nullptr;
  const Python* python = nullptr;
  std::atomic<bool> watches_exit{false};
  std::atomic<uint32_t> is_inside{0};  // a futex: the agent's thread is in CPython, or about to be
  std::atomic<uint32_t> parts{0};
  std::atomic<uint32_t> is_settled{0};  // a futex: of this capture, all is done or refused
  std::atomic<bool> is_over{false};     // Python has come to its end
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

// Python's exit handler, on its main thread. The agent's thread must be outside of Python from here
// on: to enter it later than this is not safe.
PyObject* AtExit(PyObject*, PyObject* const*, ptrdiff_t) {
  const Python& python = *g.python;
  g.is_over.store(true);
  if (g.parts.load() != 0) LookForInterpreters(python);
  Remove(python);
  Settle();
  if (g.is_inside.load() != 0) {
    void* const thread = python.save_thread();
    const uint64_t until = Monotonic() + kExitLimit;
    while (g.is_inside.load() != 0 && Monotonic() < until)
      FutexWait(&g.is_inside, 1, 10 * kMillisecond);
    python.restore_thread(thread);
    Remove(python);
  }
  return python.Kept(python.none);
}
PyMethod g_exit = {"gpuprof_exit", reinterpret_cast<void*>(AtExit), kPyFast, nullptr};

// Registers the handler, once. It stays: the next capture may begin at any moment. False: Python
// does not tell its end, which may come while something of ours is in it.
bool WatchExit(const Python& python) {
  if (g.watches_exit.exchange(true)) return true;
  g.python = &python;
  PyObject* const module = python.import("atexit");
  PyObject* const function =
      module != nullptr ? python.new_function(&g_exit, nullptr, nullptr) : nullptr;
  const bool is_done = function != nullptr && python.Does(module, "register", function);
  python.Drop(module);
  python.clear_error();
  if (!is_done) g.watches_exit.store(false);
  return is_done;
}

// Enters Python for a moment, if it has not come to its end. The thread may be ended in the
// constructor where Python could not tell us of its end.
class Inside {
 public:
  explicit Inside(const Python& python) : python_(python) {
    g.is_inside.store(1);
    is_in_ = !g.is_over.load() && !python.IsFinalizing() && python.is_initialized() != 0;
    if (is_in_) state_ = python.ensure();
  }
  ~Inside() {
    if (is_in_) python_.release(state_);
    g.is_inside.store(0);
    FutexWake(&g.is_inside);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool is_in() const { return is_in_ && !g.is_over.load(); }

 private:
  const Python& python_;
  int state_ = 0;
  bool is_in_ = false;
};

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
  if (!WatchExit(python)) {
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
  if (g.is_over.load()) Settle();
}

void CallsEndCapture() {
  if (g.host != nullptr) CallRecorderEnd();
}

bool CallsAreDue(bool is_capturing) {
  if (g.host == nullptr || g.is_over.load()) return false;
  const uint32_t parts = g.parts.load();
  if (!is_capturing) return parts != 0;
  return g.is_settled.load() == 0 || (parts & kProfile) != 0;
}

uint64_t CallsRound(const Python& python, const Interpreter& interpreter,
                    const std::atomic<uint32_t>& capture) {
  if (!CallsAreDue(capture.load() != 0)) return 0;
  const Inside inside(python);
  if (!inside.is_in()) {
    g.is_over.store(true);
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
  if (capture.load() == 0 || g.is_over.load()) {
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
  WatchExit(*python);
  python->release(state);
}

void CallsThreadBegins() {
  if ((g.parts.load(std::memory_order_relaxed) & kProfile) != 0) ProfileThreadBegins();
}

void CallsAfterForkChild() {
  if (g.host == nullptr) return;
  CallRecorderAfterFork();
  ProfileAfterFork();
  g.is_inside.store(0);
  g.note.store("");
}

const char* CallsNote() { return g.note.load(); }

}  // namespace gpuprof::tracer
