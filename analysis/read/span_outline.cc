// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_outline.h.

#include "analysis/read/span_outline.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Of spans that begin together, the longest comes first.
bool IsBefore(const OutlineSpan& x, const OutlineSpan& y) {
  if (x.start != y.start) return x.start < y.start;
  return x.end != y.end ? x.end > y.end : x.row > y.row;
}

// Returns the time in [from, to) in which a span ran. Spans come by their start, and so do those
// that are open where the stretch begins.
int64_t BusyIn(const std::vector<OpenSpan>& open, const std::vector<OutlineSpan>& spans,
               int64_t from, int64_t to) {
  int64_t covered = from, busy = 0;
  const auto cover = [&](const OutlineSpan& span) {
    const int64_t begin = std::max(span.start, covered), until = std::min(span.end, to);
    if (until <= begin) return;
    busy += until - begin;
    covered = until;
  };
  for (const OpenSpan& each : open) cover(each.span);
  for (const OutlineSpan& span : spans) cover(span);
  return busy;
}

}  // namespace

OutlineBuilder::OutlineBuilder(int64_t first, int64_t last, uint32_t columns)
    : ends_(kMostLanes, kBeforeAll), last_(kMostLanes), open_(kMostLanes) {
  const auto span = static_cast<uint64_t>(std::max<int64_t>(last - first, 1));
  made_.bits = std::max(static_cast<int>(std::bit_width(span / columns)) - 1, 0);
  for (OutlineSpan& each : last_) each.end = kBeforeAll;
}

// Sorts by digits of the start, because most tracks come by their ends: nearly, but not quite.
void OutlineBuilder::Sort(std::vector<OutlineSpan>* spans) {
  if (std::is_sorted(spans->begin(), spans->end(), IsBefore)) return;
  constexpr int kBits = 11;
  constexpr uint64_t kDigits = 1u << kBits;
  const auto [least, most] = std::minmax_element(
      spans->begin(), spans->end(), [](const auto& x, const auto& y) { return x.start < y.start; });
  const int64_t first = least->start;
  const auto range = static_cast<uint64_t>(most->start - first);
  sorted_.resize(spans->size());
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += kBits) {
    places_.assign(kDigits, 0);
    const auto digit = [&](const OutlineSpan& span) {
      return static_cast<uint64_t>(span.start - first) >> shift & (kDigits - 1);
    };
    for (const OutlineSpan& span : *spans) ++places_[digit(span)];
    uint32_t next = 0;
    for (uint32_t& place : places_) next += std::exchange(place, next);
    for (const OutlineSpan& span : *spans) sorted_[places_[digit(span)]++] = span;
    spans->swap(sorted_);
  }
  for (auto begin = spans->begin(); begin != spans->end();) {
    auto until = begin + 1;
    while (until != spans->end() && until->start == begin->start) ++until;
    std::sort(begin, until, IsBefore);
    begin = until;
  }
}

std::vector<OpenSpan> OutlineBuilder::OpenAt(int64_t time) const {
  std::vector<OpenSpan> open;
  for (uint32_t lane = 0; lane < kMostLanes; ++lane) {
    if (last_[lane].end > time) open.push_back({last_[lane], lane});
  }
  std::stable_sort(open.begin(), open.end(), [](const OpenSpan& x, const OpenSpan& y) {
    return x.span.start != y.span.start ? x.span.start < y.span.start : x.lane < y.lane;
  });
  return open;
}

uint32_t OutlineBuilder::TakeLane(const OutlineSpan& span) {
  uint32_t top = top_;
  while (top > 0 && ends_[top - 1] <= span.start) --top;
  uint32_t lane = 0;
  while (lane < top && ends_[lane] > span.start) ++lane;
  lane = std::min(lane, kMostLanes - 1);
  ends_[lane] = span.end;
  last_[lane] = span;
  top_ = lane >= top ? lane + 1 : top;
  most_ = std::max(most_, top_);
  return lane;
}

void OutlineBuilder::Flush(uint32_t lane) {
  OpenColumn& open = open_[lane];
  if (open.column.count == 0) return;
  OutlineLane& to = made_.lanes[lane];
  for (uint32_t cls = 0; cls < kMostClasses; ++cls) {
    if (open.by_class[cls] == 0) continue;
    to.times.push_back({static_cast<uint8_t>(cls), open.by_class[cls]});
    ++open.column.classes;
  }
  to.columns.push_back(open.column);
  open = OpenColumn();
}

void OutlineBuilder::Draw(const OutlineSpan& span, uint32_t lane, uint8_t cls) {
  const int64_t duration = span.end - span.start;
  if (duration >= int64_t{1} << made_.bits) {
    made_.longs.push_back({span, lane});
    return;
  }
  if (lane >= made_.lanes.size()) made_.lanes.resize(lane + 1);
  const int64_t place = span.start >> made_.bits;
  OpenColumn& open = open_[lane];
  if (open.column.count != 0 && open.column.place != place) Flush(lane);
  OutlineColumn& column = open.column;
  if (column.count == 0) {
    column.place = place;
    column.first = span.start;
    column.last = span.start;
    column.name = span.name;
    column.row = span.row;
  }
  if (span.end > column.last) {
    column.last = span.end;
    column.last_class = cls;
  }
  column.busy += duration;
  ++column.count;
  open.by_class[cls % kMostClasses] += duration;
}

void OutlineBuilder::Sum(const std::vector<OutlineSpan>& spans, OutlineStretch* stretch) {
  for (const OutlineSpan& span : spans) {
    if (span.name >= sums_.size()) sums_.resize(span.name + 1);
    OutlineSums& sums = sums_[span.name];
    const int64_t duration = span.end - span.start;
    if (sums.count == 0) {
      named_.push_back(span.name);
      sums.least = duration;
    }
    sums.count += span.weight;
    sums.total += duration * span.weight;
    made_.most_weight = std::max(made_.most_weight, span.weight);
    sums.least = std::min(sums.least, duration);
    sums.most = std::max(sums.most, duration);
  }
  for (const uint32_t name : named_) {
    sums_[name].name = name;
    stretch->sums.push_back(std::exchange(sums_[name], OutlineSums()));
  }
  named_.clear();
}

void OutlineBuilder::AddStretch(int64_t from, int64_t to, std::vector<OutlineSpan>* spans,
                                const std::vector<uint8_t>& classes) {
  OutlineStretch& stretch = made_.stretches.emplace_back();
  stretch.from = from;
  stretch.to = to;
  stretch.open = OpenAt(from);
  Sort(spans);
  for (const OutlineSpan& span : *spans) Draw(span, TakeLane(span), classes[span.name]);
  Sum(*spans, &stretch);
  stretch.busy = BusyIn(stretch.open, *spans, from, to);
}

Outline OutlineBuilder::Finish() {
  for (uint32_t lane = 0; lane < kMostLanes; ++lane) Flush(lane);
  made_.depth = std::max<uint32_t>(most_, 1);
  return std::move(made_);
}

}  // namespace gpuprof::analysis
