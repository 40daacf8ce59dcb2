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
#include "tracer/jax/recorder.h"
#include "tracer/jax/sessions.h"
#include "tracer/python_agent/python_api.h"

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
  uint64_t loader_seen = 0;
  bool is_asked = false;
  bool is_done = false;  // of this capture: no thread is needed any more
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

void* Main(void*) {
  agent.host->adopt_program_thread("gpuprof-python");
  pthread_setspecific(agent.key, &agent);
  const uint64_t cpu_before = agent.cpu_ns.load();
  for (;;) {
    const uint32_t changes = agent.changes.load();
    const uint64_t pause =
        jax::Round(*agent.host, *agent.python, agent.capture.load(), agent.is_asked);
    agent.cpu_ns.store(cpu_before + proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID));
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

}  // namespace

void AgentBeginCapture(uint32_t number, const char* trigger) {
  agent.is_asked = IsAsked(trigger);
  agent.is_done = false;
  agent.capture.store(number);
}

void AgentTick(const Host* host) {
  if (agent.capture.load() == 0 || agent.is_done || agent.runs.load() != 0) return;
  if (!jax::IsLoaded()) return;
  agent.host = host;
  agent.python = FindPython();
  if (agent.python == nullptr) {
    agent.is_done = true;
    agent.note.store("not recorded: no interpreter of CPython was found for JAX's profiler");
    return;
  }
  if (agent.python->is_initialized() == 0) return;
  agent.is_done = true;
  jax::SetAgentThread({Wake, AwaitEnd, host->settings->clock});
  if (!StartThread()) agent.note.store("not recorded: no thread could be made to ask JAX");
}

void AgentEndCapture(StopReason reason, const char* trigger) {
  const bool waits = reason == StopReason::kRequest && IsAsked(trigger);
  agent.capture.store(0);
  if (agent.runs.load() == 0) return;
  Wake();
  // Where Python has run its exit handlers, the thread has nothing to do there.
  const uint64_t limit = waits ? kEndLimit : kShortEndLimit;
  AwaitEnd(limit);
  if (agent.runs.load() != 0 && waits)
    agent.note.store("a part is not recorded: the program did not let another thread run Python");
}

void AgentAfterForkChild() {
  jax::RecorderAfterForkChild();
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
