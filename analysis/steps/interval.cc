// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See interval.h.

#include "analysis/steps/interval.h"

#include <algorithm>
#include <utility>

#include "analysis/base/sort_lists.h"

namespace gpuprof::analysis {
namespace {

bool BeginsBefore(const Interval& a, const Interval& b) { return a.start < b.start; }

}  // namespace

std::vector<Interval> UnionOf(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.end <= i.start; });
  SortLists(&intervals, BeginsBefore);
  size_t kept = 0;
  for (const Interval& interval : intervals) {
    if (kept > 0 && interval.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
  return intervals;
}

// In pairs: an interval is moved as often as the lists can be halved, and never sorted.
std::vector<Interval> UnionOfAll(std::vector<std::vector<Interval>> lists) {
  for (size_t step = 1; step < lists.size(); step *= 2) {
    for (size_t i = 0; i + step < lists.size(); i += 2 * step) {
      const std::vector<Interval> one = std::move(lists[i]);
      const std::vector<Interval> other = std::move(lists[i + step]);
      std::vector<Interval> both(one.size() + other.size());
      std::merge(one.begin(), one.end(), other.begin(), other.end(), both.begin(), BeginsBefore);
      lists[i] = UnionOf(std::move(both));
    }
  }
  return lists.empty() ? std::vector<Interval>() : std::move(lists.front());
}

std::vector<Interval> CoveredTwice(const std::vector<Interval>& intervals) {
  std::vector<int64_t> starts, ends;
  starts.reserve(intervals.size());
  ends.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.start) continue;
    starts.push_back(interval.start);
    ends.push_back(interval.end);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  std::vector<Interval> covered;
  int open = 0;
  auto start = starts.begin();
  for (const int64_t end : ends) {
    // At the same moment what ends comes first: intervals that touch do not overlap.
    for (; start != starts.end() && *start < end; ++start)
      if (++open == 2) covered.push_back({*start, *start});
    if (--open == 1) covered.back().end = end;
  }
  return UnionOf(std::move(covered));
}

std::vector<Interval> Intersection(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> both;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const Interval common = {std::max(a[i].start, b[k].start), std::min(a[i].end, b[k].end)};
    if (common.start < common.end) both.push_back(common);
    a[i].end < b[k].end ? ++i : ++k;
  }
  return both;
}

int64_t TotalLength(std::span<const Interval> disjoint) {
  int64_t length = 0;
  for (const Interval& interval : disjoint) length += interval.length();
  return length;
}

int64_t CoveredLength(std::span<const Interval> disjoint, Interval window) {
  auto at = std::upper_bound(disjoint.begin(), disjoint.end(), window.start,
                             [](int64_t time, const Interval& i) { return time < i.end; });
  int64_t covered = 0;
  for (; at != disjoint.end() && at->start < window.end; ++at) {
    covered += std::min(at->end, window.end) - std::max(at->start, window.start);
  }
  return covered;
}

std::string_view CategoryName(Category category) {
  constexpr std::string_view kNames[] = {"input",     "forward", "backward", "optimizer",
                                         "lock_wait", "blocked", "other"};
  return kNames[static_cast<size_t>(category)];
}

std::string_view CategoryMeaning(Category category) {
  constexpr std::string_view kMeanings[] = {
      "waiting for the loader's batch",       "all other operations",
      "autograd, here or on its own thread",  "optimizer step, zeroing gradients",
      "no operation: waiting for a lock",     "no operation: waiting for something else",
      "no operation: Python, other host code"};
  return kMeanings[static_cast<size_t>(category)];
}

void CategoryTimeline::FillGaps(std::span<const Interval> disjoint, Category category) {
  std::vector<Segment> filled;
  filled.reserve(segments_.size() + disjoint.size());
  size_t next = 0;
  for (const Interval& interval : disjoint) {
    int64_t cursor = interval.start;
    while (next < segments_.size() && segments_[next].start < interval.end) {
      const Segment& segment = segments_[next];
      if (segment.start > cursor) filled.push_back({cursor, segment.start, category});
      cursor = std::max(cursor, segment.end);
      // A segment that reaches beyond this interval may touch the next one too.
      if (segment.end > interval.end) break;
      filled.push_back(segment);
      ++next;
    }
    if (cursor < interval.end) filled.push_back({cursor, interval.end, category});
  }
  filled.insert(filled.end(), segments_.begin() + static_cast<ptrdiff_t>(next), segments_.end());
  segments_ = std::move(filled);
}

CategoryTimes CategoryTimeline::Split(Interval window) const {
  CategoryTimes times{};
  auto at = std::upper_bound(segments_.begin(), segments_.end(), window.start,
                             [](int64_t time, const Segment& s) { return time < s.end; });
  int64_t covered = 0;
  for (; at != segments_.end() && at->start < window.end; ++at) {
    const int64_t length = std::min(at->end, window.end) - std::max(at->start, window.start);
    times[static_cast<size_t>(at->category)] += length;
    covered += length;
  }
  times[static_cast<size_t>(Category::kOther)] += window.length() - covered;
  return times;
}

}  // namespace gpuprof::analysis
