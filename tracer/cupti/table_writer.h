// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables on their way into the trace. Who makes them tells each entry once; one that a full disk
// did not take is kept here and comes again, in its turn, before whatever is newer.
//
// The drain's pass.

#pragma once

#include <cstdint>
#include <vector>

#include "tracer/cupti/block_sink.h"

namespace gpuprof::tracer::cupti {

class TableWriter {
 public:
  // Bytes that are kept. What comes beyond is given up, and with it all rows from there on.
  static constexpr uint64_t kMostKept = 4u << 20;

  // What was kept. Until the first that cannot be written.
  void WriteKept(BlockSink* sink);
  void Write(proto::ChunkKind kind, int field, const std::vector<uint8_t>& message,
             uint32_t entries, BlockSink* sink);

  // Whether all that was handed over is in the trace: rows find what they refer to.
  bool is_whole() const { return kept_.empty() && !gave_up_; }

 private:
  struct Table {
    proto::ChunkKind kind;
    int field;
    std::vector<uint8_t> message;
    uint32_t entries;
  };

  std::vector<Table> kept_;  // oldest first
  uint64_t kept_bytes_ = 0;
  bool gave_up_ = false;
};

}  // namespace gpuprof::tracer::cupti
