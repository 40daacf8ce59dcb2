// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the hook of syscall() needs of inject/hooks/blocking.cc.

#pragma once

namespace gpuprof::inject {

// Returns whether a call of syscall() waits on a futex and is to be recorded. `operation` is its
// third argument.
bool IsFutexWait(long number, long operation) noexcept;

// Makes the call and records it if it lasts. On a thread of the program; `frame` is the hook's.
long WaitOnFutex(const void* caller, const void* frame, long a, long b, long c, long d, long e,
                 long f) noexcept;

}  // namespace gpuprof::inject
