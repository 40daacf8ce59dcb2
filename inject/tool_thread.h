// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the threads of the inject object.

#pragma once

#include <cstddef>

namespace gpuprof::inject {

// ThreadState::tool of a thread of ours; kProgramsThread: of the program's, while our code runs on
// it.
inline constexpr unsigned char kProgramsThread = 1;
inline constexpr unsigned char kToolThread = 2;
inline constexpr unsigned char kToolThreadWithoutFiles = 3;  // LeaveProgramsFiles()

// Detached, unrecorded, with every signal of the program's blocked from birth. False: no thread
// could be had. Any thread of the program or of ours.
bool StartToolThread(void* (*main)(void*), void* argument, size_t stack_bytes) noexcept;

// First on the new thread: it is one of ours, and gets its name.
void EnterToolThread(const char* name) noexcept;

}  // namespace gpuprof::inject
