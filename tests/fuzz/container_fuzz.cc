// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whole .gpt files: any bytes are walked, and every block that the walk finds is decompressed and
// decoded. The same bytes are also the message of an index. These things must hold besides not
// crashing: the readable part reads the same without the rest, rows are where the header says, and
// what is decoded by an index agrees with the block's own header.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <zstd.h>

#include "tests/fuzz/temp_files.h"

#include "proto/codec/crc32c.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_writer.h"

using gpuprof::codec::BlockDecoder;
using gpuprof::codec::BlockRef;
using gpuprof::codec::EventColumns;
using gpuprof::codec::Fault;
using gpuprof::codec::Scan;
using gpuprof::codec::TraceScan;
using gpuprof::fuzz::Check;

namespace {

void CheckTimes(const BlockRef& block, const EventColumns& columns) {
  Check(columns.count == block.header.count);
  for (const auto& column : columns.column) Check(column.empty() || column.size() == columns.count);
  // Rounding down may lead below the first time by less than a unit, never above the last.
  for (const uint64_t time : columns.column[0]) Check(time <= block.header.last_time);
}

// What is decoded by the index is what the block's own header tells.
void CheckIndex(const uint8_t* data, size_t size, const TraceScan& walked) {
  gpuprof::codec::TraceBytes bytes(data, size);
  TraceScan scan;
  Check(gpuprof::codec::ScanByIndex(&bytes, &scan));
  if (!scan.is_by_index) {
    Check(scan.blocks.size() == walked.blocks.size());
    return;
  }
  Check(scan.end.blocks == scan.blocks.size() && scan.readable_bytes == size);
  BlockDecoder decoder;
  EventColumns columns;
  Fault fault;
  for (const BlockRef& block : scan.blocks) {
    Check(block.offset + block.header.compressed_bytes <= size);
    if (!decoder.DecodeEvents(&bytes, block, &columns, &fault)) continue;
    gpuprof::proto::BlockHeader own;
    std::memcpy(&own, data + block.offset - sizeof own, sizeof own);
    Check(own.kind == block.header.kind && own.track == block.header.track &&
          own.count == columns.count && own.last_time == block.header.last_time);
  }
}

// A trace of three blocks without index and end.
const std::vector<uint8_t>& Beginning() {
  static const std::vector<uint8_t> beginning = [] {
    const gpuprof::fuzz::Folder folder;
    const std::string path = folder / "p1-1.gpt";
    gpuprof::codec::TraceWriter writer;
    Check(writer.Create(path.c_str(), {}));
    for (uint32_t track = 1; track <= 3; ++track) {
      gpuprof::codec::ChunkBuilder builder(gpuprof::proto::ChunkKind::kHeap, track, 0);
      const uint64_t row[] = {1000 + track, 2, 16, 64, 0};
      builder.Append(row, row[0]);
      Check(writer.WriteEvents(&builder, 1, 0));
    }
    writer.Close();
    return gpuprof::fuzz::ReadFile(path);
  }();
  return beginning;
}

template <typename Header>
void Append(uint32_t magic, Header header, const std::vector<uint8_t>& body,
            std::vector<uint8_t>* file) {
  header.crc = gpuprof::codec::HeaderCrc(header);
  const auto bytes = static_cast<uint32_t>(sizeof header + body.size());
  const gpuprof::proto::SkippableHeader frame = {magic, bytes};
  const auto add = [&](const void* from, size_t size) {
    const auto* at = static_cast<const uint8_t*>(from);
    file->insert(file->end(), at, at + size);
  };
  add(&frame, sizeof frame);
  add(&header, sizeof header);
  add(body.data(), body.size());
}

// The input as the message of an index whose frame and checksums are sound.
void CheckAsIndex(const uint8_t* data, size_t size) {
  namespace proto = gpuprof::proto;
  if (size == 0 || size > proto::kMaxRawIndexBytes) return;
  const uint32_t blocks = 1 + data[0] % 4;
  std::vector<uint8_t> message(ZSTD_compressBound(size));
  message.resize(ZSTD_compress(message.data(), message.size(), data + 1, size - 1, 1));
  std::vector<uint8_t> file = Beginning();
  proto::EndMarker end = {};
  end.blocks = blocks;
  end.index = file.size();
  proto::IndexHeader header = {};
  header.blocks = blocks;
  header.raw_bytes = static_cast<uint32_t>(size - 1);
  Append(proto::kSkippableIndex, header, message, &file);
  Append(proto::kSkippableEnd, end, {}, &file);
  TraceScan walked;
  Check(Scan(file.data(), file.size(), &walked) && walked.blocks.size() == 3);
  CheckIndex(file.data(), file.size(), walked);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  CheckAsIndex(data, size);
  TraceScan scan;
  if (!Scan(data, size, &scan)) {
    Check(!scan.faults.empty());
    return 0;
  }
  Check(scan.readable_bytes <= size);
  BlockDecoder decoder;
  EventColumns columns;
  Fault fault;
  for (const BlockRef& block : scan.blocks) {
    Check(block.offset + block.header.compressed_bytes <= size);
    const uint8_t* message = nullptr;
    uint64_t bytes = 0;
    if (decoder.Decompress(data, block, &message, &bytes, &fault))
      Check(bytes == block.header.raw_bytes);
    if (decoder.DecodeEvents(data, block, &columns, &fault)) CheckTimes(block, columns);
  }
  CheckIndex(data, size, scan);
  TraceScan again;
  Check(Scan(data, scan.readable_bytes, &again));
  Check(again.readable_bytes == scan.readable_bytes);
  Check(again.blocks.size() == scan.blocks.size());
  return 0;
}
