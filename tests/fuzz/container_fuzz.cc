// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whole .gpt files: any bytes are walked, and every block that the walk finds is decompressed and
// decoded. What must hold besides not crashing: the readable part reads the same without the rest,
// and rows are where the header says.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "proto/codec/trace_reader.h"

using gpuprof::codec::BlockDecoder;
using gpuprof::codec::BlockRef;
using gpuprof::codec::EventColumns;
using gpuprof::codec::Fault;
using gpuprof::codec::Scan;
using gpuprof::codec::TraceScan;

namespace {

void Check(bool condition) {
  if (!condition) std::abort();
}

void CheckTimes(const BlockRef& block, const EventColumns& columns) {
  Check(columns.count == block.header.count);
  for (const auto& column : columns.column) Check(column.empty() || column.size() == columns.count);
  // Rounding down may lead below the first time by less than a unit, never above the last.
  for (const uint64_t time : columns.column[0]) Check(time <= block.header.last_time);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
  TraceScan again;
  Check(Scan(data, scan.readable_bytes, &again));
  Check(again.readable_bytes == scan.readable_bytes);
  Check(again.blocks.size() == scan.blocks.size());
  return 0;
}
