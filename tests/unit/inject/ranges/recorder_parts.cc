// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the tables of ranges call of the recorder, for tests that have the tables alone. No limit of
// the program is followed here, and rings do not grow.

#include <sys/mman.h>

#include "inject/own_room.h"
#include "inject/recorder.h"

namespace gpuprof::inject {

void* MapPages(size_t bytes, int flags) noexcept {
  void* pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void UnmapPages(void* pages, size_t bytes) noexcept { munmap(pages, bytes); }

void WakeDrain::operator()() const noexcept {}
bool WakeDrain::Grow(proto::RingHeader*) const noexcept { return false; }
bool WakeDrain::AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }

}  // namespace gpuprof::inject
