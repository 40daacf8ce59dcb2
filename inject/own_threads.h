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

// Returns whether the number is that of a thread of gpuprof, or was.
bool IsOwnThread(int tid) noexcept;

}  // namespace gpuprof::inject
