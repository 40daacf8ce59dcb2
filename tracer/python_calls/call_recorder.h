// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What happens where a call of a Python function begins and ends: the thread's stack of open calls,
// and its records. The outer calls are in the ring's header too, where they outlive a SIGKILL.
//
// Begin and end run inside the interpreter, on any thread of the program that has CPython's lock:
// no lock of ours, no allocation, errno untouched. An end is matched to a begin by its code object,
// the newest first.

#pragma once

#include <cstdint>

#include "proto/name_table.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Control thread, before the first call. False: there is no memory.
bool CallRecorderInit(const Host* host);
// Control thread: another capture begins in this process. Forgets what the last one showed as open.
void CallRecorderBeginNext();
// Control thread: the capture has ended. Its open calls are in none of the next ones.
void CallRecorderEnd();
// In a forked child.
void CallRecorderAfterFork();

void CallBegins(const void* code, proto::NameTable::Text* text);
void CallEnds(const void* code);

// CPython no longer tells what the calling thread calls, from `since` on (ticks): its open calls
// end there, incomplete. On a thread that has CPython's lock.
void CallsAreHidden(uint64_t since);
// The same of another thread, from now on, on any thread that has CPython's lock. `thread`: what
// `own` returns there. The rows are written when the thread is next told of, or at the capture's
// end.
void CallsOfThreadAreHidden(const void* thread);
// Before the first call. `own`: returns CPython's state of the calling thread.
void CallRecorderKnowThreads(const void* (*own)());

// A pause of the garbage collector has ended, on this thread. `start`: ticks.
void GcPauseEnds(uint64_t start, uint32_t generation, uint64_t collected, uint64_t uncollectable);
uint64_t CallTicks();

struct CallCounters {
  uint64_t too_deep;  // calls that were not recorded: too many were open
  uint64_t unbegun;   // ends of calls that had begun before the capture
};
// Any thread.
CallCounters ReadCallCounters();

}  // namespace gpuprof::tracer
