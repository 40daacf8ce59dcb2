// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory snapshots of PyTorch: any bytes are read as a pickle, in pieces of two sizes. What must
// hold besides not crashing: where pieces end makes no difference, memory stays in proportion, and
// every number that names a text, a frame, a stack or a block names one.

#include <cstdint>

#include "analysis/import/snapshot_reader.h"
#include "tests/fuzz/dump_in_pieces.h"

using gpuprof::analysis::MemorySnapshot;
using gpuprof::analysis::SnapshotBlock;
using gpuprof::analysis::SnapshotSegment;
using gpuprof::analysis::import::MemorySource;
using gpuprof::analysis::import::ReadSnapshot;
using gpuprof::fuzz::Check;
using gpuprof::fuzz::ReadInPieces;
using gpuprof::fuzz::Sums;

namespace {

template <typename Meter>
Sums Read(MemorySource* source, const Meter& check) {
  MemorySnapshot snapshot;
  Sums sums;
  sums.error = ReadSnapshot(source, "file", check, &snapshot);
  for (const auto& frame : snapshot.frames)
    Check(frame.file < snapshot.texts.size() && frame.function < snapshot.texts.size());
  for (const uint32_t frame : snapshot.stack_frames) Check(frame < snapshot.frames.size());
  for (const uint64_t end : snapshot.stack_ends) Check(end <= snapshot.stack_frames.size());
  for (const SnapshotBlock& block : snapshot.blocks)
    Check(block.stack < snapshot.stack_ends.size());
  for (const SnapshotSegment& segment : snapshot.segments)
    Check(segment.first_block + segment.blocks <= snapshot.blocks.size());
  for (const auto& mark : snapshot.marks) Check(mark.name < snapshot.texts.size());
  for (size_t row = 0; row < snapshot.events.rows(); ++row) {
    Check(snapshot.events.stack[row] < snapshot.stack_ends.size());
    sums.sum = sums.sum * 31 + snapshot.events.size[row] + snapshot.events.address[row];
  }
  if (!sums.error)
    for (const uint64_t end : snapshot.device_ends) Check(end <= snapshot.events.rows());
  return sums;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ReadInPieces(data, size, 200,
               [](MemorySource* source, const auto& check) { return Read(source, check); });
  return 0;
}
