// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// malloc and its relatives, which replace those of the C library (heap.h). The memory grows in
// large steps: each time, the page makes a new object for all of it, and a browser that sees many
// such objects collects garbage again and again. Pages that nobody touched yet cost nothing.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "analysis/wasm/platform/heap.h"

namespace {

using gpuprof::analysis::Heap;

constexpr uint64_t kPage = uint64_t{64} << 10;
constexpr size_t kLeastPages = 64;

Heap::Area More(size_t bytes) {
  constexpr size_t kRefused = ~size_t{0};
  const size_t before = __builtin_wasm_memory_size(0);
  const auto needed = static_cast<size_t>((bytes + kPage - 1) / kPage);
  size_t pages = std::max({needed, kLeastPages, before / 8});
  if (__builtin_wasm_memory_grow(0, pages) == kRefused) {
    pages = needed;
    if (__builtin_wasm_memory_grow(0, pages) == kRefused) return {};
  }
  return {reinterpret_cast<void*>(before * kPage), static_cast<size_t>(pages * kPage)};
}

constinit Heap heap(More);

void* OrNoMemory(void* room) {
  if (room == nullptr) errno = ENOMEM;
  return room;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return OrNoMemory(heap.Take(bytes)); }
void free(void* room) { heap.GiveBack(room); }
void* realloc(void* room, size_t bytes) { return OrNoMemory(heap.Resize(room, bytes)); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return OrNoMemory(heap.Take(bytes, alignment));
}
void* memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

void* calloc(size_t count, size_t each) {
  size_t bytes = 0;
  void* const room = __builtin_mul_overflow(count, each, &bytes) ? nullptr : heap.Take(bytes);
  if (room != nullptr) std::memset(room, 0, bytes);
  return OrNoMemory(room);
}

int posix_memalign(void** to, size_t alignment, size_t bytes) {
  void* const room = heap.Take(bytes, alignment);
  if (room == nullptr) return ENOMEM;
  *to = room;
  return 0;
}

}  // extern "C"
