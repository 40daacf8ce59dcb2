// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/base/map_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace gpuprof::tracer {
namespace {

std::atomic<void (*)(int64_t)> g_note{nullptr};

}  // namespace

void SetMappedNote(void (*note)(int64_t bytes)) { g_note.store(note); }

void NoteMapped(int64_t bytes) {
  if (const auto note = g_note.load(std::memory_order_relaxed); note != nullptr) note(bytes);
}

// By system call: the program's mmap may be hooked, by us among others.
void* MapTable(size_t bytes) {
  NoteMapped(static_cast<int64_t>(bytes));
  const long at = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != -1) return reinterpret_cast<void*>(at);
  NoteMapped(-static_cast<int64_t>(bytes));
  return nullptr;
}

}  // namespace gpuprof::tracer
