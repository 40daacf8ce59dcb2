// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of Python functions and pauses of the garbage collector, if --python asks for them: what
// CPython is told at the begin of a capture, and that it is as before at the end. The agent's
// thread enters CPython for it (tracer/python_agent/).

#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

struct Interpreter;
struct Python;

// Returns whether the settings ask for it. Any thread.
bool CallsWanted(const Host& host);
// A capture begins, or has ended. Control thread.
void CallsBeginCapture(const Host* host, uint32_t number);
void CallsEndCapture();
// Returns whether a thread must enter CPython now: to begin, to look for threads, or to end.
// Control thread.
bool CallsAreDue(bool is_capturing);
// Does what is due, without the interpreter's lock. Returns how long to wait until the next call,
// in ns; 0: there is nothing to do. The agent's thread, in captures and at their end.
// `capture`: the number of the capture; 0: it has ended. It may end meanwhile.
uint64_t CallsRound(const Python& python, const Interpreter& interpreter,
                    const std::atomic<uint32_t>& capture);

// CPython cannot be entered, for this reason. Static storage. Control thread.
void CallsRefuse(const char* why);
// Waits until calls are recorded, or never will be, not longer than `limit` ns. On a thread of the
// program that has given CPython's lock away.
void AwaitCalls(uint64_t limit);
// The same on the control thread, which keeps others from beginning and ending captures: it gives
// up as soon as somebody waits for that (Host::must_hasten).
void AwaitSettledCalls(uint64_t limit);
// Has Python tell its end, before anything else enters it. On a thread of the program that has
// given CPython's lock away.
void WatchPythonExit();
// A thread of the program is about to begin another one.
void CallsThreadBegins();

// In a forked child. CPython's state, and ours in it, is that of the parent.
void CallsAfterForkChild();

// Words for the trace's health; "": there is nothing to say. Any thread.
const char* CallsNote();

}  // namespace gpuprof::tracer
