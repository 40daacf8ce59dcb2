// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/buffers.h"
#include "tracer/base/map_table.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace gpuprof::tracer::cupti {
namespace {

uint8_t* MapPages(size_t bytes) { return static_cast<uint8_t*>(MapTable(bytes)); }

}  // namespace

void BufferPool::SetLimit(uint64_t limit_bytes, bool of_threads) {
  buffer_bytes_ = of_threads ? kSmallBufferBytes : kBufferBytes;
  // A quarter of it for a crowd: few threads that launch much need the large ones.
  const uint64_t crowd =
      of_threads ? std::min<uint64_t>(limit_bytes / 4 / kCrowdBufferBytes, kMostCrowd) : 0;
  const uint64_t left = limit_bytes - crowd * kCrowdBufferBytes;
  most_ = static_cast<uint32_t>(std::clamp<uint64_t>(left / buffer_bytes_, 2, kMostRegular));
  end_ = most_ + static_cast<uint32_t>(crowd);
}

void BufferPool::AllowSpares() {
  with_spares_ = true;
  end_ = most_ + kMostSpare;
}

size_t BufferPool::SizeOf(uint32_t slot) const {
  if (slot < most_) return buffer_bytes_;
  return with_spares_ ? kSpareBytes : kCrowdBufferBytes;
}

bool BufferPool::Claim(State from, uint32_t first, uint32_t end, uint32_t* slot) {
  for (uint32_t i = first; i < end; ++i) {
    uint32_t expected = from;
    if (slots_[i].state.load(std::memory_order_relaxed) != expected) continue;
    if (!slots_[i].state.compare_exchange_strong(expected, kTaken, std::memory_order_acquire))
      continue;
    *slot = i;
    return true;
  }
  return false;
}

uint8_t* BufferPool::RequestFrom(uint32_t first, uint32_t end, size_t size) {
  uint32_t index = 0;
  if (!Claim(kFree, first, end, &index)) {
    if (!Claim(kEmpty, first, end, &index)) return nullptr;
    slots_[index].bytes = MapPages(size);
    if (slots_[index].bytes == nullptr) {
      slots_[index].state.store(kEmpty, std::memory_order_release);
      return nullptr;
    }
  }
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  slots_[index].state.store(kWithCupti, std::memory_order_release);
  return slots_[index].bytes;
}

uint8_t* BufferPool::Request(size_t* size) {
  *size = buffer_bytes_;
  if (uint8_t* buffer = RequestFrom(0, most_, buffer_bytes_)) return buffer;
  if (with_spares_) crowded_.store(1, std::memory_order_relaxed);
  *size = SizeOf(most_);
  if (uint8_t* buffer = RequestFrom(most_, end_, *size)) return buffer;
  crowded_.store(1, std::memory_order_relaxed);
  refused_.fetch_add(1, std::memory_order_relaxed);
  *size = 0;
  return nullptr;
}

BufferPool::Slot* BufferPool::SlotWithCupti(const uint8_t* buffer) {
  for (Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) == kWithCupti && slot.bytes == buffer)
      return &slot;
  }
  return nullptr;
}

void BufferPool::Complete(uint8_t* buffer, size_t valid) {
  Slot* slot = SlotWithCupti(buffer);
  if (slot == nullptr) return;
  slot->valid = valid <= SizeOf(static_cast<uint32_t>(slot - slots_)) ? valid : 0;
  slot->order = completed_.fetch_add(1, std::memory_order_relaxed);
  outstanding_.fetch_sub(1, std::memory_order_relaxed);
  slot->state.store(kFilled, std::memory_order_release);
}

bool BufferPool::IsSpare(const uint8_t* buffer) const {
  for (uint32_t i = most_; with_spares_ && i < end_; ++i) {
    if (slots_[i].state.load(std::memory_order_acquire) == kWithCupti && slots_[i].bytes == buffer)
      return true;
  }
  return false;
}

void BufferPool::CompleteSpare(uint8_t* buffer, uint64_t records) {
  Slot* slot = SlotWithCupti(buffer);
  if (slot == nullptr) return;
  let_go_.fetch_add(records, std::memory_order_relaxed);
  outstanding_.fetch_sub(1, std::memory_order_relaxed);
  slot->state.store(kFree, std::memory_order_release);
}

bool BufferPool::Take(FilledBuffer* filled, uint64_t before) {
  const Slot* oldest = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) != kFilled || slot.order >= before) continue;
    if (oldest == nullptr || slot.order < oldest->order) oldest = &slot;
  }
  if (oldest == nullptr) return false;
  *filled = {oldest->bytes, oldest->valid, static_cast<uint32_t>(oldest - slots_)};
  return true;
}

void BufferPool::Return(const FilledBuffer& filled) {
  slots_[filled.slot].state.store(kFree, std::memory_order_release);
}

bool BufferPool::HasFilled() const {
  for (const Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) == kFilled) return true;
  }
  return false;
}

void BufferPool::Forget() {
  for (Slot& slot : slots_) slot.state.store(kEmpty, std::memory_order_relaxed);
  completed_.store(0, std::memory_order_relaxed);
  refused_.store(0, std::memory_order_relaxed);
  let_go_.store(0, std::memory_order_relaxed);
  outstanding_.store(0, std::memory_order_relaxed);
  crowded_.store(0, std::memory_order_relaxed);
}

uint64_t BufferPool::memory_bytes() const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < kMost; ++i) {
    if (slots_[i].state.load(std::memory_order_relaxed) != kEmpty) bytes += SizeOf(i);
  }
  return bytes;
}

}  // namespace gpuprof::tracer::cupti
