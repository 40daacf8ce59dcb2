// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the bytes of a .gpt file are framed: fixed-width little-endian structs inside zstd skippable
// frames.
//
//   [file header] ([block header][zstd frame: one Trace{Chunk}] | [index])* [end marker]?
//
// `zstd -dc FILE` skips the headers and yields one valid protobuf message Trace. FORMAT.md has an
// annotated dump.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

// A reader refuses a newer major version. proto/schema.h has the minor one.
inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kOldestReadableMajor = 1;

inline constexpr uint32_t kSkippableFileHeader = 0x184D2A50u;
inline constexpr uint32_t kSkippableBlockHeader = 0x184D2A51u;
inline constexpr uint32_t kSkippableIndex = 0x184D2A52u;
inline constexpr uint32_t kSkippableEnd = 0x184D2A53u;
inline constexpr uint32_t kZstdFrameMagic = 0xFD2FB528u;

inline constexpr uint32_t kMaxRawChunkBytes = 64u << 20;
inline constexpr uint32_t kMaxCompressedChunkBytes = 64u << 20;
inline constexpr uint32_t kMaxRowsPerChunk = 1u << 20;
inline constexpr uint32_t kRowsPerChunk = 65536;  // where the writer closes a chunk
// The tick of time 0 in a trace that was made of another tool's file (Meta.imported_from).
inline constexpr uint64_t kImportedZeroTick = uint64_t{1} << 50;
inline constexpr uint32_t kMostBlocksOfAnIndex = 4096;
inline constexpr uint32_t kMaxRawIndexBytes = 1u << 20;
inline constexpr uint32_t kMostSampledOneIn = 1u << 20;
// Sums of work: of one group, and of a whole block of them.
inline constexpr uint32_t kMostBlocksOfSums = 512;
inline constexpr uint32_t kMostKeysOfSums = 4096;
inline constexpr uint32_t kMaxRawSumsBytes = 1u << 20;

// Feature bits: what a reader must understand to read the file correctly. There are none yet.
inline constexpr uint64_t kKnownFeatures = 0;

struct SkippableHeader {
  uint32_t magic;
  uint32_t bytes;  // of what follows
};
static_assert(sizeof(SkippableHeader) == 8);

struct FileHeader {
  char magic[8];  // kFileMagic
  uint16_t major;
  uint16_t minor;
  int32_t pid;
  uint64_t features;     // bits a reader must know
  uint64_t start_id;     // the <start> of the file name
  uint64_t realtime_ns;  // when the file was begun
  uint32_t ticks_kind;   // ClockKind
  uint32_t crc;          // CRC32C of the bytes before
};
static_assert(sizeof(FileHeader) == 48);
// The newline shows a file that was converted as text.
inline constexpr char kFileMagic[8] = {'g', 'p', 'u', 'p', 'r', 'o', 'f', '\n'};
// Files of drafts, from before version 1.0, begin like this. No reader reads them.
inline constexpr char kDraftMagic[8] = {'g', 'p', 'u', 'p', 'r', 'o', 'f', 0};

struct BlockHeader {
  uint32_t compressed_bytes;  // of the zstd frame that follows
  uint32_t raw_bytes;         // of its content
  uint16_t kind;              // ChunkKind
  uint16_t capture;           // number of the capture, from 1
  uint32_t track;             // 0 for process-wide tables
  uint32_t count;             // rows; for tables, entries
  uint32_t sequence;          // of the block in the file, from 0: a hole means bytes were lost
  uint64_t first_time;        // ticks: earliest start in the chunk (0 for tables)
  uint64_t last_time;         // ticks: latest end
  uint64_t dropped_before;    // records of this track dropped since its previous block
  uint64_t ring_end;  // every record of this kind and track below this ring position is in the file
  uint32_t reserved;
  uint32_t crc;  // CRC32C of the bytes before
};
static_assert(sizeof(BlockHeader) == 64);

// Stands before a zstd frame with one message Index, in the same skippable frame.
struct IndexHeader {
  uint64_t
      previous;     // offset of the skippable frame of the index before; 0: this is the first index
  uint32_t blocks;  // that it has entries of
  uint32_t raw_bytes;  // of the message
  uint32_t reserved;
  uint32_t crc;  // CRC32C of the bytes before
};
static_assert(sizeof(IndexHeader) == 24);

struct EndMarker {
  uint64_t blocks;    // block headers in the file
  uint64_t rows;      // rows of event chunks
  uint64_t index;     // offset of the skippable frame of the last index; 0: the file has no index
  uint32_t exit_way;  // ExitWay
  int32_t exit_status;
  uint32_t recovered;  // 1: written by recovery, not by the process itself
  uint32_t crc;        // CRC32C of the bytes before
};
static_assert(sizeof(EndMarker) == 40);

// Offset of the first block, and bytes of a block before its zstd frame.
inline constexpr uint64_t kFirstBlockOffset = sizeof(SkippableHeader) + sizeof(FileHeader);
inline constexpr uint64_t kBlockFrontBytes = sizeof(SkippableHeader) + sizeof(BlockHeader);

// Returns whether a header keeps the limits that a reader may rely on.
constexpr bool IsWithinLimits(const BlockHeader& header) {
  return header.compressed_bytes <= kMaxCompressedChunkBytes &&
         header.raw_bytes <= kMaxRawChunkBytes && header.count <= kMaxRowsPerChunk &&
         header.first_time <= header.last_time;
}

}  // namespace gpuprof::proto
