// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See windows.h.

#include "tracer/jax/windows.h"

#include <sys/mman.h>

#include "proto/ring.h"
#include "tracer/base/map_table.h"

namespace gpuprof::tracer::jax {

Window* Windows::Make(uint64_t bytes) noexcept {
  constexpr uint64_t kPage = proto::kPageBytes;
  if (bytes > kMostBytes) return nullptr;
  const uint64_t mapped = (sizeof(Window) + bytes + kPage - 1) / kPage * kPage;
  NoteMapped(static_cast<int64_t>(mapped));
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    NoteMapped(-static_cast<int64_t>(mapped));
    return nullptr;
  }
  auto* window = static_cast<Window*>(pages);
  window->mapped = mapped;
  window->bytes = bytes;
  return window;
}

bool Windows::HandOver(Window* window) noexcept {
  const uint32_t head = head_.load(std::memory_order_relaxed);
  std::atomic<Window*>& slot = slots_[head % kMost];
  if (slot.load(std::memory_order_acquire) != nullptr) {
    Release(window);
    return false;
  }
  head_.store(head + 1, std::memory_order_relaxed);
  slot.store(window, std::memory_order_release);
  return true;
}

Window* Windows::Take() noexcept {
  std::atomic<Window*>& slot = slots_[tail_ % kMost];
  Window* const window = slot.load(std::memory_order_acquire);
  if (window == nullptr) return nullptr;
  ++tail_;
  slot.store(nullptr, std::memory_order_release);
  return window;
}

void Windows::Release(Window* window) noexcept {
  const uint64_t mapped = window->mapped;
  munmap(window, mapped);
  NoteMapped(-static_cast<int64_t>(mapped));
}

void Windows::AfterForkChild() noexcept {
  while (Window* const window = Take()) Release(window);
}

}  // namespace gpuprof::tracer::jax
