// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a thread was doing when a signal interrupted it. pthread_create() is not async-signal-safe:
// it waits for locks of the C library that the interrupted code may hold.

#pragma once

namespace gpuprof::inject {

// Notes where the C library, the loader and this object lie. Called once, in the constructor.
void LocateLibc() noexcept;

// Returns whether a signal handler may call pthread_create(), if its allocations do not go to the
// program's allocator. True in code of the program, and in a system call that waits. False
// elsewhere in the C library, in the loader and in this object. If another allocator stands before
// gpuprof's, only waiting system calls count: the allocator's code can be anywhere. `context` is
// the handler's third argument. Signal handlers.
bool MayCreateThread(const void* context) noexcept;

}  // namespace gpuprof::inject
