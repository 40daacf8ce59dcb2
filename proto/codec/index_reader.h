// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the index of a trace that ended. Bytes are hostile: an index counts only if it accounts for
// every byte of the file, and a reader walks the headers otherwise.

#pragma once

#include <vector>

#include "proto/codec/trace_reader.h"

namespace gpuprof::codec {

// What an index tells: the blocks in the order of the file, and the end marker behind them.
// `ring_end` of the headers is 0, because nothing asks for it once a trace has ended.
struct IndexContents {
  std::vector<BlockRef> blocks;
  proto::EndMarker end = {};
};

// Returns null, or why there is no index to go by.
const char* ReadIndex(TraceBytes* data, IndexContents* index);

}  // namespace gpuprof::codec
