// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See heap.h.

#include "analysis/wasm/platform/heap.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace gpuprof::analysis {

Heap::Place Heap::PlaceOf(size_t size) {
  const unsigned power = static_cast<unsigned>(std::bit_width(size)) - 1;
  return {power, static_cast<unsigned>(size >> (power - kPartBits)) & (kParts - 1)};
}

// Returns whether a block for so many bytes can be.
bool Heap::BlockSizeOf(size_t bytes, size_t* size) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max() / 2;
  if (bytes > kMost) return false;
  *size = std::max(kLeast, (bytes + kHeader + kAlignment - 1) & ~(kAlignment - 1));
  return true;
}

void Heap::Insert(Block* block) {
  const Place place = PlaceOf(SizeOf(block));
  Block*& first = lists_[place.power][place.part];
  block->next = first;
  block->previous = nullptr;
  if (first != nullptr) first->previous = block;
  first = block;
  powers_ |= uint64_t{1} << place.power;
  parts_[place.power] |= 1u << place.part;
}

void Heap::Remove(Block* block) {
  if (block->next != nullptr) block->next->previous = block->previous;
  if (block->previous != nullptr) {
    block->previous->next = block->next;
    return;
  }
  const Place place = PlaceOf(SizeOf(block));
  lists_[place.power][place.part] = block->next;
  if (block->next != nullptr) return;
  parts_[place.power] &= ~(1u << place.part);
  if (parts_[place.power] == 0) powers_ &= ~(uint64_t{1} << place.power);
}

// Finds a free block that suffices. Null: no block does. The blocks of a list differ in size. So
// the first one of the list of this size is looked at, and then a list that has no smaller one.
Heap::Block* Heap::Find(size_t size) {
  const Place own = PlaceOf(size);
  Block* const first = lists_[own.power][own.part];
  if (first != nullptr && SizeOf(first) >= size) return first;
  const unsigned power = static_cast<unsigned>(std::bit_width(size)) - 1;
  const Place place = PlaceOf(size + (size_t{1} << (power - kPartBits)) - 1);
  unsigned found = place.power;
  uint32_t parts = parts_[found] & (~uint32_t{0} << place.part);
  if (parts == 0) {
    const uint64_t powers =
        found + 1 < kPowers ? powers_ & (~uint64_t{0} << (found + 1)) : uint64_t{0};
    if (powers == 0) return nullptr;
    found = static_cast<unsigned>(std::countr_zero(powers));
    parts = parts_[found];
  }
  return lists_[found][std::countr_zero(parts)];
}

// Gets memory that has a block of this size. Each area ends with a header that is never free.
bool Heap::Grow(size_t size) {
  // Find() looks for somewhat larger ones.
  const Area area = more_(size + (size >> kPartBits) + 3 * kAlignment);
  if (area.begin == nullptr) return false;
  char* const begin = static_cast<char*>(area.begin);
  Block* block = nullptr;
  if (begin == end_) {
    block = BlockOf(begin);
    block->size = area.bytes;
  } else {
    // Rooms begin at multiples of the alignment.
    block = reinterpret_cast<Block*>(begin + kAlignment - kHeader);
    block->before = 0;
    block->size = area.bytes - kAlignment;
  }
  end_ = begin + area.bytes;
  Block* const last = Behind(block);
  last->before = block->size;
  last->size = kHeader;
  Free(block);
  return true;
}

// Ends a block behind so many bytes. The rest is free, if it is long enough for a block.
void Heap::Split(Block* block, size_t size) {
  const size_t rest = SizeOf(block) - size;
  if (rest < kLeast) return;
  block->size = size;
  Block* const behind = Behind(block);
  behind->before = size;
  behind->size = rest;
  Behind(behind)->before = rest;
  Free(behind);
}

// Joins a block with its free neighbours, and puts it into its list.
void Heap::Free(Block* block) {
  Block* const behind = Behind(block);
  if (IsFree(behind)) {
    Remove(behind);
    block->size = SizeOf(block) + SizeOf(behind);
  }
  if (block->before != 0) {
    Block* const before = reinterpret_cast<Block*>(reinterpret_cast<char*>(block) - block->before);
    if (IsFree(before)) {
      Remove(before);
      before->size = SizeOf(before) + SizeOf(block);
      block = before;
    }
  }
  Behind(block)->before = SizeOf(block);
  block->size |= kFree;
  Insert(block);
}

void* Heap::Take(size_t bytes, size_t alignment) {
  size_t size = 0, searched = 0;
  const bool is_aligned = alignment <= kAlignment;
  if (!BlockSizeOf(bytes, &size)) return nullptr;
  if (!BlockSizeOf(is_aligned ? bytes : bytes + alignment + kLeast, &searched)) return nullptr;
  Block* block = Find(searched);
  if (block == nullptr) {
    if (!Grow(searched)) return nullptr;
    block = Find(searched);
    if (block == nullptr) return nullptr;
  }
  Remove(block);
  block->size = SizeOf(block);
  if (!is_aligned) {
    const auto room = reinterpret_cast<uintptr_t>(RoomOf(block));
    size_t gap = static_cast<size_t>(-room & (alignment - 1));
    if (gap != 0 && gap < kLeast) gap += alignment;
    if (gap != 0) {
      Block* const front = block;
      block = At(front, gap);
      block->before = gap;
      block->size = front->size - gap;
      Behind(block)->before = block->size;
      front->size = gap;
      Free(front);
    }
  }
  Split(block, size);
  return RoomOf(block);
}

void Heap::GiveBack(void* room) {
  if (room != nullptr) Free(BlockOf(room));
}

size_t Heap::BytesOf(const void* room) { return BlockOf(const_cast<void*>(room))->size - kHeader; }

void* Heap::Resize(void* room, size_t bytes) {
  if (room == nullptr) return Take(bytes);
  size_t size = 0;
  if (!BlockSizeOf(bytes, &size)) return nullptr;
  Block* const block = BlockOf(room);
  Block* const behind = Behind(block);
  if (size > block->size && IsFree(behind) && block->size + SizeOf(behind) >= size) {
    Remove(behind);
    block->size += SizeOf(behind);
    Behind(block)->before = block->size;
  }
  if (size <= block->size) {
    Split(block, size);
    return room;
  }
  void* const moved = Take(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, room, std::min(bytes, BytesOf(room)));
  GiveBack(room);
  return moved;
}

}  // namespace gpuprof::analysis
