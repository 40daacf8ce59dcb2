// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording of CUPTI's activity buffers, byte for byte as CUPTI handed them over: recorder.cc
// writes it, replay/buffer_reader.cc reads it. Little-endian, without padding:
//
//   FileHeader
//   blocks: BlockHeader and that many bytes, up to the one that is kEnd, the last of the file
//
// A buffer is as it was, addresses of the recorded process included. Which of its bytes are
// addresses that a client follows is told beside it, with what was there: strings, and data that
// CUPTI leaves to the client. A block of either comes before the buffer that refers to it.

#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_gpu_recorder {

constexpr char kMagic[8] = {'c', 'u', 'p', 't', 'i', 'b', 'u', 'f'};
constexpr uint32_t kFormat = 1;

struct FileHeader {
  char magic[8];
  uint32_t format;
  uint32_t version;  // cuptiGetVersion
};

enum BlockType : uint32_t {
  kAbout = 1,   // lines for people: what was recorded, with what
  kData = 2,    // what an address led to; numbered by their order, from 0
  kBuffer = 3,  // BufferHeader, lengths of the records (uint32_t), Pointers, the bytes
  kClock = 4,   // Clock
  kEnd = 5,     // End
};

struct BlockHeader {
  uint32_t type;
  uint32_t check;  // CheckOf the type and the content
  uint64_t bytes;
};

struct BufferHeader {
  uint32_t valid;    // bytes
  uint32_t room;     // of the buffer that CUPTI was given
  uint32_t records;  // as cuptiActivityGetNextRecord tells them apart
  uint32_t pointers;
};

enum PointerType : uint32_t {
  kText = 1,   // to a string that nobody changes; the data is without its end
  kOwned = 2,  // to a block of malloc's, which whoever gets the record frees
};

struct Pointer {
  uint32_t offset;  // in the buffer
  uint32_t data;    // number of the block
  uint32_t type;
};

// CUPTI's clock between two readings of each of the machine's, in nanoseconds.
struct Clock {
  uint64_t realtime_before, raw_before;
  uint64_t cupti;
  uint64_t raw_after, realtime_after;
};

enum EndFlag : uint32_t {
  kFlushTimedOut = 1,  // the last flush did not return in time: what it held is missing
  kNotFlushed = 2,     // the process never had a context
  kFlushFailed = 4,    // what CUPTI still held is missing
};

struct End {
  uint64_t dropped;  // records, by cuptiActivityGetNumDroppedRecords
  uint32_t buffers;  // in this file
  uint32_t data;     // blocks of it in this file
  uint32_t unread;   // buffers left out: cuptiActivityGetNextRecord found no record in them
  uint32_t unsafe;   // addresses that lead nowhere, left as they were
  uint32_t flags;    // EndFlag
  uint32_t version;  // once more
};

static_assert(sizeof(FileHeader) == 16 && sizeof(BlockHeader) == 16 && sizeof(BufferHeader) == 16);
static_assert(sizeof(Pointer) == 12 && sizeof(Clock) == 40 && sizeof(End) == 32);

// 32-bit FNV-1a.
inline uint32_t CheckOf(const void* bytes, size_t count, uint32_t check = 2166136261u) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  for (size_t i = 0; i < count; ++i) check = (check ^ at[i]) * 16777619u;
  return check;
}

}  // namespace fake_gpu_recorder
