// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Moves decoded event blocks into the columns of a track's tables. Each block becomes one segment
// of each column. StoreRows of different blocks may run at once; the others not.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/trace.h"
#include "analysis/read/clock_map.h"
#include "proto/codec/trace_reader.h"

namespace gpuprof::analysis {

// Fills one segment of a table. The block's values are overwritten. Returns the memory that the
// rows take.
uint64_t StoreRows(const proto::BlockHeader& header, const ClockMap& clock, Track* track,
                   size_t segment, codec::EventColumns* columns);

// The column to decode for StoreCallIds.
inline constexpr int kCallIdColumn = 3;
inline constexpr codec::ColumnMask kCallIdMask = codec::ColumnMask{1} << kCallIdColumn;

// Fills one segment of ApiTable::correlation, and nothing else. The block's ids are overwritten.
// Returns the memory that the segment takes.
uint64_t StoreCallIds(Track* track, size_t segment, codec::EventColumns* columns);

}  // namespace gpuprof::analysis
