// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_track.h.

#include "analysis/timeline/span_track.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace gpuprof::analysis::timeline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sorts rows by their starts, digit by digit from the least on. Equal starts keep their order.
void SortByStart(const std::vector<int64_t>& starts, std::vector<uint32_t>* rows) {
  if (rows->empty()) return;
  uint64_t least = ~uint64_t{0}, most = 0;
  const auto place = [&starts](uint32_t row) {
    return static_cast<uint64_t>(starts[row]) ^ (uint64_t{1} << 63);  // signs in order
  };
  for (const uint32_t row : *rows) {
    least = std::min(least, place(row));
    most = std::max(most, place(row));
  }
  constexpr int kBits = 11;
  constexpr size_t kDigits = size_t{1} << kBits;
  std::vector<uint32_t> sorted(rows->size());
  std::vector<uint32_t> counts(kDigits);
  for (int shift = 0; shift < 64 && (most - least) >> shift != 0; shift += kBits) {
    std::fill(counts.begin(), counts.end(), 0);
    const auto digit = [&](uint32_t row) { return (place(row) - least) >> shift & (kDigits - 1); };
    for (const uint32_t row : *rows) ++counts[digit(row)];
    uint32_t next = 0;
    for (uint32_t& count : counts) next += std::exchange(count, next);
    for (const uint32_t row : *rows) sorted[counts[digit(row)]++] = row;
    rows->swap(sorted);
  }
}

}  // namespace

SpanTrack::SpanTrack(std::vector<RowTable> tables, std::vector<LeftOutRows> left_out,
                     const NameTable& names, const Grain& grain, std::function<void()> let_go)
    : tables_(std::move(tables)),
      left_out_(std::move(left_out)),
      reader_(tables_),
      names_(&names),
      grain_(grain),
      let_go_(std::move(let_go)) {
  if (!tables_.empty()) rows_ = tables_.back().first_row + tables_.back().rows;
  std::stable_sort(
      left_out_.begin(), left_out_.end(),
      [](const LeftOutRows& x, const LeftOutRows& y) { return x.first_ns < y.first_ns; });
}

uint64_t SpanTrack::LeftOut(double start, double end) const {
  uint64_t rows = 0;
  for (const LeftOutRows& each : left_out_) {
    if (static_cast<double>(each.first_ns) < end && static_cast<double>(each.last_ns) >= start)
      rows += each.rows;
  }
  return rows;
}

// Draws blocks that begin in one cell as one, as it is done with spans.
void SpanTrack::DrawLeftOut(const Zoom& zoom, double start, double end, Folder* folder) const {
  double cell = 0, from = 0, to = 0;
  uint64_t count = 0;
  const auto flush = [&] {
    if (count != 0) folder->AddUnknown(from, to, count);
    count = 0;
  };
  for (const LeftOutRows& each : left_out_) {
    const auto first = static_cast<double>(each.first_ns);
    const auto last = static_cast<double>(each.last_ns);
    if (last < start || first >= end) continue;
    const double its_cell = std::floor(first / zoom.width_ns);
    if (count == 0 || its_cell != cell) {
      to = std::min(to, first);
      flush();
      cell = its_cell;
      from = first;
      to = last;
    }
    to = std::max(to, last);
    count += each.rows;
  }
  flush();
}

void SpanTrack::Forget() {
  order_.reset();
  bytes_ = 0;
}

Span SpanTrack::SpanAt(uint32_t place) const {
  Span span = reader_.At(order_->rows.empty() ? place : order_->rows[place]);
  if (!order_->lanes.empty()) span.lane = order_->lanes[place];
  return span;
}

double SpanTrack::StartAt(uint32_t place) const {
  return static_cast<double>(reader_.Start(order_->rows.empty() ? place : order_->rows[place]));
}

void SpanTrack::LetGo() const {
  if (!let_go_) return;
  reader_.Forget();
  let_go_();
}

// Appends the rows of [first, end) that are spans, in order.
void SpanTrack::OrderRun(uint32_t first, uint32_t end, std::vector<uint32_t>* rows) const {
  std::vector<int64_t> starts(end - first);
  std::vector<uint32_t> run;
  for (uint32_t row = first; row < end; ++row) {
    starts[row - first] = reader_.Start(row);
    if (reader_.IsSpan(row)) run.push_back(row - first);
  }
  SortByStart(starts, &run);
  for (size_t begin = 0; begin < run.size();) {
    size_t behind = begin + 1;
    while (behind < run.size() && starts[run[behind]] == starts[run[begin]]) ++behind;
    if (behind - begin > 1) {
      std::sort(run.begin() + static_cast<ptrdiff_t>(begin),
                run.begin() + static_cast<ptrdiff_t>(behind), [&](uint32_t x, uint32_t y) {
                  const int64_t x_end = reader_.End(first + x), y_end = reader_.End(first + y);
                  return x_end != y_end ? x_end > y_end : x > y;
                });
    }
    begin = behind;
  }
  for (const uint32_t row : run) rows->push_back(first + row);
}

// Merges runs that are in order. Rows are written when their spans end, so few rows of a run come
// before those of the runs in front of it.
std::vector<uint32_t> SpanTrack::Merge(const std::vector<uint32_t>& rows,
                                       const std::vector<uint32_t>& run_ends) const {
  struct Head {
    int64_t start, end;
    uint32_t row, next, run_end;  // `next`: the place behind it
  };
  const auto head_at = [&](uint32_t at, uint32_t run_end) {
    return Head{reader_.Start(rows[at]), reader_.End(rows[at]), rows[at], at + 1, run_end};
  };
  const auto comes_later = [](const Head& x, const Head& y) {
    if (x.start != y.start) return x.start > y.start;
    return x.end != y.end ? x.end < y.end : x.row < y.row;
  };
  std::vector<Head> heap;
  uint32_t begin = 0;
  for (const uint32_t end : run_ends) {
    if (begin < end) heap.push_back(head_at(begin, end));
    begin = end;
    LetGo();
  }
  std::make_heap(heap.begin(), heap.end(), comes_later);
  std::vector<uint32_t> merged;
  merged.reserve(rows.size());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    Head head = heap.back();
    heap.pop_back();
    // Most rows of a run follow each other.
    for (;;) {
      merged.push_back(head.row);
      if (merged.size() % grain_.stretch_rows == 0) LetGo();
      if (head.next == head.run_end) break;
      head = head_at(head.next, head.run_end);
      if (heap.empty() || !comes_later(head, heap.front())) continue;
      heap.push_back(head);
      std::push_heap(heap.begin(), heap.end(), comes_later);
      break;
    }
  }
  return merged;
}

// Of spans that begin together the longest comes first, then the later row: it is the outer one, as
// rows are written when their spans end. Rows are looked at run by run. What is in order up to a
// run needs no list.
void SpanTrack::FindOrder() {
  Order& order = *order_;
  std::vector<uint32_t> rows, run_ends;
  bool is_ordered = true;
  int64_t start_before = 0, end_before = 0;
  for (uint32_t first = 0; first < rows_;) {
    const uint32_t behind = first + std::min(grain_.stretch_rows, rows_ - first);
    const bool was_ordered = is_ordered;
    for (uint32_t row = first; row < behind; ++row) {
      if (!reader_.IsSpan(row)) {
        is_ordered = false;
        continue;
      }
      const int64_t start = reader_.Start(row), end = reader_.End(row);
      if (order.count != 0 &&
          (start < start_before || (start == start_before && end >= end_before)))
        is_ordered = false;
      start_before = start;
      end_before = end;
      order.bounds.last = std::max(order.bounds.last, static_cast<double>(end));
      ++order.count;
    }
    if (!is_ordered && was_ordered) {
      rows.resize(first);
      std::iota(rows.begin(), rows.end(), 0);
      run_ends.push_back(first);
    }
    if (!is_ordered) {
      OrderRun(first, behind, &rows);
      run_ends.push_back(static_cast<uint32_t>(rows.size()));
    }
    LetGo();
    first = behind;
  }
  if (!is_ordered) order.rows = Merge(rows, run_ends);
}

void SpanTrack::PassOverAll() {
  Order& order = *order_;
  if (order.count == 0) return;
  order.bounds.first = StartAt(0);
  if (order.count > grain_.few_rows) {
    // Columns finer than the spans' distances would hold a span each.
    const double columns = std::min(grain_.columns, static_cast<double>(order.count));
    const double width = std::max((order.bounds.last - order.bounds.first) / columns, 1.0);
    order.pyramid = std::make_unique<Pyramid>(std::max(std::ilogb(width), 0), *names_);
  }
  Lanes lanes;
  std::vector<std::optional<Span>> last;  // by lane
  std::vector<uint8_t> lane_of(order.count);
  double covered = -kInfinity, start_before = -kInfinity;
  Stretch* stretch = nullptr;
  const auto end_stretch = [&] {
    if (stretch != nullptr && stretch->sums.size() > grain_.stretch_rows / 16 + 16) {
      stretch->sums.Clear();
      stretch->has_sums = false;
    }
  };
  for (uint32_t place = 0; place < order.count; ++place) {
    Span span = SpanAt(place);
    // Spans that begin together stay in one stretch: so a moment parts the stretches.
    const bool is_full = stretch == nullptr || place - stretch->first >= grain_.stretch_rows;
    if (is_full && span.start > start_before) {
      end_stretch();
      Stretch& next = order.stretches.emplace_back();
      next.first = place;
      next.from = stretch == nullptr ? -kInfinity : span.start;
      next.has_sums = true;
      for (const std::optional<Span>& open : last) {
        if (open && open->end > next.from) next.open.push_back(*open);
      }
      std::sort(next.open.begin(), next.open.end(), [](const Span& x, const Span& y) {
        return x.start != y.start ? x.start < y.start : x.lane < y.lane;
      });
      // What was open before the border ran in both stretches.
      if (order.stretches.size() > 1 && covered > next.from) {
        order.stretches[order.stretches.size() - 2].busy -= covered - next.from;
        next.busy += covered - next.from;
      }
      stretch = &next;
    }
    start_before = span.start;
    span.lane = lanes.Take(span.start, span.end);
    lane_of[place] = span.lane;
    if (span.lane >= last.size()) last.resize(span.lane + size_t{1});
    last[span.lane] = span;
    stretch->sums.AddWhole(span);
    if (span.end > covered) {
      stretch->busy += span.end - std::max(span.start, covered);
      covered = span.end;
    }
    order.one_in = std::max(order.one_in, span.weight);
    if (order.pyramid != nullptr) order.pyramid->Add(span);
    if ((place + 1) % grain_.stretch_rows == 0) LetGo();
  }
  end_stretch();
  if (order.pyramid != nullptr) order.pyramid->Finish();
  order.depth = static_cast<uint32_t>(std::max<size_t>(lanes.most(), 1));
  if (order.depth > 1) order.lanes = std::move(lane_of);
}

void SpanTrack::Summarize() {
  if (order_ == nullptr) {
    order_ = std::make_unique<Order>();
    order_->bounds = {kInfinity, -kInfinity};
    reader_.TouchColumns();
    FindOrder();
    PassOverAll();
  }
  CountBytes();
}

void SpanTrack::CountBytes() {
  constexpr size_t kSumBytes = 72;  // of a name, with the map's own
  bytes_ = order_->rows.size() * sizeof(uint32_t) + order_->lanes.size();
  for (const Stretch& stretch : order_->stretches)
    bytes_ += sizeof stretch + stretch.open.size() * sizeof(Span) + stretch.sums.size() * kSumBytes;
  if (order_->pyramid != nullptr) bytes_ += order_->pyramid->bytes();
}

uint32_t SpanTrack::Depth() {
  Summarize();
  return order_->depth;
}

uint32_t SpanTrack::DepthOfFew() const {
  constexpr uint32_t kFew = 4096;
  size_t depth = 1;
  for (const uint32_t from : {uint32_t{0}, rows_ / 2}) {
    struct Times {
      double start, end;
    };
    std::vector<Times> few;
    for (uint32_t row = from; row < rows_ && row - from < kFew; ++row) {
      if (reader_.IsSpan(row))
        few.push_back(
            {static_cast<double>(reader_.Start(row)), static_cast<double>(reader_.End(row))});
    }
    std::sort(few.begin(), few.end(), [](const Times& x, const Times& y) {
      return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
    Lanes lanes;
    for (const Times& each : few) lanes.Take(each.start, each.end);
    depth = std::max(depth, lanes.most());
  }
  return static_cast<uint32_t>(depth);
}

uint32_t SpanTrack::OneIn() {
  Summarize();
  return order_->one_in;
}

std::optional<SpanTrack::Extent> SpanTrack::Bounds() {
  Summarize();
  return order_->count == 0 ? std::nullopt : std::optional(order_->bounds);
}

uint32_t SpanTrack::EndOf(size_t stretch) const {
  return stretch + 1 < order_->stretches.size() ? order_->stretches[stretch + 1].first
                                                : order_->count;
}

size_t SpanTrack::StretchAt(double time) const {
  const std::vector<Stretch>& all = order_->stretches;
  const auto after = std::upper_bound(
      all.begin(), all.end(), time, [](double at, const Stretch& each) { return at < each.from; });
  return after == all.begin() ? 0 : static_cast<size_t>(after - all.begin()) - 1;
}

uint32_t SpanTrack::LowerBound(double time) const {
  uint32_t first = 0, end = order_->count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (StartAt(middle) < time) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

bool SpanTrack::Draw(const Zoom& zoom, double start, double end, size_t most, Folder* folder) {
  Summarize();
  DrawLeftOut(zoom, start, end, folder);
  if (order_->count == 0) return true;
  // Whole cells: otherwise the cells at the edges would change with each move.
  const double from = std::floor(start / zoom.width_ns) * zoom.width_ns - zoom.width_ns;
  const double to = std::ceil(end / zoom.width_ns) * zoom.width_ns;
  if (order_->pyramid != nullptr && zoom.column_bits >= order_->pyramid->bits()) {
    order_->pyramid->Draw(zoom, from, to, folder);
    CountBytes();
    return folder->size() <= most;
  }
  // What began long before is drawn if it is long, and reaches into the window.
  const auto is_drawn = [&](const Span& span) {
    return span.start >= from || (span.end > start && span.end - span.start >= zoom.short_ns);
  };
  const Stretch& stretch = order_->stretches[StretchAt(from)];
  for (const Span& span : stretch.open) {
    if (is_drawn(span)) folder->Add(span);
  }
  for (uint32_t place = stretch.first; place < order_->count; ++place) {
    const Span span = SpanAt(place);
    if (span.start >= to) break;
    if (is_drawn(span)) folder->Add(span);
    if (folder->size() > most) return false;
  }
  return true;
}

// Returns the time in [from, to) in which a span of the stretch, or one that is open at its begin,
// ran.
double SpanTrack::Covered(size_t stretch, double from, double to) const {
  double covered = from, busy = 0;
  const auto cover = [&](const Span& span) {
    const double begin = std::max(span.start, covered), until = std::min(span.end, to);
    if (until <= begin) return;
    busy += until - begin;
    covered = until;
  };
  for (const Span& span : order_->stretches[stretch].open) cover(span);
  for (uint32_t place = order_->stretches[stretch].first; place < EndOf(stretch); ++place) {
    const Span span = SpanAt(place);
    if (span.start >= to) break;
    cover(span);
  }
  return busy;
}

const NameSums& SpanTrack::SumsOf(size_t stretch, NameSums* made) const {
  if (order_->stretches[stretch].has_sums) return order_->stretches[stretch].sums;
  for (uint32_t place = order_->stretches[stretch].first; place < EndOf(stretch); ++place)
    made->AddWhole(SpanAt(place));
  return *made;
}

double SpanTrack::SumRange(double start, double end, NameSums* sums) {
  Summarize();
  if (order_->count == 0 || end <= start) return 0;
  const auto add_cut = [&](size_t stretch) {
    for (uint32_t place = order_->stretches[stretch].first; place < EndOf(stretch); ++place) {
      const Span span = SpanAt(place);
      if (span.start >= end) return;
      sums->AddCut(span, start, end);
    }
  };
  const size_t begin = StretchAt(start), stop = StretchAt(end);
  const std::vector<Stretch>& all = order_->stretches;
  for (const Span& span : all[begin].open) sums->AddCut(span, start, end);
  add_cut(begin);
  const double border = begin + 1 < all.size() ? all[begin + 1].from : kInfinity;
  double busy = Covered(begin, start, std::min(end, border));
  if (begin == stop) return busy;
  for (size_t i = begin + 1; i < stop; ++i) {
    NameSums made;
    sums->AddSums(SumsOf(i, &made));
    busy += all[i].busy;
  }
  // Spans of the stretches between were added whole: those that reach beyond the end are cut.
  for (const Span& span : all[stop].open) {
    if (span.start >= border && span.end > end)
      sums->Take(span.name, (span.end - end) * span.weight);
  }
  add_cut(stop);
  return busy + Covered(stop, all[stop].from, end);
}

void SpanTrack::SumAll(NameSums* sums) {
  Summarize();
  for (size_t i = 0; i < order_->stretches.size(); ++i) {
    NameSums made;
    sums->AddSums(SumsOf(i, &made));
  }
}

void SpanTrack::Within(double start, double end, const std::function<void(const Span&)>& take) {
  Summarize();
  if (order_->count == 0) return;
  const Stretch& stretch = order_->stretches[StretchAt(start)];
  for (const Span& span : stretch.open) {
    if (span.end > start) take(span);
  }
  for (uint32_t place = stretch.first; place < order_->count; ++place) {
    const Span span = SpanAt(place);
    if (span.start >= end) return;
    if (span.end > start || span.start >= start) take(span);
  }
}

std::optional<Span> SpanTrack::At(double time) {
  Summarize();
  std::optional<Span> found;
  if (order_->count == 0) return found;
  const Stretch& stretch = order_->stretches[StretchAt(time)];
  for (const Span& span : stretch.open) {
    if (span.end > time) found = span;
  }
  for (uint32_t place = stretch.first; place < order_->count; ++place) {
    const Span span = SpanAt(place);
    if (span.start > time) break;
    if (span.end > time || (span.end == time && span.start == time)) found = span;
  }
  return found;
}

std::vector<Span> SpanTrack::Around(double time) {
  Summarize();
  std::vector<Span> found;
  if (order_->count == 0) return found;
  const auto add = [&](const Span& span) {
    if (span.end > time) found.push_back(span);
  };
  const Stretch& stretch = order_->stretches[StretchAt(time)];
  for (const Span& span : stretch.open) add(span);
  for (uint32_t place = stretch.first; place < order_->count; ++place) {
    const Span span = SpanAt(place);
    if (span.start > time) break;
    add(span);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Span& x, const Span& y) { return x.lane < y.lane; });
  return found;
}

void SpanTrack::Each(double start, double end, const std::function<bool(const Span&)>& take) {
  Summarize();
  for (uint32_t place = LowerBound(start); place < order_->count; ++place) {
    const Span span = SpanAt(place);
    if (span.start > end || !take(span)) return;
  }
}

std::vector<Span> SpanTrack::Find(const std::unordered_set<uint32_t>& names, size_t most) {
  Summarize();
  std::vector<Span> found;
  for (size_t i = 0; i < order_->stretches.size() && found.size() < most; ++i) {
    const Stretch& stretch = order_->stretches[i];
    const bool may_have =
        !stretch.has_sums ||
        std::any_of(stretch.sums.by_name().begin(), stretch.sums.by_name().end(),
                    [&](const auto& each) { return names.count(each.first) != 0; });
    if (!may_have) continue;
    for (uint32_t place = stretch.first; place < EndOf(i) && found.size() < most; ++place) {
      const Span span = SpanAt(place);
      if (names.count(span.name) != 0) found.push_back(span);
    }
  }
  return found;
}

std::optional<Span> SpanTrack::Row(uint32_t row) const {
  if (row >= rows_ || !reader_.IsSpan(row)) return std::nullopt;
  return reader_.At(row);
}

}  // namespace gpuprof::analysis::timeline
