// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table_rows.h.

#include "analysis/model/table_rows.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/base/parallel.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr size_t kPiece = 1024;      // rows that are looked at together
constexpr size_t kFewSegments = 16;  // not worth a thread

// Segment by segment: most tables are sorted, and only a look at each row tells.
bool AreSorted(const Column<int64_t>& times, int threads) {
  const std::span<const ColumnSegment> segments = times.segments();
  std::atomic<bool> are_sorted = true;
  ParallelFor(segments.size(), segments.size() < kFewSegments ? 1 : threads, [&](size_t s, int) {
    if (!are_sorted) return;
    int64_t values[kPiece];
    int64_t before = s == 0 ? std::numeric_limits<int64_t>::min()
                            : static_cast<int64_t>(segments[s - 1].Load(segments[s].first - 1));
    bool is_sorted = true;
    for (size_t row = segments[s].first; row < segments[s].end; row += kPiece) {
      const size_t count = std::min(kPiece, segments[s].end - row);
      segments[s].Copy(row, count, values);
      is_sorted &= before <= values[0];
      for (size_t i = 1; i < count; ++i) is_sorted &= values[i - 1] <= values[i];
      before = values[count - 1];
    }
    if (!is_sorted) are_sorted = false;
  });
  return are_sorted;
}

// Sorts the rows of a table by its first column.
struct RowSorter {
  int threads = 1;
  std::vector<uint32_t> order = {};

  template <ChunkKind kKind, typename... Columns>
  void Rows(Column<int64_t>& times, Columns&... others) {
    order.clear();
    // Who reads a lazy table finds out about its order.
    if (times.IsLazy() || AreSorted(times, threads)) return;
    std::vector<int64_t> keys(times.begin(), times.end());
    order.resize(keys.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return keys[x] < keys[y]; });
    times.Reorder(order);
    (others.Reorder(order), ...);
  }
  void Capture(Column<uint16_t>& column) { Move(&column); }
  void Weight(Column<uint32_t>& column) { Move(&column); }

  template <typename T>
  void Move(Column<T>* column) {
    if (!order.empty()) column->Reorder(order);
  }
};

}  // namespace

bool HasRows(ChunkKind kind) {
  Track none;
  return VisitColumns(&none, kind, [](auto&) {});
}

void PlanTable(Track* track, ChunkKind kind, size_t segments) {
  VisitColumns(track, kind, [&](auto& column) { column.Plan(segments); });
}

void FinishTable(Track* track, ChunkKind kind) {
  VisitColumns(track, kind, [](auto& column) { column.Finish(); });
}

void SortTables(Track* track, int threads) {
  RowSorter sorter{threads};
  for (const proto::TableSpec& table : proto::kTables) VisitTable(track, table.kind, &sorter);
}

void SortLateTables(Track* track, int threads) {
  RowSorter sorter{threads};
  for (const proto::TableSpec& table : proto::kTables) {
    if (table.order == proto::RowOrder::kAny) VisitTable(track, table.kind, &sorter);
  }
}

}  // namespace gpuprof::analysis
