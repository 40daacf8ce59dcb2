// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pages of the injected object's tables, for tests that have the tables alone. No limit of the
// program is followed here.

#include <sys/mman.h>

#include "inject/own_room.h"

namespace gpuprof::inject {

void* MapPages(size_t bytes, int flags) noexcept {
  void* pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void UnmapPages(void* pages, size_t bytes) noexcept { munmap(pages, bytes); }

}  // namespace gpuprof::inject
