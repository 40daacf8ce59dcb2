// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads .gpt files: walks the container, then decodes any block on its own. Bytes are hostile:
// every size is bounded before it is allocated, and a fault is reported with its offset while
// everything before it stays readable.
//
// Scan() on one thread; many threads may decode at once, each with a BlockDecoder and TraceBytes of
// its own.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/codec/trace_bytes.h"
#include "proto/container.h"
#include "proto/schema.h"

namespace gpuprof::codec {

struct BlockRef {
  proto::BlockHeader header;
  uint64_t offset;             // of the zstd frame in the file
  bool is_from_index = false;  // the block's own header was not read
};

struct Fault {
  uint64_t offset = 0;  // byte in the file
  std::string what;     // "block header checksum differs", ...
};

struct TraceScan {
  proto::FileHeader header;
  std::vector<BlockRef> blocks;
  bool is_by_index = false;  // the headers are the index's
  bool has_end = false;
  proto::EndMarker end = {};
  // Behind the last whole block or end marker: a torn tail begins here.
  uint64_t readable_bytes = 0;
  // Empty: the file is whole (a missing end marker is not a fault). A damaged stretch before
  // readable_bytes has its fault, and the blocks behind it are read all the same.
  std::vector<Fault> faults;
};

// Walks the headers of `data`. False: not a gpuprof trace, or a newer major version (faults[0] says
// so).
bool Scan(TraceBytes* data, TraceScan* scan);
// Does what Scan does, but takes the headers from the index if the trace ended and has an index.
// Then no block is touched, and damage to a block shows when the block is decoded.
bool ScanByIndex(TraceBytes* data, TraceScan* scan);
bool Scan(const uint8_t* data, uint64_t bytes, TraceScan* scan);
// Reads the header of the file alone, and refuses what Scan refuses.
bool ScanFileHeader(TraceBytes* data, TraceScan* scan);

// The columns that somebody wants, a bit each: bit 0 is a table's first column.
using ColumnMask = uint32_t;
inline constexpr ColumnMask kAllColumns = ~ColumnMask{0};

// One event chunk by column. Columns that were left out are empty: all zero.
struct EventColumns {
  proto::ChunkKind kind;
  uint32_t track = 0;
  uint32_t capture = 0;
  uint32_t count = 0;
  uint64_t dropped_before = 0;
  uint32_t sampled_one_in = 1;  // how many there were for each row
  // Absolute values: times and durations in ticks, addresses and deltas resolved. Plain columns as
  // stored.
  std::vector<uint64_t> column[proto::kWidestTable];
};

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  // Decompresses a block and decodes its columns into `out`, whose vectors are reused. False:
  // `fault` says where and why. Only wanted columns are decoded and checked; the others are empty.
  bool DecodeEvents(TraceBytes* data, const BlockRef& block, EventColumns* out, Fault* fault,
                    ColumnMask wanted = kAllColumns);
  // Decompresses a block and returns the serialized Trace message (one Chunk), for libprotobuf.
  bool Decompress(TraceBytes* data, const BlockRef& block, const uint8_t** message, uint64_t* bytes,
                  Fault* fault);
  // Decodes a block that is whole and in memory.
  bool DecodeEvents(const uint8_t* data, const BlockRef& block, EventColumns* out, Fault* fault) {
    TraceBytes whole(data, block.offset + block.header.compressed_bytes);
    return DecodeEvents(&whole, block, out, fault);
  }
  bool Decompress(const uint8_t* data, const BlockRef& block, const uint8_t** message,
                  uint64_t* bytes, Fault* fault) {
    TraceBytes whole(data, block.offset + block.header.compressed_bytes);
    return Decompress(&whole, block, message, bytes, fault);
  }

 private:
  static const char* CheckIndexed(TraceBytes* data, const BlockRef& block);

  void* decompressor_;  // ZSTD_DCtx
  std::vector<uint8_t> raw_;
};

}  // namespace gpuprof::codec
