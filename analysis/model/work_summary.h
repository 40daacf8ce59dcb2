// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the work of a stream amounts to, without a row for each piece. A recording of a hundred
// million kernels is summed block by block, so that its overview needs little memory and time.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/table_spec.h"

namespace gpuprof::analysis {

// Tables with more rows than this, in a whole bundle, may come as sums.
inline constexpr uint64_t kMostWorkRows = 20'000'000;

// The pieces of work of one table that have the same key. The key is the signature of a kernel, the
// operation of a copy or memset, or the graph of a graph launch.
struct KeySums {
  uint32_t key = 0;
  uint64_t rows = 0;
  uint64_t count = 0;  // what the rows stand for
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  uint64_t bytes = 0;  // of copies and memsets
};

struct TableSums {
  proto::ChunkKind kind{};
  std::vector<KeySums> keys;  // by key
  bool lacks_bytes = false;   // some copies do not tell their bytes
};

// The spans of one block: when the first began, when the last ended, and the time in which at least
// one ran.
struct BusyStretch {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t busy_ns = 0;
  proto::ChunkKind kind = proto::ChunkKind::kKernel;
};

struct WorkSummary {
  std::vector<TableSums> tables;
  std::vector<BusyStretch> stretches;  // by first_ns
};

}  // namespace gpuprof::analysis
