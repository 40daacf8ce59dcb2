// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much each table of a track holds. It is known also where the rows themselves were not read.

#pragma once

#include "analysis/model/table_set.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns whether rows of a table are events, and not details of other rows.
constexpr bool HasEvents(proto::ChunkKind kind) { return kind != proto::ChunkKind::kRowDetail; }

// Fills Track::extents from the rows of the track.
void FillExtents(Track* track);

// Returns what the rows of a table in memory hold.
TableExtent ExtentOf(const Track& track, proto::ChunkKind kind);

// Returns how many rows of a table are in memory.
size_t RowsOf(const Track& track, proto::ChunkKind kind);

// Empties the tables that are not kept.
void DropTables(const TableSet& kept, Track* track);

}  // namespace gpuprof::analysis
