// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/bootstrap_arena.h"

#include <atomic>

namespace gpuprof::inject::bootstrap {

alignas(64) char arena[kArenaBytes];

namespace {
std::atomic<size_t> g_used{0};
}  // namespace

void* Allocate(size_t bytes, size_t alignment) noexcept {
  if (alignment < 16) alignment = 16;
  if (alignment > 4096 || bytes > kArenaBytes) return nullptr;
  size_t used = g_used.load(std::memory_order_relaxed);
  for (;;) {
    const uintptr_t address =
        (reinterpret_cast<uintptr_t>(arena) + used + alignment - 1) & ~(alignment - 1);
    const size_t end = address - reinterpret_cast<uintptr_t>(arena) + bytes;
    if (end > kArenaBytes) return nullptr;
    if (g_used.compare_exchange_weak(used, end, std::memory_order_relaxed))
      return reinterpret_cast<void*>(address);
  }
}

}  // namespace gpuprof::inject::bootstrap
