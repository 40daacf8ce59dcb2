// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the threads of the inject object.

#pragma once

#include <cstddef>

namespace gpuprof::inject {

// Values of ThreadState::tool. kProgramsThread: a thread of the program, while gpuprof's code runs
// on it. The other values: a thread of gpuprof.
inline constexpr unsigned char kProgramsThread = 1;
inline constexpr unsigned char kToolThread = 2;
inline constexpr unsigned char kToolThreadWithoutFiles = 3;  // LeaveProgramsFiles()

// Starts a thread: detached, unrecorded, with every signal of the program blocked from birth.
// Returns 0, or why no thread could be made: the error of pthread_create, but ENOMEM if there is no
// memory for the stack. Any thread of the program or of gpuprof.
int StartToolThread(void* (*main)(void*), void* argument, size_t stack_bytes) noexcept;

// Marks the calling thread as gpuprof's and names it. The first call on a new thread.
void EnterToolThread(const char* name) noexcept;

}  // namespace gpuprof::inject
