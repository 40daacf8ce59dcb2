// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Half-open time intervals, and a timeline that gives every nanosecond at most one category. For
// the step detector and the breakdown of steps; plain data, any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::analysis {

struct Interval {
  int64_t start = 0;
  int64_t end = 0;
  int64_t length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

// Sorted and disjoint; empty and reversed intervals vanish.
std::vector<Interval> UnionOf(std::vector<Interval> intervals);

// Of lists that are sorted and disjoint each.
std::vector<Interval> UnionOfAll(std::vector<std::vector<Interval>> lists);

// What two or more of the intervals cover: sorted and disjoint.
std::vector<Interval> CoveredTwice(const std::vector<Interval>& intervals);

// What both cover; both sorted and disjoint.
std::vector<Interval> Intersection(std::span<const Interval> a, std::span<const Interval> b);

// Of disjoint intervals.
int64_t TotalLength(std::span<const Interval> disjoint);

// Length of `window` that `disjoint` (sorted) covers.
int64_t CoveredLength(std::span<const Interval> disjoint, Interval window);

// What a step's thread was doing. The order is that of tables and columns.
enum class Category : uint8_t {
  kInput,
  kForward,
  kBackward,
  kOptimizer,
  kLockWait,
  kBlocked,
  kOther
};
inline constexpr size_t kCategories = 7;
std::string_view CategoryName(Category category);
std::string_view CategoryMeaning(Category category);

using CategoryTimes = std::array<int64_t, kCategories>;

// Time not covered is kOther.
class CategoryTimeline {
 public:
  struct Segment {
    int64_t start;
    int64_t end;
    Category category;
    bool operator==(const Segment&) const = default;
  };

  CategoryTimeline() = default;
  // Sorted and disjoint.
  explicit CategoryTimeline(std::vector<Segment> segments) : segments_(std::move(segments)) {}

  // Gives `category` to what nothing covers yet of `disjoint` (sorted).
  void FillGaps(std::span<const Interval> disjoint, Category category);

  // Time of each category within the window; they sum up to its length.
  CategoryTimes Split(Interval window) const;

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  std::vector<Segment> segments_;
};

}  // namespace gpuprof::analysis
