// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sessions of JAX's own profiler, which exports nothing but these: a session that was begun has
// recorded all marks of all threads when it is stopped. One session is possible in a process. So
// the program's own one goes first: a class of ours stands in the place of ProfilerSession, ends
// our session before the program's begins, and is else the same class.
//
// All of this is done by CPython's C interface: there is no Python code of ours, and no frame in a
// traceback. Functions need CPython's global interpreter lock, on the agent's thread or on threads
// of the program, unless they say otherwise.

#pragma once

#include <cstdint>

#include "tracer/jax/windows.h"
#include "tracer/python_agent/python_api.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::jax {

enum class Ready : uint32_t { kLater, kYes, kNever };

// Takes the place of the profiler's class, once JAX is there. kLater: it is not, or not wholly.
Ready Prepare(const Python& python);

// Has our handler at Python's exit come before JAX's own, once JAX is imported as a whole. Until
// then what was compiled is lost at the exit.
void ComeBeforeJaxAtExit(const Python& python);
bool IsBeforeJaxAtExit();

// What begins a session, and how it went.
enum class Begun : uint32_t { kYes, kBusy, kNotNow, kNever };
// Begins a session of the capture. kBusy: another one is under way. kNotNow: the program's own one
// is, or the lock of sessions was not had.
Begun Begin(const Python& python, uint32_t capture, bool has_cuda);

// Returns whether JAX has begun to compute, as far as that can be seen.
bool HasBackends(const Python& python);

// What ending a session gave.
struct Ended {
  bool was_open = false;
  uint64_t bytes = 0;
};
// Ends the session, if there is one, and hands over what it recorded. Then also the programs that
// were compiled, if there are new ones.
Ended End(const Python& python);

// Any thread, without the lock.
bool IsOpen();
// The program has begun a server of JAX's profiler: its captures need the session.
bool HasServer();
// Python's exit handlers run, or have run: Python must not be entered any more.
bool IsOver();
// The drain found that the session had taken CUPTI.
void NoteDeviceTracer();
// Windows that wait for the drain.
Windows& WaitingWindows();
// Words for the trace's health; "": there is nothing to say. Static storage.
const char* SessionNote();
// "JAX 0.10.2"; null: no session of it was begun. Static storage.
const char* Framework();
// How often the program's own session went first.
uint64_t TimesYielded();

// In a forked child, on its only thread, without the lock.
void ForgetSessions();
// What the agent's thread is for the sessions.
struct AgentThread {
  void (*wake)();
  // Waits until the thread has ended, for so many ns at most.
  void (*await_end)(uint64_t limit);
  proto::ClockKind clock;  // of windows
};
// Before anything else.
void SetAgentThread(const AgentThread& thread);

}  // namespace gpuprof::tracer::jax
