// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a column in bulk, whatever width their segments have, and large columns.

#include "analysis/base/column.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpuprof::analysis
