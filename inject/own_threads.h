// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The numbers of gpuprof's threads in this process. A program that counts its threads must not
// count these (inject/hooks/thread_counts.cc). Any thread; no lock, no heap.

#pragma once

#include <cstdint>

#include "inject/state.h"

namespace gpuprof::inject {

// Notes the calling thread as gpuprof's. Once, when it begins.
void NoteOwnThread() noexcept;

// Returns whether there may be threads of gpuprof. One load: for hooks.
inline bool MayHaveOwnThreads() noexcept {
  return __builtin_expect(g_process.may_have_threads.load(std::memory_order_relaxed) != 0, 0);
}

// Returns how many threads of gpuprof live in this process.
uint32_t CountOwnThreads() noexcept;

// Waits until all threads of gpuprof that have begun are noted, at most for a second. A thread is
// in the kernel's lists before it can note itself, and a busy machine lets it wait. A thread of the
// program; one of gpuprof does not wait.
void AwaitNotedThreads() noexcept;

// Returns how many threads of the program live in this process, at one moment; 0: not known. A
// thread of the program.
uint32_t CountProgramThreads() noexcept;

// Returns whether the number is that of a thread of gpuprof, or was.
bool IsOwnThread(int tid) noexcept;

}  // namespace gpuprof::inject
