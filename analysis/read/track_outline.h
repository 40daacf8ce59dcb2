// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the outline of a track from a file's blocks, a few at a time: memory does not grow with the
// rows. Several threads may make outlines of one file at once.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/read/span_outline.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

// What a name number of an outline means: a value of the third column of a table.
struct OutlineName {
  uint32_t kind = 0;  // proto::ChunkKind
  uint32_t key = 0;
};

struct TrackOutline {
  uint64_t rows = 0;  // of all blocks; some rows are not spans
  std::vector<OutlineName> names;
  Outline outline;
};

// Makes an outline. Rows are numbered table by table in the order of the request, and in each table
// in the order of the file. Returns an error if a block cannot be read, or if the blocks overlap so
// much that it would take too long.
Error MakeTrackOutline(const TraceFile& file, const OutlineRequest& request, TrackOutline* made);

}  // namespace gpuprof::analysis
