// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What other parts of the inject object want of the hooks of locks.

#pragma once

#include "inject/elf_symbol.h"

namespace gpuprof::inject {

// The calling thread ends: a wait that it left by cancellation, or by ending itself in a signal
// handler, becomes an incomplete one. In the first round of key destructors, before any of them can
// wait anew.
void EndWaitOfEndedThread() noexcept;

// Learns where CPython keeps its global interpreter lock, whose waits are a kind of their own.
// While no other thread loads libraries.
void LookForGil() noexcept;

// Returns whether LookForGil() found a Python.
bool HasPython() noexcept;
// Returns where its _PyRuntime is.
DefinedData PythonRuntime() noexcept;

// Around the end of a recording with the process. CPython has come to its end before: its daemon
// threads still wait for the lock, and one that wakes reads what is freed already. Without a
// recording the process is gone by then. So a thread that returns from a wait for the lock stays in
// the hook meanwhile. The exit handler's thread.
void HoldPythonAtEnd() noexcept;
void ReleasePython() noexcept;
// The same for a thread that begins. On the new thread.
void StayIfPythonIsHeld() noexcept;

}  // namespace gpuprof::inject
