// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One row of the timeline: its spans in the order of their starts. The first question that needs
// the order looks at all rows once. Then 0 to 5 bytes a row are kept: the order, if the rows are
// not in it, and the lanes, if there are several. With them are sums by name, busy time and the
// open spans at the begin of each stretch, and the pyramid.
//
// Blocks of lazy tables may go while all rows are passed over: a table can be larger than memory.
//
// One thread. The tables must outlive it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/timeline/fold.h"
#include "analysis/timeline/name_sums.h"
#include "analysis/timeline/pyramid.h"
#include "analysis/timeline/span_rows.h"

namespace gpuprof::analysis::timeline {

// How finely a track is parted. Tests part small ones.
struct Grain {
  uint32_t stretch_rows = 65536;
  // Tracks of fewer rows have no pyramid: all rows of a window are looked at.
  uint32_t few_rows = 65536;
  // The least number of columns of the finest level, if the spans lie close together.
  double columns = 131072;
};

class SpanTrack {
 public:
  // Takes the rows that are there, and `left_out`: blocks of rows that are not.
  // `let_go` is called now and then while all rows are passed over: rows that were read may go.
  SpanTrack(std::vector<RowTable> tables, std::vector<LeftOutRows> left_out, const NameTable& names,
            const Grain& grain, std::function<void()> let_go = {});

  // Returns the number of rows. Some rows of ranges are not events.
  uint32_t rows() const { return rows_; }
  // Returns how many rows are left out, and may be in [start, end).
  uint64_t LeftOut(double start, double end) const;
  const std::vector<RowTable>& tables() const { return tables_; }

  // Returns the lanes that the track needs.
  uint32_t Depth();
  // Returns the same, as a few rows at the begin and in the middle tell. The true one is never
  // less.
  uint32_t DepthOfFew() const;
  // Returns the greatest number of events that a row stands for.
  uint32_t OneIn();
  // Returns when the first span begins, and when the last one ends. None: there are no spans.
  struct Extent {
    double first = 0, last = 0;
  };
  std::optional<Extent> Bounds();

  // Hands what is to be drawn of a window to a folder. Gives up when that has more than `most`
  // rectangles and bars: then it returns false.
  bool Draw(const Zoom& zoom, double start, double end, size_t most, Folder* folder);

  // Adds what ran in [start, end) to sums, cut at the edges. Returns the busy time.
  double SumRange(double start, double end, NameSums* sums);
  // Adds the sums of the whole track.
  void SumAll(NameSums* sums);
  // Calls take(span) for all spans that overlap [start, end), by their starts.
  void Within(double start, double end, const std::function<void(const Span&)>& take);
  // Finds the innermost span at a moment.
  std::optional<Span> At(double time);
  // Returns the spans around a moment, the outermost first.
  std::vector<Span> Around(double time);
  // Calls take(span) for each span that starts in [start, end], until it returns false.
  void Each(double start, double end, const std::function<bool(const Span&)>& take);
  // Finds the first spans by time with one of these names.
  std::vector<Span> Find(const std::unordered_set<uint32_t>& names, size_t most);
  // Reads a row. None: no row has this number, or the row is not an event.
  std::optional<Span> Row(uint32_t row) const;

  // Returns the memory that is kept in addition to the rows.
  size_t bytes() const { return bytes_; }
  // Gives this memory back. The next question looks at all rows again.
  void Forget();
  // Forgets rows that were read. Not while all rows are passed over.
  void ForgetRows() const { reader_.Forget(); }

 private:
  struct Stretch {
    uint32_t first = 0;      // place in the order
    double from = 0;         // its first span begins then; the first stretch begins before all
    std::vector<Span> open;  // spans of earlier stretches that end later
    NameSums sums;
    bool has_sums = false;  // otherwise too many names made them too large
    double busy = 0;
  };
  struct Order {
    uint32_t count = 0;          // of spans
    std::vector<uint32_t> rows;  // by start; empty: the rows as they are
    std::vector<uint8_t> lanes;  // empty: all are 0
    std::vector<Stretch> stretches;
    std::unique_ptr<Pyramid> pyramid;  // null: the track is short
    uint32_t depth = 1;
    uint32_t one_in = 1;
    Extent bounds;
  };

  void DrawLeftOut(const Zoom& zoom, double start, double end, Folder* folder) const;
  void Summarize();
  void FindOrder();
  void OrderRun(uint32_t first, uint32_t end, std::vector<uint32_t>* rows) const;
  std::vector<uint32_t> Merge(const std::vector<uint32_t>& rows,
                              const std::vector<uint32_t>& run_ends) const;
  void LetGo() const;
  void PassOverAll();
  void CountBytes();
  Span SpanAt(uint32_t place) const;
  double StartAt(uint32_t place) const;
  uint32_t EndOf(size_t stretch) const;
  const NameSums& SumsOf(size_t stretch, NameSums* made) const;
  size_t StretchAt(double time) const;
  // Returns the first place from which on spans begin at the time or later.
  uint32_t LowerBound(double time) const;
  double Covered(size_t stretch, double from, double to) const;

  std::vector<RowTable> tables_;
  std::vector<LeftOutRows> left_out_;  // by their starts
  mutable RowReader reader_;           // keeps blocks of rows
  const NameTable* names_;
  Grain grain_;
  std::function<void()> let_go_;
  uint32_t rows_ = 0;
  size_t bytes_ = 0;
  std::unique_ptr<Order> order_;  // null: no question needed it
};

}  // namespace gpuprof::analysis::timeline
