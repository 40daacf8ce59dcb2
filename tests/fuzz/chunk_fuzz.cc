// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is inside a frame: the input is one serialized Trace. It is packed into a frame whose
// checksums hold, with a block header that agrees where it can, so that mutations reach the column
// decoder. Where libprotobuf reads the same bytes to a chunk of the same shape, the values must be
// the same.

#include <cstdint>
#include <cstring>
#include <vector>

#include <zstd.h>

#include "proto/codec/trace_reader.h"
#include "proto/trace.pb.h"
#include "tests/fuzz/check.h"

using gpuprof::codec::BlockDecoder;
using gpuprof::codec::BlockRef;
using gpuprof::codec::EventColumns;
using gpuprof::codec::Fault;
using gpuprof::fuzz::Check;
namespace proto = gpuprof::proto;

namespace {

// The value of column `c` in row `i`, by libprotobuf and the letter of FORMAT.md; plain columns
// alone, which need no sum.
void CompareColumn(const proto::TableSpec& table, int c, const EventColumns& columns,
                   const google::protobuf::RepeatedField<int64_t>& residuals) {
  if (table.column[c].encoding != proto::Encoding::kPlain) return;
  const auto& values = columns.column[c];
  if (residuals.empty()) {  // left out: all zero, whether the reader keeps zeros or nothing
    for (const uint64_t value : values) Check(value == 0);
    return;
  }
  Check(values.size() == static_cast<size_t>(residuals.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    Check(values[i] == static_cast<uint64_t>(residuals[static_cast<int>(i)]));
  }
}

void Compare(const proto::Chunk& chunk, const EventColumns& columns) {
  const proto::TableSpec& table = *proto::FindTable(columns.kind);
  const google::protobuf::RepeatedField<int64_t>* fields[] = {&chunk.c0(), &chunk.c1(), &chunk.c2(),
                                                              &chunk.c3(), &chunk.c4(), &chunk.c5(),
                                                              &chunk.c6(), &chunk.c7()};
  for (int c = 0; c < table.columns; ++c) CompareColumn(table, c, columns, *fields[c]);
}

}  // namespace

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> frame(ZSTD_compressBound(size));
  const size_t bytes = ZSTD_compress(frame.data(), frame.size(), data, size, 1);
  if (ZSTD_isError(bytes)) return 0;
  frame.resize(bytes);
  BlockRef block = {};
  block.header.compressed_bytes = static_cast<uint32_t>(bytes);
  block.header.raw_bytes = static_cast<uint32_t>(size);
  block.header.last_time = ~uint64_t{0};
  proto::Trace trace;
  const bool parses = trace.ParseFromArray(data, static_cast<int>(size)) && trace.chunk_size() == 1;
  if (parses) {
    const proto::Chunk& chunk = trace.chunk(0);
    block.header.kind = static_cast<uint16_t>(chunk.kind());
    block.header.track = chunk.track();
    block.header.count = chunk.count();
    block.header.capture = static_cast<uint16_t>(chunk.capture());
    block.header.dropped_before = chunk.dropped_before();
  } else {
    block.header.kind = static_cast<uint16_t>(proto::ChunkKind::kHeap);
  }
  BlockDecoder decoder;
  EventColumns columns;
  Fault fault;
  if (!decoder.DecodeEvents(frame.data(), block, &columns, &fault)) {
    Check(!fault.what.empty());
    return 0;
  }
  Check(columns.count == block.header.count);
  if (parses) Compare(trace.chunk(0), columns);
  return 0;
}
