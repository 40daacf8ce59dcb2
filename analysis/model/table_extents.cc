// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table_extents.h.

#include "analysis/model/table_extents.h"

#include <algorithm>

#include "analysis/model/table_columns.h"

namespace gpuprof::analysis {
namespace {

struct ExtentFinder {
  TableExtent extent;

  template <proto::ChunkKind kKind, typename Second, typename... Columns>
  void Rows(const Column<int64_t>& times, const Second& second, const Columns&...) {
    extent = {kKind, times.size(), 0, 0};
    if (times.empty()) return;
    extent.first_ns = extent.last_ns = times[0];
    constexpr size_t kRows = 1024;
    int64_t ends[kRows];
    typename Second::value_type values[kRows];
    for (size_t first = 0; first < times.size(); first += kRows) {
      const size_t count = std::min(kRows, times.size() - first);
      times.Copy(first, count, ends);
      for (size_t i = 0; i < count; ++i) {
        extent.first_ns = std::min(extent.first_ns, ends[i]);
        extent.last_ns = std::max(extent.last_ns, ends[i]);
      }
      if constexpr (proto::FindTable(kKind)->column[1].type == proto::ColumnType::kDuration) {
        second.Copy(first, count, values);
        for (size_t i = 0; i < count; ++i)
          extent.first_ns = std::min(extent.first_ns, ends[i] - static_cast<int64_t>(values[i]));
      }
    }
  }
  void Capture(const Column<uint16_t>&) {}
  void Weight(const Column<uint32_t>&) {}
};

struct RowCounter {
  size_t rows = 0;

  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(const Column<int64_t>& times, const Columns&...) {
    rows = times.size();
  }
  void Capture(const Column<uint16_t>&) {}
  void Weight(const Column<uint32_t>&) {}
};

struct Emptier {
  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(Columns&... columns) {
    ((columns = {}), ...);
  }
  void Capture(Column<uint16_t>& column) { column = {}; }
  void Weight(Column<uint32_t>& column) { column = {}; }
};

}  // namespace

void FillExtents(Track* track) {
  track->extents.clear();
  for (const proto::TableSpec& table : proto::kTables) {
    const TableExtent extent = ExtentOf(*track, table.kind);
    if (extent.rows != 0 && HasEvents(table.kind)) track->extents.push_back(extent);
  }
}

TableExtent ExtentOf(const Track& track, proto::ChunkKind kind) {
  ExtentFinder finder;
  ReadTable(track, kind, &finder);
  return finder.extent;
}

size_t RowsOf(const Track& track, proto::ChunkKind kind) {
  RowCounter counter;
  ReadTable(track, kind, &counter);
  return counter.rows;
}

void DropTables(const TableSet& kept, Track* track) {
  Emptier emptier;
  Column<uint32_t> ids;
  if (kept.HasCallIds() && !kept.Has(proto::ChunkKind::kApi)) {
    ids = track->api.correlation;
    track->late_api = std::move(track->api);
  }
  for (const proto::TableSpec& table : proto::kTables) {
    if (kept.Has(table.kind)) continue;
    VisitTable(track, table.kind, &emptier);
    VisitRareColumns(track, table.kind, [](auto& column) { column = {}; });
  }
  if (!ids.empty()) track->api.correlation = std::move(ids);
}

}  // namespace gpuprof::analysis
