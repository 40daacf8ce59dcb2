// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decodes event blocks of any files, one after the other, on one thread. Keeps the file that it
// read last at hand.

#pragma once

#include <cstdint>

#include "analysis/read/trace_file.h"
#include "proto/codec/trace_reader.h"

namespace gpuprof::analysis {

class BlockWorker {
 public:
  // Decodes the wanted columns of a block. Returns false and fills `fault` if the block is damaged,
  // or is not what its header says.
  bool Read(const TraceFile* file, const codec::BlockRef& block, codec::ColumnMask wanted,
            codec::EventColumns* columns, codec::Fault* fault) {
    const proto::BlockHeader& header = block.header;
    if (file_ != file) file->input().Show(&reader_.view);
    file_ = file;
    if (!reader_.decoder.DecodeEvents(&reader_.view.bytes, block, columns, fault, wanted))
      return false;
    if (columns->count != header.count || columns->track != header.track ||
        static_cast<uint16_t>(columns->kind) != header.kind) {
      *fault = {block.offset, "block is not what its header says"};
      return false;
    }
    columns->capture = header.capture;
    return true;
  }

 private:
  const TraceFile* file_ = nullptr;  // that `reader_` shows
  BlockReader reader_;
};

}  // namespace gpuprof::analysis
