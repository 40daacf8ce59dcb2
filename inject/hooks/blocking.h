// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the hooks of syscall() and read() need of inject/hooks/blocking.cc.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Returns whether a call of syscall() waits on a futex and is to be recorded. `operation` is its
// third argument.
bool IsFutexWait(long number, long operation) noexcept;

// Makes the call and records it if it lasts. On a thread of the program; `frame` is the hook's.
long WaitOnFutex(const void* caller, const void* frame, long a, long b, long c, long d, long e,
                 long f) noexcept;

// Records a read that has returned, if it lasted. `start` and `capture` are of when it began.
void EndInputWait(int descriptor, uint64_t start, uint32_t capture, const void* caller,
                  const void* frame) noexcept;

}  // namespace gpuprof::inject
