// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See fold.h.

#include "analysis/timeline/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gpuprof::analysis::timeline {
namespace {

constexpr double kShortPx = 4;
constexpr double kGapPx = 10;
constexpr size_t kColumns = 64;
constexpr int kColumnsBits = 6;
// A short span that begins in the last column may reach into four more.
constexpr size_t kAllColumns = kColumns + 4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Zoom ZoomOf(double ns_per_px) {
  int bits = 0;
  // The fraction is in [0.5, 1): of a power of two it is 0.5, and the exponent one too many.
  if (std::frexp(ns_per_px * kColumns, &bits) == 0.5) --bits;
  return {ns_per_px * kShortPx, ns_per_px * kGapPx, std::ldexp(1, bits), bits - kColumnsBits,
          std::ldexp(1, bits - kColumnsBits)};
}

// The open cell of a lane.
struct Folder::Lane {
  struct Column {
    std::array<double, kSpanClasses> busy{};
    double first = kInfinity;
    double last = -kInfinity;
  };
  double cell = 0;
  double first = 0, last = 0, busy = 0;
  uint32_t name = 0, row = 0;
  uint64_t count = 0;
  std::array<double, kSpanClasses> by_class{};
  size_t columns = 0;  // those before this one may have something
  std::array<Column, kAllColumns> column;
};

Folder::Folder(const Zoom& zoom, double from, double to, const NameTable& names)
    : zoom_(zoom), from_(from), to_(to), names_(&names) {}
Folder::~Folder() = default;

Folder::Lane& Folder::LaneOf(size_t lane) {
  if (lane >= lanes_.size()) lanes_.resize(lane + 1);
  if (lanes_[lane] == nullptr) lanes_[lane] = std::make_unique<Lane>();
  return *lanes_[lane];
}

void Folder::Add(const Span& span) {
  Lane& lane = LaneOf(span.lane);
  const double duration = span.end - span.start;
  const auto cls = static_cast<uint8_t>(names_->cls(span.name));
  if (duration >= zoom_.short_ns) {
    Flush(&lane, span.lane);
    const auto bars = static_cast<uint32_t>(bars_.size());
    Emit({span.start, span.end, duration, span.name, span.row, 1, bars, 0, span.lane, cls});
    return;
  }
  Open(&lane, span.lane, span.start);
  Put(&lane, span.start, span.end, span.name, span.row, 1, duration);
  double from = span.start;
  do {
    // Where doubles hold no finer columns the rest is in one.
    const double next = (std::floor(from / zoom_.column_ns) + 1) * zoom_.column_ns;
    const double to = next > from ? std::min(span.end, next) : span.end;
    AddTime(&lane, Extend(&lane, from, to), cls, to - from);
    from = to;
  } while (from < span.end);
}

void Folder::Add(const GatheredSpans& spans) {
  Lane& lane = LaneOf(spans.lane);
  const double busy = std::accumulate(spans.times.begin(), spans.times.end(), 0.0);
  Open(&lane, spans.lane, spans.first);
  Put(&lane, spans.first, spans.last, spans.name, spans.row, spans.count, busy);
  const double next = (std::floor(spans.first / zoom_.column_ns) + 1) * zoom_.column_ns;
  // Only the span that ends last reaches into the next column.
  const double beyond = std::min(std::max(spans.last - next, 0.0), spans.times[spans.last_cls]);
  const size_t place = Extend(&lane, spans.first, std::min(spans.last, next));
  for (size_t cls = 0; cls < kSpanClasses; ++cls)
    AddTime(&lane, place, cls, spans.times[cls] - (cls == spans.last_cls ? beyond : 0));
  if (beyond > 0) AddTime(&lane, Extend(&lane, next, spans.last), spans.last_cls, beyond);
}

void Folder::AddUnknown(double start, double end, uint64_t count) {
  const auto bars = static_cast<uint32_t>(bars_.size());
  Emit({start, end, std::numeric_limits<double>::quiet_NaN(), kFolded, kFolded,
        static_cast<uint32_t>(std::min<uint64_t>(count, 0xffffffff)), bars, 0, 0,
        static_cast<uint8_t>(SpanClass::kOther)});
}

void Folder::Open(Lane* lane, size_t number, double start) {
  const double cell = std::floor(start / zoom_.width_ns);
  if (lane->count != 0 && (cell != lane->cell || start - lane->last > zoom_.gap_ns))
    Flush(lane, number);
  lane->cell = cell;
}

void Folder::Put(Lane* lane, double start, double end, uint32_t name, uint32_t row, uint32_t count,
                 double busy) {
  if (lane->count == 0) {
    lane->first = start;
    lane->last = end;
    lane->name = name;
    lane->row = row;
  } else {
    lane->last = std::max(lane->last, end);
  }
  lane->count += count;
  lane->busy += busy;
}

// Notes that something ran in a column of the cell, or just behind it. Returns its place.
size_t Folder::Extend(Lane* lane, double from, double to) {
  const double column = std::floor(from / zoom_.column_ns);
  const double distance = column - lane->cell * static_cast<double>(kColumns);
  // Doubles of great times are not exact.
  const double most = static_cast<double>(kAllColumns - 1);
  const size_t place = distance > 0 ? static_cast<size_t>(std::min(distance, most)) : 0;
  Lane::Column& at = lane->column[place];
  at.first = std::min(at.first, from);
  at.last = std::max(at.last, to);
  lane->columns = std::max(lane->columns, place + 1);
  return place;
}

void Folder::AddTime(Lane* lane, size_t place, size_t cls, double time) {
  if (time == 0) return;
  lane->by_class[cls] += time;
  lane->column[place].busy[cls] += time;
}

// Ends the columns of a cell. Returns the number of its bars.
uint32_t Folder::FlushBars(Lane* lane, bool is_one) {
  const size_t before = bars_.size();
  for (size_t i = 0; i < lane->columns; ++i) {
    Lane::Column& column = lane->column[i];
    for (size_t cls = 0; cls < kSpanClasses && !is_one; ++cls) {
      if (column.busy[cls] == 0) continue;
      bars_.push_back({column.first, column.last, column.busy[cls], static_cast<uint8_t>(cls)});
    }
    column = {};
  }
  lane->columns = 0;
  return static_cast<uint32_t>(bars_.size() - before);
}

void Folder::Flush(Lane* lane, size_t number) {
  if (lane->count == 0) return;
  const bool is_one = lane->count == 1;
  const auto most = std::max_element(lane->by_class.begin(), lane->by_class.end());
  auto cls = static_cast<uint8_t>(most - lane->by_class.begin());
  // Moments have no time: then the class is that of the first one.
  if (is_one || *most == 0) cls = static_cast<uint8_t>(names_->cls(lane->name));
  const auto first_bar = static_cast<uint32_t>(bars_.size());
  const uint32_t bars = FlushBars(lane, is_one);
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(lane->count, 0xffffffff));
  Emit({lane->first, lane->last, lane->busy, is_one ? lane->name : kFolded,
        is_one ? lane->row : kFolded, count, first_bar, bars, static_cast<uint8_t>(number), cls});
  lane->count = 0;
  lane->busy = 0;
  lane->by_class.fill(0);
}

void Folder::Emit(const Rectangle& rectangle) {
  if (rectangle.start >= to_ || (rectangle.end <= from_ && rectangle.start < from_)) {
    bars_.resize(rectangle.first_bar);
    return;
  }
  out_.push_back(rectangle);
}

Rectangles Folder::Finish() {
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane] != nullptr) Flush(lanes_[lane].get(), lane);
  }
  std::stable_sort(out_.begin(), out_.end(), [](const Rectangle& x, const Rectangle& y) {
    return x.start != y.start ? x.start < y.start : x.lane < y.lane;
  });
  Rectangles all;
  all.bar_first.push_back(0);
  for (const Rectangle& each : out_) {
    all.start_ns.push_back(each.start);
    all.end_ns.push_back(each.end);
    all.depth.push_back(each.lane);
    all.name.push_back(each.name);
    all.cls.push_back(each.cls);
    all.row.push_back(each.row);
    all.count.push_back(each.count);
    all.busy_ns.push_back(each.busy);
    for (uint32_t i = each.first_bar; i < each.first_bar + each.bars; ++i) {
      all.bar_start_ns.push_back(bars_[i].start);
      all.bar_end_ns.push_back(bars_[i].end);
      all.bar_cls.push_back(bars_[i].cls);
      all.bar_busy_ns.push_back(bars_[i].busy);
    }
    all.bar_first.push_back(static_cast<uint32_t>(all.bar_busy_ns.size()));
  }
  return all;
}

}  // namespace gpuprof::analysis::timeline
