// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_columns.h.

#include "analysis/read/track_columns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/model/table_columns.h"

namespace gpuprof::analysis {
namespace {

using codec::EventColumns;
using proto::ChunkKind;
using proto::ColumnType;

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

}  // namespace

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
