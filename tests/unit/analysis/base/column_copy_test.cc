// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a column in bulk, whatever width their segments have, and large columns.

#include "analysis/base/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace gpuprof::analysis {
namespace {

// One segment for each number of bytes that a distance may need, none included.
std::vector<std::vector<uint64_t>> SegmentsOfAllWidths() {
  std::vector<std::vector<uint64_t>> segments;
  for (int width = 0; width <= 8; ++width) {
    const uint64_t most = width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width);
    const uint64_t base = width == 8 ? 0 : 1000;
    std::vector<uint64_t>& values = segments.emplace_back();
    for (uint64_t i = 0; i <= 100; ++i) values.push_back(base + most / 100 * i);
    values.push_back(base + most);
  }
  return segments;
}

TEST(Column, CopiesRowsOfSegmentsOfAllWidths) {
  const std::vector<std::vector<uint64_t>> segments = SegmentsOfAllWidths();
  std::vector<uint64_t> expected;
  Column<uint64_t> column;
  column.Plan(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    expected.insert(expected.end(), segments[i].begin(), segments[i].end());
    std::vector<uint64_t> values = segments[i];
    column.Store(i, values.data(), values.size());
  }
  column.Finish();
  ASSERT_EQ(column.size(), expected.size());
  const Column<uint64_t> copy = column;
  for (const size_t first : {size_t{0}, size_t{1}, size_t{50}, size_t{150}}) {
    std::vector<uint64_t> rows(expected.size() - 2 * first);
    column.Copy(first, rows.size(), rows.data());
    const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), from)) << first;
  }
  EXPECT_TRUE(copy == column);
}

TEST(Column, CopiesNegativeValuesAndOpenRows) {
  Column<int64_t> column;
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 10'000; ++i) {
    expected.push_back((i - 5000) * 77);
    column.push_back(expected.back());
  }
  const Column<int64_t> copy = column;
  std::vector<int64_t> rows(expected.size());
  column.Copy(0, rows.size(), rows.data());
  EXPECT_EQ(rows, expected);
  EXPECT_TRUE(copy == column);
}

// Its memory comes in chunks of many sizes, the last of them on huge pages.
TEST(Column, KeepsTensOfMegabytes) {
  constexpr size_t kSegments = 300;
  constexpr size_t kRows = 20'011;
  Column<uint32_t> column;
  column.Plan(kSegments);
  std::vector<uint64_t> values(kRows);
  for (size_t segment = 0; segment < kSegments; ++segment) {
    std::iota(values.begin(), values.end(), segment * 1000);
    values.back() = ~uint32_t{0};
    column.Store(segment, values.data(), kRows);
  }
  column.Finish();
  ASSERT_EQ(column.size(), kSegments * kRows);
  std::vector<uint32_t> rows(kRows);
  std::vector<uint32_t> expected(kRows);
  for (size_t segment = 0; segment < kSegments; ++segment) {
    std::iota(expected.begin(), expected.end(), static_cast<uint32_t>(segment * 1000));
    expected.back() = ~uint32_t{0};
    column.Copy(segment * kRows, kRows, rows.data());
    ASSERT_EQ(rows, expected) << segment;
  }
}

// Rows that count from `first` on.
Column<int64_t> CountingColumn(int64_t first, size_t rows) {
  Column<int64_t> column;
  for (size_t i = 0; i < rows; ++i) column.push_back(first + static_cast<int64_t>(i));
  return column;
}

TEST(Column, ACopyDoesNotSeeLaterChanges) {
  Column<int64_t> column = CountingColumn(0, 5'000);
  const Column<int64_t> copy = column;
  column.push_back(77);
  EXPECT_EQ(copy.size(), 5'000u);
  EXPECT_EQ(column.size(), 5'001u);
  EXPECT_EQ(column.back(), 77);
  column.Rewrite([](size_t, int64_t value) { return value + 1; });
  EXPECT_EQ(copy[4'999], 4'999);
  EXPECT_EQ(column[4'999], 5'000);
}

TEST(Column, PicksRunsOfRowsInTheirOrder) {
  const Column<int64_t> column = CountingColumn(-300, 10'000);
  // Short runs are packed, long ones lie in several segments, the last one in open rows.
  const std::vector<RowRun> runs = {{0, 1}, {3, 5}, {100, 9'000}, {9'001, 9'002}, {9'500, 10'000}};
  std::vector<int64_t> expected;
  for (const RowRun& run : runs) {
    for (size_t row = run.first; row < run.end; ++row)
      expected.push_back(static_cast<int64_t>(row) - 300);
  }
  const Column<int64_t> picked = column.Pick(runs);
  EXPECT_EQ(std::vector<int64_t>(picked.begin(), picked.end()), expected);
  std::vector<int64_t> copied(expected.size());
  picked.Copy(0, copied.size(), copied.data());
  EXPECT_EQ(copied, expected);
  EXPECT_TRUE(column.Pick({}).empty());
}

TEST(Column, LongRunsShareTheMemoryThatOutlivesTheirColumn) {
  Column<int64_t> picked;
  {
    const Column<int64_t> column = CountingColumn(1'000'000, 10'000);
    picked = column.Pick(std::vector<RowRun>{{1'000, 9'000}});
    const ColumnSegment& from = column.segments()[1];
    EXPECT_EQ(picked.segments()[1].bytes, from.bytes);
  }
  EXPECT_EQ(picked.front(), 1'001'000);
  EXPECT_EQ(picked.back(), 1'008'999);
  picked.push_back(-1);
  EXPECT_EQ(picked[7'999], 1'008'999);
  EXPECT_EQ(picked.back(), -1);
}

TEST(Column, NoValueIsOutsideOfItsZone) {
  const std::vector<std::vector<uint64_t>> segments = SegmentsOfAllWidths();
  Column<uint64_t> column;
  column.Plan(segments.size());
  for (size_t i = 0; i < segments.size(); ++i)
    column.Store(i, segments[i].data(), segments[i].size());
  column.Finish();
  size_t first = 0;
  for (const std::vector<uint64_t>& values : segments) {
    const Column<uint64_t>::Zone zone = column.ZoneOf({first, first + values.size()});
    EXPECT_EQ(zone.least, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(zone.most, *std::max_element(values.begin(), values.end()));
    first += values.size();
  }
  Column<int32_t> open = {-5, 7};
  EXPECT_LE(open.ZoneOf({0, 2}).least, -5);
  EXPECT_GE(open.ZoneOf({0, 2}).most, 7);
  Column<int64_t> closed = CountingColumn(-4'096, 4'097);
  EXPECT_EQ(closed.ZoneOf({0, 4'096}).least, -4'096);
  EXPECT_EQ(closed.ZoneOf({0, 4'096}).most, -1);
}

}  // namespace
}  // namespace gpuprof::analysis
