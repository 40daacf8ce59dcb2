// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gathers short spans into cells. A cell is a power of two wide and aligned to time 0. A gap of
// more than 10 pixels ends a cell, and so does a span that is drawn by itself. Spans come lane by
// lane or mixed, each lane in the order of starts. One thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/timeline/lanes.h"
#include "analysis/timeline/span_class.h"
#include "analysis/timeline/span_rows.h"

namespace gpuprof::analysis::timeline {

// In place of a name or a row: the rectangle is a cell.
inline constexpr uint32_t kFolded = 0xffffffff;

// What a zoom means in nanoseconds.
struct Zoom {
  double short_ns = 0;   // shorter spans are gathered
  double gap_ns = 0;     // a longer gap ends a cell
  double width_ns = 0;   // of a cell
  int column_bits = 0;   // a column is a 64th of a cell, 1 to 2 pixels: the exponent of 2
  double column_ns = 0;  // of a column
};
// Returns the zoom for so many nanoseconds a pixel, which are positive.
Zoom ZoomOf(double ns_per_px);

// Rectangles of one track, by their start; parallel arrays.
struct Rectangles {
  std::vector<double> start_ns, end_ns;
  std::vector<uint8_t> depth;
  std::vector<uint32_t> name;   // kFolded: a cell
  std::vector<uint8_t> cls;     // of a cell, the class with most time
  std::vector<uint32_t> row;    // kFolded: a cell
  std::vector<uint32_t> count;  // events in it
  // Time in which an event of the lane ran. Not a number: it is not known.
  std::vector<double> busy_ns;
  // Busy time of cells by column and class. Those of rectangle i are bar_first[i] up to
  // bar_first[i + 1].
  std::vector<uint32_t> bar_first;
  std::vector<double> bar_start_ns, bar_end_ns;
  std::vector<uint8_t> bar_cls;
  std::vector<double> bar_busy_ns;
};

// Spans of one lane that begin in one column, summed.
struct GatheredSpans {
  size_t lane = 0;
  double first = 0;  // when the first one begins
  double last = 0;   // when the last one ends
  uint32_t name = 0, row = 0;
  uint32_t count = 0;
  uint8_t last_cls = 0;                    // of the one that ends last
  std::array<double, kSpanClasses> times;  // by class
};

class Folder {
 public:
  // Draws what reaches into [from, to). `names` must outlive it.
  Folder(const Zoom& zoom, double from, double to, const NameTable& names);
  ~Folder();

  void Add(const Span& span);
  // Takes spans that were gathered before. Their column must be as wide as the zoom's.
  void Add(const GatheredSpans& spans);
  // Takes events that were not read. Their number is known. They are drawn in the first lane.
  void AddUnknown(double start, double end, uint64_t count);
  // Returns the number of rectangles and bars so far.
  size_t size() const { return out_.size() + bars_.size(); }
  // Ends all cells. Returns what is to be drawn. Nothing may be added afterwards.
  Rectangles Finish();

 private:
  struct Lane;
  struct Rectangle {
    double start, end, busy;
    uint32_t name, row, count;
    uint32_t first_bar, bars;
    uint8_t lane, cls;
  };
  struct Bar {
    double start, end, busy;
    uint8_t cls;
  };

  Lane& LaneOf(size_t lane);
  void Open(Lane* lane, size_t number, double start);
  void Put(Lane* lane, double start, double end, uint32_t name, uint32_t row, uint32_t count,
           double busy);
  size_t Extend(Lane* lane, double from, double to);
  void AddTime(Lane* lane, size_t place, size_t cls, double time);
  uint32_t FlushBars(Lane* lane, bool is_one);
  void Flush(Lane* lane, size_t number);
  void Emit(const Rectangle& rectangle);

  Zoom zoom_;
  double from_, to_;
  const NameTable* names_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Rectangle> out_;
  std::vector<Bar> bars_;
};

}  // namespace gpuprof::analysis::timeline
