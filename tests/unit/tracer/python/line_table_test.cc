// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables are those of one function, as each version of CPython compiled it. So are the lines,
// by dis.findlinestarts() and co_lines().

#include "tracer/python/line_table.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gpuprof::tracer {
namespace {

struct Table {
  LineFormat format;
  uint32_t code_bytes;
  std::vector<uint8_t> bytes;
  // From each offset on, up to the next, this line.
  std::vector<std::pair<uint32_t, int32_t>> lines;
};

void Check(const Table& table) {
  for (size_t i = 0; i < table.lines.size(); ++i) {
    const uint32_t end = i + 1 < table.lines.size() ? table.lines[i + 1].first : table.code_bytes;
    for (uint32_t offset = table.lines[i].first; offset < end; offset += 2) {
      EXPECT_EQ(LineAt(table.format, table.bytes.data(), static_cast<uint32_t>(table.bytes.size()),
                       2, offset),
                table.lines[i].second)
          << offset;
    }
  }
}

TEST(LineTableTest, ReadsPairs) {
  Check({LineFormat::kPairs,
         62,
         {0, 2,   4, 1,   12, 1,  2, 1, 2, 1, 2, 255, 2, 255,
          6, 127, 0, 127, 0,  52, 8, 0, 6, 1, 6, 1,   6, 255},
         {{0, 4},
          {4, 5},
          {16, 6},
          {18, 7},
          {20, 8},
          {22, 7},
          {24, 6},
          {30, 312},
          {44, 313},
          {50, 314},
          {56, 313}}});
}

TEST(LineTableTest, ReadsRanges) {
  Check(
      {LineFormat::kRanges,
       62,
       {4, 2, 12, 1, 2, 1, 2, 1, 2, 1, 2, 255, 6, 255, 0, 127, 0, 127, 14, 52, 6, 1, 6, 1, 6, 255},
       {{0, 4},
        {4, 5},
        {16, 6},
        {18, 7},
        {20, 8},
        {22, 7},
        {24, 6},
        {30, 312},
        {44, 313},
        {50, 314},
        {56, 313}}});
}

TEST(LineTableTest, TellsARangeWithoutLine) {
  Check({LineFormat::kRanges, 8, {2, 0, 4, 128, 2, 3}, {{0, 2}, {2, 0}, {6, 5}}});
}

TEST(LineTableTest, ReadsLocations) {
  Check({LineFormat::kLocations,
         140,
         {128, 0,   224, 12,  13, 128, 69, 220, 13,  18,  144, 49, 142, 88,  136, 1,   216,
          8,   13,  216, 12,  13, 216, 12, 13,  241, 3,   1,   13, 14,  241, 3,   2,   9,
          15,  138, 5,   241, 3,  0,   14, 22,  240, 102, 9,   0,  8,   13,  136, 113, 131,
          121, 152, 53,  152, 38, 144, 37, 228, 21,  26,  152, 53, 148, 92,  243, 3,   1,
          12,  35,  217, 21,  33, 144, 1,  243, 3,   0,   13,  14, 217, 21,  33,  241, 3,
          1,   12,  35,  240, 0,  1,   5,  35,  249, 242, 0,   1,  12,  35},
         {{0, 2},
          {2, 4},
          {6, 5},
          {34, 6},
          {36, 7},
          {38, 8},
          {40, 7},
          {44, 6},
          {54, 5},
          {58, 312},
          {76, 314},
          {98, 313},
          {106, 314},
          {112, 313},
          {120, 314},
          {124, 313},
          {130, 0},
          {134, 313}}});
}

TEST(LineTableTest, ReadsNoByteBehindACutTable) {
  const std::vector<uint8_t> whole = {128, 0, 224, 12, 13, 240, 102, 9, 0, 8, 13};
  for (uint32_t bytes = 0; bytes <= whole.size(); ++bytes) {
    // In memory of its own, for the sanitizer.
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + bytes);
    EXPECT_EQ(LineAt(LineFormat::kLocations, cut.data(), bytes, 2, 1000), 0);
    EXPECT_LE(LineAt(LineFormat::kRanges, cut.data(), bytes, 2, 1000), 400);
    EXPECT_LE(LineAt(LineFormat::kPairs, cut.data(), bytes, 2, 1000), 400);
  }
}

}  // namespace
}  // namespace gpuprof::tracer
