// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows of a track's tables as blocks: room for the segments of all columns of a table, and the
// order of its rows. Any thread, but one at a time on one track.

#pragma once

#include <cstddef>
#include <utility>

#include "analysis/model/table_columns.h"
#include "analysis/model/trace.h"
#include "proto/schema.h"

namespace gpuprof::analysis {

// Visits every column of a table alike.
template <typename Visit>
struct EachColumn {
  Visit visit;

  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(Columns&... columns) {
    static_assert(sizeof...(Columns) == proto::FindTable(kKind)->columns);
    (visit(columns), ...);
  }
  void Capture(Column<uint16_t>& column) { visit(column); }
  void Weight(Column<uint32_t>& column) { visit(column); }
};

// Calls visit(column) for each column of a table. False: the model has no table of this kind.
template <typename Visit>
bool VisitColumns(Track* track, proto::ChunkKind kind, Visit visit) {
  EachColumn<Visit> each{std::move(visit)};
  return VisitTable(track, kind, &each);
}

// Returns whether the model has a table for this kind.
bool HasRows(proto::ChunkKind kind);

// Makes room for the segments of a table, which must be empty.
void PlanTable(Track* track, proto::ChunkKind kind, size_t segments);

// Ends a table: segments that were not filled have no rows.
void FinishTable(Track* track, proto::ChunkKind kind);

// Sorts all tables by time, spans by their ends. Rows of one time stay as they are. `threads`: how
// many may work on it; 0: as many as cores.
void SortTables(Track* track, int threads);

// Sorts only the tables whose rows stand in any order in files (proto::RowOrder).
void SortLateTables(Track* track, int threads);

}  // namespace gpuprof::analysis
