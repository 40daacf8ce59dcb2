// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pyramid.h.

#include "analysis/timeline/pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuprof::analysis::timeline {
namespace {

// Returns the exponent of the greatest power of two that is not greater. `value` is positive.
int Exponent(double value) {
  int bits = 0;
  std::frexp(value, &bits);
  return bits - 1;
}

}  // namespace

size_t Pyramid::Columns::LowerBound(double time) const {
  return static_cast<size_t>(std::lower_bound(first_.begin(), first_.end(), time) - first_.begin());
}

void Pyramid::Columns::Add(double width, const GatheredSpans& spans) {
  const bool is_open =
      !first_.empty() && std::floor(first_.back() / width) == std::floor(spans.first / width);
  if (!is_open) {
    Finish();
    first_.push_back(spans.first);
    last_.push_back(spans.first);
    count_.push_back(0);
    name_.push_back(spans.name);
    row_.push_back(spans.row);
    last_cls_.push_back(0);
  }
  if (spans.last > last_.back()) {
    last_.back() = spans.last;
    last_cls_.back() = spans.last_cls;
  }
  count_.back() += spans.count;
  for (size_t cls = 0; cls < kSpanClasses; ++cls) open_[cls] += spans.times[cls];
}

void Pyramid::Columns::Finish() {
  if (times_from_.size() == first_.size()) return;
  times_from_.push_back(static_cast<uint32_t>(time_.size()));
  for (size_t cls = 0; cls < kSpanClasses; ++cls) {
    if (open_[cls] == 0) continue;
    time_.push_back(open_[cls]);
    time_cls_.push_back(static_cast<uint8_t>(cls));
  }
  open_.fill(0);
}

void Pyramid::Columns::Read(size_t i, GatheredSpans* to) const {
  to->first = first_[i];
  to->last = last_[i];
  to->name = name_[i];
  to->row = row_[i];
  to->count = count_[i];
  to->last_cls = last_cls_[i];
  to->times.fill(0);
  const size_t end = i + 1 < times_from_.size() ? times_from_[i + 1] : time_.size();
  for (size_t k = times_from_[i]; k < end; ++k) to->times[time_cls_[k]] = time_[k];
}

size_t Pyramid::Columns::bytes() const {
  return sizeof(Columns) + size() * (2 * sizeof(double) + 4 * sizeof(uint32_t) + 1) +
         time_.size() * (sizeof(double) + 1);
}

void Pyramid::AddTo(Level* level, double width, const Span& span) const {
  if (span.lane >= level->size()) level->resize(span.lane + size_t{1});
  GatheredSpans one;
  one.first = span.start;
  one.last = span.end;
  one.name = span.name;
  one.row = span.row;
  one.count = 1;
  one.last_cls = static_cast<uint8_t>(names_->cls(span.name));
  one.times.fill(0);
  one.times[one.last_cls] = span.end - span.start;
  (*level)[span.lane].Add(width, one);
}

void Pyramid::Add(const Span& span) {
  const double width = std::ldexp(1, bits_);
  if (span.end - span.start < width) return AddTo(&levels_[0], width, span);
  long_[Exponent(span.end - span.start)].push_back(span);
}

void Pyramid::Finish() {
  for (Columns& columns : levels_[0]) columns.Finish();
}

size_t Pyramid::bytes() const {
  size_t bytes = 0;
  for (const Level& level : levels_) {
    for (const Columns& columns : level) bytes += columns.bytes();
  }
  for (const auto& [bits, spans] : long_) bytes += spans.size() * sizeof(Span);
  return bytes;
}

// Makes all levels up to the one that is asked for.
Pyramid::Level& Pyramid::LevelOf(int bits) {
  while (static_cast<int>(levels_.size()) <= bits - bits_) {
    const int at = bits_ + static_cast<int>(levels_.size());
    const double width = std::ldexp(1, at);
    const Level& finer = levels_.back();
    Level made(finer.size());
    std::vector<size_t> next(finer.size(), 0);
    GatheredSpans spans;
    const auto merge = [&](size_t lane, double before) {
      for (; next[lane] < finer[lane].size() && finer[lane].first(next[lane]) < before;
           ++next[lane]) {
        finer[lane].Read(next[lane], &spans);
        made[lane].Add(width, spans);
      }
    };
    const auto found = long_.find(at - 1);
    if (found != long_.end()) {
      for (const Span& span : found->second) {
        if (span.lane < finer.size()) merge(span.lane, span.start);
        AddTo(&made, width, span);
      }
    }
    for (size_t lane = 0; lane < finer.size(); ++lane)
      merge(lane, std::numeric_limits<double>::infinity());
    for (Columns& columns : made) columns.Finish();
    levels_.push_back(std::move(made));
  }
  return levels_[static_cast<size_t>(bits - bits_)];
}

void Pyramid::Draw(const Zoom& zoom, double from, double to, Folder* folder) {
  // From this width on nothing is longer: every further level is alike but for its width.
  const Level& level = LevelOf(zoom.column_bits);
  struct Item {
    double start;
    size_t lane;
    size_t column;     // of the lane; no number: the span
    const Span* span;  // null: the column
  };
  std::vector<Item> items;
  for (size_t lane = 0; lane < level.size(); ++lane) {
    const Columns& columns = level[lane];
    for (size_t i = columns.LowerBound(from); i < columns.size() && columns.first(i) < to; ++i)
      items.push_back({columns.first(i), lane, i, nullptr});
  }
  for (auto at = long_.lower_bound(zoom.column_bits); at != long_.end(); ++at) {
    const std::vector<Span>& spans = at->second;
    const double earliest = from - std::ldexp(1, at->first + 1);
    auto span = std::lower_bound(spans.begin(), spans.end(), earliest,
                                 [](const Span& each, double time) { return each.start < time; });
    for (; span != spans.end() && span->start < to; ++span) {
      const bool is_short = span->end - span->start < zoom.short_ns;
      if (span->start < from && (span->end <= from || is_short)) continue;
      items.push_back({span->start, span->lane, 0, &*span});
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& x, const Item& y) { return x.start < y.start; });
  GatheredSpans spans;
  for (const Item& item : items) {
    if (item.span != nullptr) {
      folder->Add(*item.span);
      continue;
    }
    level[item.lane].Read(item.column, &spans);
    spans.lane = item.lane;
    folder->Add(spans);
  }
}

}  // namespace gpuprof::analysis::timeline
