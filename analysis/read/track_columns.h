// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Moves decoded event blocks into the columns of a track's tables: the one place that ties schema
// columns to model columns. StoreRows of different blocks may run at once; the others not.

#pragma once

#include <cstdint>

#include "analysis/model/trace.h"
#include "analysis/read/clock_map.h"
#include "proto/codec/trace_reader.h"

namespace gpuprof::analysis {

// Memory that one row takes in the model; 0 for kinds that are not events.
uint64_t RowBytes(proto::ChunkKind kind);

// New rows are left unset: every one must be stored or removed.
void ResizeTable(Track* track, proto::ChunkKind kind, uint64_t rows);

// Fills rows [row, row + columns.count), which exist.
void StoreRows(const codec::EventColumns& columns, const proto::BlockHeader& header,
               const ClockMap& clock, Track* track, uint64_t row);

// Of tables whose rows stand in any order (proto::RowOrder): by time, spans by their ends. Rows of
// one time stay as they are.
void SortLateRows(Track* track);

void RemoveRows(Track* track, proto::ChunkKind kind, uint64_t row, uint64_t count);

}  // namespace gpuprof::analysis
