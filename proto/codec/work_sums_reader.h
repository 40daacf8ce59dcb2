// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads messages WorkSums (proto/FORMAT.md, "Sums of work"). Bytes are hostile: every column is
// bounded before memory is taken, and a group that cannot be true is refused. Any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/keyed_sums.h"

namespace gpuprof::codec {

struct WorkGroup {
  uint32_t kind = 0;
  uint32_t track = 0;
  uint32_t sampled_one_in = 1;
  bool lacks_bytes = false;
  // Each block's number, counted back from the table's own block, and its busy time.
  std::vector<uint64_t> blocks_back;
  std::vector<uint64_t> busy;
  uint64_t rows = 0;  // of all keys
  std::vector<KeyedSums::Key> keys;
};

// Reads the table of a block whose message Trace was decompressed. Returns null, or what is wrong;
// then `groups` is empty.
const char* ReadWorkSums(const uint8_t* trace, uint64_t bytes, std::vector<WorkGroup>* groups);

}  // namespace gpuprof::codec
