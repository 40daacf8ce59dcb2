// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See python_agent.h.

#include "tracer/python_agent/python_agent.h"

#include <pthread.h>
#include <string.h>

#include <atomic>
#include <climits>

#include "tracer/base/futex.h"
#include "tracer/base/tool_thread.h"
#include "tracer/inductor/line_maps.h"
#include "tracer/jax/recorder.h"
#include "tracer/jax/sessions.h"
#include "tracer/python/interpreter.h"
#include "tracer/python_agent/python_api.h"
#include "tracer/python_agent/python_exit.h"
#include "tracer/python_agent/torch_groups.h"
#include "tracer/python_calls/python_calls.h"

namespace gpuprof::tracer {
namespace {

// Python code of the program may run on the thread: finalizers, at a collection of garbage. What is
// not touched takes addresses alone.
constexpr size_t kStackBytes = 1024 * 1024;
constexpr uint64_t kEndLimit = 2 * kSecond;
constexpr uint64_t kShortEndLimit = 100 * kMillisecond;

struct Agent {
  const Host* host = nullptr;
  const Python* python = nullptr;
  const Interpreter* interpreter = nullptr;
  bool is_asked = false;
  bool is_done = false;                   // of this capture: JAX needs no thread any more
  bool has_jax = false;                   // the thread looks after JAX
  std::atomic<bool> has_compiler{false};  // the program has loaded PyTorch's compiler
  std::atomic<bool> has_groups{false};    // the program has called a collective of PyTorch
  bool has_key = false;
  pthread_key_t key = 0;
  std::atomic<uint32_t> capture{0};
  std::atomic<uint32_t> runs{0};     // a futex: 1: there is a thread
  std::atomic<uint32_t> changes{0};  // a futex: the thread sleeps on it
  std::atomic<uint64_t> cpu_ns{0};
  std::atomic<const char*> note{""};
};
constinit Agent agent;

void Wake() {
  agent.changes.fetch_add(1);
  FutexWake(&agent.changes);
}

void AwaitEnd(uint64_t limit) {
  for (const uint64_t until = Monotonic() + limit; agent.runs.load() != 0 && Monotonic() < until;)
    FutexWait(&agent.runs, 1, 10 * kMillisecond);
}

// The same on the control thread, where others may be waiting for the end of the capture. The
// thread goes on without it: it comes out of CPython by itself.
void AwaitEndUnlessAwaited(uint64_t limit) {
  for (const uint64_t until = Monotonic() + limit;
       agent.runs.load() != 0 && !agent.host->must_hasten() && Monotonic() < until;)
    FutexWait(&agent.runs, 1, kMillisecond);
}

void HasEnded(void*) {
  agent.runs.store(0);
  FutexWake(&agent.runs, INT_MAX);
}

// A user asked for it, or a time has come: no thread of the program waits for the capture.
bool IsAsked(const char* trigger) {
  for (const char* asked : {"signal", "control", "attach", "detach", "parent", "delay", "memory"})
    if (strcmp(trigger, asked) == 0) return true;
  return false;
}

uint64_t JaxRound() {
  // To enter it later is not safe.
  if (agent.has_jax && agent.python->IsFinalizing()) agent.has_jax = false;
  if (!agent.has_jax) return 0;
  const uint64_t pause =
      jax::Round(*agent.host, *agent.python, agent.capture.load(), agent.is_asked);
  agent.has_jax = pause != 0;
  return pause;
}

// At the end of a capture it is due, too.
void CompilerRound() {
  if (agent.has_compiler.load() && inductor::IsDue()) inductor::Look(*agent.python);
}

void GroupsRound() {
  if (agent.has_groups.load() && GroupsAreDue()) LookForGroups(*agent.python);
}

void* Main(void*) {
  agent.host->adopt_program_thread("gpuprof-python");
  pthread_setspecific(agent.key, &agent);
  const uint64_t cpu_before = agent.cpu_ns.load();
  for (;;) {
    const uint32_t changes = agent.changes.load();
    const uint64_t calls = agent.interpreter != nullptr
                               ? CallsRound(*agent.python, *agent.interpreter, agent.capture)
                               : 0;
    const uint64_t marks = JaxRound();
    CompilerRound();
    GroupsRound();
    agent.cpu_ns.store(cpu_before + proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID));
    const uint64_t pause = calls == 0 || (marks != 0 && marks < calls) ? marks : calls;
    if (pause == 0 && agent.interpreter != nullptr && CallsAreDue(agent.capture.load() != 0))
      continue;  // the capture has ended, or another one has begun
    if (pause == 0) break;
    FutexWait(&agent.changes, changes, pause);
  }
  return nullptr;  // HasEnded is called by the key
}

bool StartThread() {
  static ToolThread thread = {Main, kStackBytes};
  if (!agent.has_key) agent.has_key = pthread_key_create(&agent.key, HasEnded) == 0;
  if (!agent.has_key) return false;
  agent.runs.store(1);
  const bool has_begun = StartToolThread(*agent.host, &thread, nullptr) == 0;
  if (!has_begun) agent.runs.store(0);
  return has_begun;
}

// Returns whether CPython can be entered for JAX's profiler, once a capture.
bool JaxIsDue(const Host& host) {
  const bool is_wanted = (host.settings->sources & proto::kSourceOps) != 0;
  if (!is_wanted || agent.is_done || !jax::IsLoaded()) return false;
  agent.python = FindPython();
  if (agent.python != nullptr) return agent.python->is_initialized() != 0;
  agent.is_done = true;
  agent.note.store("not recorded: no interpreter of CPython was found for JAX's profiler");
  return false;
}

bool PythonIsReady() {
  if (PythonIsOver()) return false;
  agent.python = FindPython();
  return agent.python != nullptr && agent.python->is_initialized() != 0;
}

// Returns whether PyTorch's compiler must be asked what it has generated.
bool CompilerIsDue(const Host& host) {
  return (host.settings->sources & proto::kSourceOps) != 0 && inductor::IsLoaded() &&
         inductor::IsDue() && PythonIsReady();
}

// Returns whether PyTorch must be asked for its process groups.
bool GroupsMustBeAsked(const Host& host) {
  return (host.settings->sources & proto::kSourceOps) != 0 && GroupsAreDue() &&
         CollectivesAreUsed() && PythonIsReady();
}

// Returns whether CPython can be entered for what --python asks for, and must be.
bool CallsAreReady(const Host& host) {
  if (!CallsWanted(host) || !CallsAreDue(/*is_capturing=*/true)) return false;
  const Interpreter* interpreter = nullptr;
  const PythonFound found = FindInterpreter(&interpreter);
  if (found == PythonFound::kUnknown)
    CallsRefuse("calls are not recorded: gpuprof does not know this interpreter of Python");
  if (found != PythonFound::kReady) return false;
  agent.python = FindPython();
  if (agent.python == nullptr) {
    CallsRefuse("calls are not recorded: the interpreter hides functions that gpuprof needs");
    return false;
  }
  agent.interpreter = interpreter;
  return agent.python->is_initialized() != 0;
}

}  // namespace

void AgentBeginCapture(const Host* host, uint32_t number, const char* trigger) {
  agent.host = host;
  agent.is_asked = IsAsked(trigger);
  agent.is_done = false;
  CallsBeginCapture(host, number);
  inductor::BeginCapture();
  GroupsBeginCapture();
  agent.capture.store(number);
}

void AgentTick(const Host* host) {
  if (agent.capture.load() == 0) return;
  const bool has_compiler = CompilerIsDue(*host);
  if (has_compiler) agent.has_compiler.store(true);
  const bool has_groups = GroupsMustBeAsked(*host);
  if (has_groups) agent.has_groups.store(true);
  if (agent.runs.load() != 0) {
    if (has_compiler || has_groups) Wake();
    return;
  }
  const bool has_jax = JaxIsDue(*host);
  const bool has_calls = CallsAreReady(*host);
  if (!has_jax && !has_calls && !has_compiler && !has_groups) return;
  agent.is_done = agent.is_done || has_jax;
  agent.has_jax = has_jax;
  if (has_jax) jax::SetAgentThread({Wake, AwaitEnd, host->settings->clock});
  if (StartThread()) return;
  if (has_jax) agent.note.store("not recorded: no thread could be made to ask JAX");
  if (has_calls) CallsRefuse("calls are not recorded: no thread could be made to ask Python");
}

void AgentAwaitCalls() {
  if (agent.is_asked && agent.interpreter != nullptr) AwaitSettledCalls(kEndLimit);
}

void AgentEndCapture(StopReason reason, const char* trigger) {
  const bool waits = reason == StopReason::kRequest && IsAsked(trigger);
  agent.capture.store(0);
  CallsEndCapture();
  inductor::EndCapture();
  GroupsEndCapture();
  // Where Python has run its exit handlers, the thread has nothing to do there.
  const uint64_t limit = waits ? kEndLimit : kShortEndLimit;
  if (agent.runs.load() != 0) {
    Wake();
    reason == StopReason::kRequest ? AwaitEndUnlessAwaited(limit) : AwaitEnd(limit);
  }
  // What is in CPython is taken out of it where the process goes on.
  const bool is_due = CallsAreDue(/*is_capturing=*/false) ||
                      (agent.has_compiler.load() && inductor::IsDue()) ||
                      (agent.has_groups.load() && GroupsAreDue());
  if (reason == StopReason::kRequest && is_due && !PythonIsOver() && agent.runs.load() == 0 &&
      agent.python != nullptr && agent.python->is_initialized() != 0 && StartThread())
    AwaitEndUnlessAwaited(limit);
  if (agent.runs.load() != 0 && waits && agent.has_jax)
    agent.note.store("a part is not recorded: the program did not let another thread run Python");
}

void AgentAfterForkChild() {
  jax::RecorderAfterForkChild();
  CallsAfterForkChild();
  inductor::LineMapsAfterForkChild();
  GroupsAfterForkChild();
  agent.has_groups.store(false);
  PythonExitAfterFork();
  agent.runs.store(0);
  agent.capture.store(0);
  agent.cpu_ns.store(0);
  agent.note.store("");
}

uint64_t AgentCpuNs() { return agent.cpu_ns.load(); }

const char* AgentNote() {
  const char* note = jax::SessionNote();
  return *note != 0 ? note : agent.note.load();
}

}  // namespace gpuprof::tracer
