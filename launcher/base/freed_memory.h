// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the verbs that make many large tables treat memory. One thread, before the first table.

#pragma once

#include <malloc.h>

namespace gpuprof::launcher {

// Lets memory that was freed be used again, instead of asking the kernel for it page by page. The
// command takes up to a third more memory at its peak, and a quarter less processor time. All
// threads share one arena, so that all do so.
inline void KeepFreedMemory() {
  constexpr int kLarge = 1 << 30, kStep = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_ARENA_MAX, 1);
}

}  // namespace gpuprof::launcher
