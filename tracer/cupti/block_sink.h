// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How blocks of GPU recording get into the trace. The drain's pass.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/container.h"

namespace gpuprof::tracer::cupti {

class BlockSink {
 public:
  virtual ~BlockSink() = default;
  // False: it could not be written.
  virtual bool WriteTableBlock(proto::ChunkKind kind, int field,
                               const std::vector<uint8_t>& message, uint32_t entries) = 0;
  virtual void WriteStringsBlock() = 0;
  virtual void WriteRowBlock(codec::ChunkBuilder* rows) = 0;
  // What the rows refer to is not in the trace: they are counted as lost.
  virtual void LoseRowBlock(codec::ChunkBuilder* rows) = 0;
};

}  // namespace gpuprof::tracer::cupti
