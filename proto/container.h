// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the bytes of a .gpt file are framed: fixed-width little-endian structs inside zstd skippable
// frames.
//
//   [file header] ([block header][zstd frame: one Trace{Chunk}])* [end marker]?
//
// `zstd -dc FILE` skips the headers and yields one valid protobuf message Trace. FORMAT.md has an
// annotated dump.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

inline constexpr uint16_t kFormatMajor = 1;  // a reader refuses a newer major
inline constexpr uint16_t kFormatMinor = 0;  // adds kinds and columns; older readers skip them
inline constexpr uint16_t kOldestReadableMajor = 1;

inline constexpr uint32_t kSkippableFileHeader = 0x184D2A50u;
inline constexpr uint32_t kSkippableBlockHeader = 0x184D2A51u;
// 0x184D2A52 is reserved for an index.
inline constexpr uint32_t kSkippableEnd = 0x184D2A53u;
inline constexpr uint32_t kZstdFrameMagic = 0xFD2FB528u;

inline constexpr uint32_t kMaxRawChunkBytes = 64u << 20;
inline constexpr uint32_t kMaxCompressedChunkBytes = 64u << 20;
inline constexpr uint32_t kMaxRowsPerChunk = 1u << 20;
inline constexpr uint32_t kRowsPerChunk = 65536;  // where the writer closes a chunk

// Feature bits: what a reader must understand to read the file correctly. There are none yet.
inline constexpr uint64_t kKnownFeatures = 0;

struct SkippableHeader {
  uint32_t magic;
  uint32_t bytes;  // of what follows
};
static_assert(sizeof(SkippableHeader) == 8);

struct FileHeader {
  char magic[8];  // "gpuprof\0"
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
inline constexpr char kFileMagic[8] = {'g', 'p', 'u', 'p', 'r', 'o', 'f', 0};

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

struct EndMarker {
  uint64_t blocks;    // block headers in the file
  uint64_t rows;      // rows of event chunks
  uint32_t exit_way;  // ExitWay
  int32_t exit_status;
  uint32_t recovered;  // 1: written by recovery, not by the process itself
  uint32_t crc;        // CRC32C of the bytes before
};
static_assert(sizeof(EndMarker) == 32);

}  // namespace gpuprof::proto
