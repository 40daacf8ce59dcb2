// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/buffers.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof::tracer::cupti {
namespace {

// By system call: the program's mmap may be hooked, by us among others.
uint8_t* MapPages(size_t bytes) {
  const long at =
      syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == -1 ? nullptr : reinterpret_cast<uint8_t*>(at);
}

}  // namespace

void BufferPool::SetLimit(uint64_t limit_bytes) {
  const uint64_t most = limit_bytes / kBufferBytes;
  most_ = most < 2 ? 2 : most > kMost ? kMost : static_cast<uint32_t>(most);
}

bool BufferPool::Claim(State from, uint32_t* slot) {
  for (uint32_t i = 0; i < most_; ++i) {
    uint32_t expected = from;
    if (slots_[i].state.load(std::memory_order_relaxed) != expected) continue;
    if (!slots_[i].state.compare_exchange_strong(expected, kTaken, std::memory_order_acquire))
      continue;
    *slot = i;
    return true;
  }
  return false;
}

uint8_t* BufferPool::Request() {
  uint32_t index = 0;
  if (!Claim(kFree, &index)) {
    if (!Claim(kEmpty, &index)) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    slots_[index].bytes = MapPages(kBufferBytes);
    if (slots_[index].bytes == nullptr) {
      slots_[index].state.store(kEmpty, std::memory_order_release);
      refused_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
  }
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  slots_[index].state.store(kWithCupti, std::memory_order_release);
  return slots_[index].bytes;
}

void BufferPool::Complete(uint8_t* buffer, size_t valid) {
  for (Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) != kWithCupti || slot.bytes != buffer) continue;
    slot.valid = valid <= kBufferBytes ? valid : 0;
    slot.order = completed_.fetch_add(1, std::memory_order_relaxed);
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    slot.state.store(kFilled, std::memory_order_release);
    return;
  }
}

bool BufferPool::Take(FilledBuffer* filled) {
  const Slot* oldest = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) != kFilled) continue;
    if (oldest == nullptr || slot.order < oldest->order) oldest = &slot;
  }
  if (oldest == nullptr) return false;
  *filled = {oldest->bytes, oldest->valid, static_cast<uint32_t>(oldest - slots_)};
  return true;
}

void BufferPool::Return(const FilledBuffer& filled) {
  slots_[filled.slot].state.store(kFree, std::memory_order_release);
}

uint64_t BufferPool::memory_bytes() const {
  uint64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_relaxed) != kEmpty) bytes += kBufferBytes;
  }
  return bytes;
}

}  // namespace gpuprof::tracer::cupti
