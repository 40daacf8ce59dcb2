// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_order.h.

#include "analysis/model/span_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace gpuprof::analysis {
namespace {

struct Key {
  uint64_t start;  // from the earliest start on
  uint32_t place;
};

constexpr uint32_t kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// Sorts by digits of the start, the least first, which keeps the order of equal starts.
void SortByStart(uint64_t most, std::vector<Key>* keys) {
  std::vector<Key> sorted(keys->size());
  const auto bits = static_cast<uint32_t>(std::bit_width(most));
  for (uint32_t shift = 0; shift < bits; shift += kDigitBits) {
    std::array<uint32_t, kDigits> places = {};
    for (const Key& key : *keys) ++places[key.start >> shift & (kDigits - 1)];
    uint32_t next = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = next;
      next += count;
    }
    for (const Key& key : *keys) sorted[places[key.start >> shift & (kDigits - 1)]++] = key;
    keys->swap(sorted);
  }
}

}  // namespace

std::vector<uint32_t> OutermostFirst(const std::vector<SpanNs>& spans) {
  const auto is_before = [](const SpanNs& x, const SpanNs& y) {
    return x.start != y.start ? x.start < y.start : x.end > y.end;
  };
  std::vector<uint32_t> order(spans.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Many come in order: that is cheap to see.
  if (std::is_sorted(spans.begin(), spans.end(), is_before)) return order;
  constexpr size_t kFew = 4096;
  if (spans.size() < kFew) {
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return is_before(spans[x], spans[y]); });
    return order;
  }
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  for (const SpanNs& span : spans) {
    first = std::min(first, span.start);
    last = std::max(last, span.start);
  }
  const auto since_first = [first](int64_t time) {
    return static_cast<uint64_t>(time) - static_cast<uint64_t>(first);
  };
  std::vector<Key> keys;
  keys.reserve(spans.size());
  for (uint32_t i = 0; i < spans.size(); ++i) keys.push_back({since_first(spans[i].start), i});
  SortByStart(since_first(last), &keys);
  for (size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].place;
  for (size_t begin = 0; begin < keys.size();) {
    size_t end = begin + 1;
    while (end < keys.size() && keys[end].start == keys[begin].start) ++end;
    if (end - begin > 1) {
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                       order.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](uint32_t x, uint32_t y) { return spans[x].end > spans[y].end; });
    }
    begin = end;
  }
  return order;
}

SpanNesting NestingOf(const std::vector<SpanNs>& spans) {
  const std::vector<uint32_t> order = OutermostFirst(spans);
  SpanNesting nesting;
  nesting.depths.resize(spans.size());
  nesting.by_end.reserve(spans.size());
  std::vector<uint32_t> open;
  const auto close = [&] {
    nesting.by_end.push_back(open.back());
    open.pop_back();
  };
  for (const uint32_t place : order) {
    while (!open.empty() && spans[open.back()].end <= spans[place].start) close();
    nesting.depths[place] = static_cast<uint32_t>(open.size());
    open.push_back(place);
  }
  while (!open.empty()) close();
  // Spans that lie in each other were closed in the order of their ends. Spans that cross were not.
  const auto ends_before = [&](uint32_t x, uint32_t y) {
    return spans[x].end != spans[y].end ? spans[x].end < spans[y].end
                                        : nesting.depths[x] > nesting.depths[y];
  };
  for (size_t i = 1; i < nesting.by_end.size(); ++i) {
    if (ends_before(nesting.by_end[i - 1], nesting.by_end[i])) continue;
    nesting.by_end = order;
    std::stable_sort(nesting.by_end.begin(), nesting.by_end.end(), ends_before);
    break;
  }
  return nesting;
}

}  // namespace gpuprof::analysis
