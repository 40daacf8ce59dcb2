// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The memory of malloc in the engine. That of Zig's C library rounds each request up to a power of
// two, behind a header. So a buffer of a power of two takes twice its size. It also grows the
// memory of the page for each 64 KiB.
//
// A heap has free blocks in lists by their size: 16 lists for each power of two (two-level
// segregated fit). A request takes the first block of the list of its size, if that suffices.
// Otherwise it takes one of the first list whose blocks all suffice. A block that is given back
// joins its free neighbours. One thread.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::analysis {

class Heap {
 public:
  static constexpr size_t kAlignment = 16;

  // Memory for blocks. It never goes away.
  struct Area {
    void* begin = nullptr;  // null: there is no more
    size_t bytes = 0;
  };
  // Returns further memory, of at least so many bytes. Its begin and its length are multiples
  // of kAlignment.
  using More = Area (*)(size_t bytes);

  explicit constexpr Heap(More more) : more_(more) {}

  // Returns room that begins at a multiple of `alignment`, a power of two. Null: the memory is
  // full.
  void* Take(size_t bytes, size_t alignment = kAlignment);
  void GiveBack(void* room);
  // Makes room larger or smaller, and moves it if need be. Null: the memory is
  // full, and the room is as before.
  void* Resize(void* room, size_t bytes);
  // Returns how many bytes the room has.
  static size_t BytesOf(const void* room);

 private:
  // Stands before each room. The links are in the room of a free block.
  struct Block {
    size_t before;  // bytes of the block before this one; 0: this is the first one of its area
    size_t size;    // with this header; the lowest bit: the block is free
    Block* next;
    Block* previous;
  };
  // The list of a size.
  struct Place {
    unsigned power, part;
  };

  static constexpr size_t kHeader = 2 * sizeof(size_t);
  static constexpr size_t kLeast = 32;  // bytes of a block
  static constexpr unsigned kPartBits = 4;
  static constexpr unsigned kParts = 1u << kPartBits;
  static constexpr unsigned kPowers = 8 * sizeof(size_t);
  static constexpr size_t kFree = 1;

  static size_t SizeOf(const Block* block) { return block->size & ~kFree; }
  static bool IsFree(const Block* block) { return (block->size & kFree) != 0; }
  static Block* At(void* place, size_t offset) {
    return reinterpret_cast<Block*>(static_cast<char*>(place) + offset);
  }
  static Block* Behind(Block* block) { return At(block, SizeOf(block)); }
  static char* RoomOf(Block* block) { return reinterpret_cast<char*>(block) + kHeader; }
  static Block* BlockOf(void* room) {
    return reinterpret_cast<Block*>(static_cast<char*>(room) - kHeader);
  }
  static Place PlaceOf(size_t size);
  static bool BlockSizeOf(size_t bytes, size_t* size);

  void Insert(Block* block);
  void Remove(Block* block);
  Block* Find(size_t size);
  bool Grow(size_t size);
  void Split(Block* block, size_t size);
  void Free(Block* block);

  const More more_;
  char* end_ = nullptr;  // of the latest area
  uint64_t powers_ = 0;  // a bit for each power with a free block
  uint32_t parts_[kPowers] = {};
  Block* lists_[kPowers][kParts] = {};
};

}  // namespace gpuprof::analysis
