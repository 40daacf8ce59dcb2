// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_columns.h.

#include "analysis/read/track_columns.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/base/parallel.h"
#include "analysis/model/table_columns.h"

namespace gpuprof::analysis {
namespace {

using codec::EventColumns;
using proto::ChunkKind;
using proto::ColumnType;

constexpr size_t kPiece = 1024;      // rows that are looked at together
constexpr size_t kFewSegments = 16;  // not worth a thread

// Visits every column of a table alike.
template <typename Visit>
struct EachColumn {
  Visit visit;

  template <ChunkKind kKind, typename... Columns>
  void Rows(Columns&... columns) {
    static_assert(sizeof...(Columns) == proto::FindTable(kKind)->columns);
    (visit(columns), ...);
  }
  void Capture(Column<uint16_t>& column) { visit(column); }
  void Weight(Column<uint32_t>& column) { visit(column); }
};

template <typename Visit>
bool VisitColumns(Track* track, ChunkKind kind, Visit visit) {
  EachColumn<Visit> each{std::move(visit)};
  return VisitTable(track, kind, &each);
}

// Puts the rows of one block into a segment of each column.
class BlockStore {
 public:
  BlockStore(const ClockMap& clock, const ClockMap::Line* line, size_t segment, EventColumns* from)
      : clock_(clock), line_(line), segment_(segment), from_(from) {}

  uint64_t bytes() const { return bytes_; }

  template <ChunkKind kKind, typename First, typename Second, typename... Columns>
  void Rows(First& first, Second& second, Columns&... others) {
    constexpr const proto::TableSpec* kTable = proto::FindTable(kKind);
    static_assert(sizeof...(Columns) + 2 == kTable->columns);
    static_assert(kTable->column[0].type == ColumnType::kTime);
    if constexpr (kTable->column[1].type == ColumnType::kDuration) {
      ConvertSpans();
    } else {
      ConvertTimes();
    }
    int column = 0;
    const auto put = [&](auto& to) { Put(column++, &to); };
    put(first);
    put(second);
    (put(others), ...);
  }
  void Capture(Column<uint16_t>& column) {
    column.StoreOne(segment_, static_cast<uint16_t>(from_->capture), from_->count);
  }
  void Weight(Column<uint32_t>& column) {
    column.StoreOne(segment_, from_->sampled_one_in, from_->count);
  }

 private:
  template <typename T>
  void Put(int column, Column<T>* to) {
    std::vector<uint64_t>& values = from_->column[column];
    if (values.empty()) {
      to->StoreOne(segment_, 0, from_->count);
    } else {
      bytes_ += to->Store(segment_, values.data(), from_->count);
    }
  }

  // A column that was left out is zero in every row.
  std::vector<uint64_t>& Ticks(int column) {
    std::vector<uint64_t>& ticks = from_->column[column];
    if (ticks.empty()) ticks.assign(from_->count, 0);
    return ticks;
  }

  template <typename Convert>
  void WithClock(const Convert& convert) const {
    if (line_ != nullptr) {
      convert(*line_, *line_);
    } else {
      convert(ClockMap::Cursor(clock_), ClockMap::Cursor(clock_));
    }
  }

  void ConvertTimes() {
    WithClock([&](auto clock, auto) {
      for (uint64_t& time : Ticks(0)) time = static_cast<uint64_t>(clock.Convert(time));
    });
  }

  // Start and end are converted each, so that spans that nest or touch in ticks do so in
  // nanoseconds.
  void ConvertSpans() {
    uint64_t* __restrict const ends = Ticks(0).data();
    uint64_t* __restrict const durations = Ticks(1).data();
    WithClock([&](auto end_clock, auto start_clock) {
      for (uint32_t i = 0; i < from_->count; ++i) {
        const uint64_t start = ends[i] - std::min(durations[i], ends[i]);
        const int64_t end_ns = end_clock.Convert(ends[i]);
        // Where a clock was set amid a span, between two readings of it, nobody knows how long it
        // took.
        const int64_t duration_ns = std::max<int64_t>(end_ns - start_clock.Convert(start), 0);
        ends[i] = static_cast<uint64_t>(end_ns);
        durations[i] = static_cast<uint64_t>(duration_ns);
      }
    });
  }

  const ClockMap& clock_;
  const ClockMap::Line* line_;  // that all times of the block are on; null: several
  size_t segment_;
  EventColumns* from_;
  uint64_t bytes_ = 0;
};

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
    if (AreSorted(times, threads)) return;
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

void SortLateRows(Track* track, int threads) {
  RowSorter sorter{threads};
  for (const proto::TableSpec& table : proto::kTables) {
    if (table.order == proto::RowOrder::kAny) VisitTable(track, table.kind, &sorter);
  }
}

uint64_t StoreCallIds(Track* track, size_t segment, EventColumns* columns) {
  static_assert(proto::FindTable(ChunkKind::kApi)->column[kCallIdColumn].type ==
                ColumnType::kCorrelation);
  std::vector<uint64_t>& values = columns->column[kCallIdColumn];
  if (values.empty()) {
    track->api.correlation.StoreOne(segment, 0, columns->count);
    return 0;
  }
  return track->api.correlation.Store(segment, values.data(), columns->count);
}

uint64_t StoreRows(const proto::BlockHeader& header, const ClockMap& clock, Track* track,
                   size_t segment, EventColumns* columns) {
  // The decoder has checked that all times lie within the header's, but for the bits that a quantum
  // cuts off.
  constexpr uint64_t kQuantum = 4096;
  ClockMap::Line line;
  const bool is_straight = clock.FindLine(header.first_time - std::min(header.first_time, kQuantum),
                                          header.last_time, &line);
  BlockStore store(clock, is_straight ? &line : nullptr, segment, columns);
  VisitTable(track, columns->kind, &store);
  return store.bytes();
}

}  // namespace gpuprof::analysis
