// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is known of rows without reading them: the headers of their blocks tell it.

#pragma once

#include <cstdint>

#include "proto/schema.h"

namespace gpuprof::analysis {

// How much a table of a track holds, by the headers of its blocks.
struct TableExtent {
  proto::ChunkKind kind{};
  uint64_t rows = 0;
  // All rows lie between the two; spans with their starts.
  int64_t first_ns = 0;
  int64_t last_ns = 0;
};

// Rows of a block that are not there, and were not asked for.
struct LeftOutRows {
  proto::ChunkKind kind{};
  uint64_t first_row = 0;  // number of the first in the table of all rows
  uint64_t rows = 0;
  // All rows lie between the two; spans with their starts.
  int64_t first_ns = 0;
  int64_t last_ns = 0;
};

}  // namespace gpuprof::analysis
