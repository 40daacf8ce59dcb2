// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Event chunks: every table's rows come back through the column reader and through libprotobuf
// alike, edges included.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

struct Case {
  ChunkKind kind;
  uint32_t time_shift;
};

class ChunkRoundTrip : public testing::TestWithParam<Case> {
 protected:
  const proto::TableSpec& table() const { return *proto::FindTable(GetParam().kind); }
  size_t columns() const { return static_cast<size_t>(table().columns); }

  // Writes the rows as one chunk of a file and compares both ways of reading with what is expected.
  void Check(const std::vector<Row>& rows) {
    const TempFolder folder;
    const std::string path = folder / "p1-1.gpt";
    TraceWriter writer;
    ASSERT_TRUE(writer.Create(path.c_str(), TestHeader()));
    ChunkBuilder builder(GetParam().kind, 7, GetParam().time_shift);
    std::vector<Row> expected;
    for (const Row& row : rows) {
      AppendRow(&builder, row);
      expected.push_back(Expected(table(), row, GetParam().time_shift));
    }
    builder.AddDropped(3);
    ASSERT_TRUE(writer.WriteEvents(&builder, 2, 99));
    EXPECT_EQ(builder.count(), 0u);
    writer.Close();

    const std::vector<uint8_t> file = ReadBytes(path);
    EXPECT_EQ(ReadRows(file, 7, GetParam().kind), expected);
    const proto::Trace trace = ParseAll(file);
    ASSERT_EQ(trace.chunk_size(), 1);
    const proto::Chunk& chunk = trace.chunk(0);
    EXPECT_EQ(chunk.kind(), static_cast<uint32_t>(GetParam().kind));
    EXPECT_EQ(chunk.track(), 7u);
    EXPECT_EQ(chunk.count(), rows.size());
    EXPECT_EQ(chunk.capture(), 2u);
    EXPECT_EQ(chunk.dropped_before(), 3u);
    EXPECT_EQ(chunk.time_shift(), GetParam().time_shift);
    EXPECT_EQ(RowsOf(chunk), expected);
    // Nothing that this schema does not know.
    EXPECT_TRUE(chunk.GetReflection()->GetUnknownFields(chunk).empty());
  }
};

TEST_P(ChunkRoundTrip, RandomValuesOfEveryWidth) {
  std::mt19937_64 random(42);
  std::vector<Row> rows;
  for (int i = 0; i < 5000; ++i) {
    Row row(columns());
    for (uint64_t& value : row) value = random() >> (random() % 64);
    rows.push_back(row);
  }
  Check(rows);
}

TEST_P(ChunkRoundTrip, SmallStepsAsInLife) {
  std::mt19937_64 random(43);
  std::vector<Row> rows;
  uint64_t time = 123'456'789'012;
  for (int i = 0; i < 20'000; ++i) {
    time += random() % 3000;
    Row row(columns());
    row[0] = time;
    for (size_t c = 1; c < columns(); ++c) row[c] = random() % 300;
    rows.push_back(row);
  }
  Check(rows);
}

TEST_P(ChunkRoundTrip, EdgeValues) {
  const uint64_t edges[] = {0,
                            1,
                            63,
                            64,
                            127,
                            128,
                            1u << 31,
                            ~uint64_t{0} >> 1,
                            uint64_t{1} << 63,
                            ~uint64_t{0} - 1,
                            ~uint64_t{0}};
  std::vector<Row> rows;
  for (const uint64_t x : edges) {
    for (const uint64_t y : edges) {
      Row row(columns(), y);
      row[0] = x;
      rows.push_back(row);
      rows.push_back(Row(columns(), x));
    }
  }
  Check(rows);
}

TEST_P(ChunkRoundTrip, TimeGoesBackAndWraps) {
  std::vector<Row> rows;
  for (const uint64_t time :
       {uint64_t{1000}, ~uint64_t{0}, uint64_t{0}, uint64_t{5}, uint64_t{1} << 63, uint64_t{999}}) {
    Row row(columns(), 1);
    row[0] = time;
    rows.push_back(row);
  }
  Check(rows);
}

TEST_P(ChunkRoundTrip, AllZeroColumnsAreLeftOut) {
  std::vector<Row> rows(1000, Row(columns(), 0));
  for (Row& row : rows) row[0] = 5'000'000;
  Check(rows);
  ChunkBuilder builder(GetParam().kind, 1, GetParam().time_shift);
  for (const Row& row : rows) AppendRow(&builder, row);
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  EXPECT_LT(bytes.size(), 40u);
}

TEST_P(ChunkRoundTrip, AColumnThatBeginsLate) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 3000; ++i) {
    Row row(columns(), i < 2990 ? 0 : i);
    row[0] = 1000 + i;
    rows.push_back(row);
  }
  Check(rows);
}

TEST_P(ChunkRoundTrip, OneRow) { Check({Row(columns(), 77)}); }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const proto::TableSpec& table : proto::kTables) {
    for (const uint32_t shift : {0u, 5u, 20u}) cases.push_back({table.kind, shift});
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  return std::string(proto::FindTable(info.param.kind)->name) + "_shift" +
         std::to_string(info.param.time_shift);
}

INSTANTIATE_TEST_SUITE_P(AllTables, ChunkRoundTrip, testing::ValuesIn(Cases()), CaseName);

TEST(ChunkBuilder, TellsItsTimeRange) {
  ChunkBuilder builder(ChunkKind::kOp, 1, 5);
  const uint64_t early[] = {1000, 900, 2, 0};
  const uint64_t late[] = {5000, 10, 2, 0};
  builder.Append(late, 4990);
  builder.Append(early, 100);
  EXPECT_EQ(builder.first_time(), 100u);
  EXPECT_EQ(builder.last_time(), 5000u);
}

TEST(ChunkBuilder, ADurationLongerThanTheClockIsCut) {
  ChunkBuilder builder(ChunkKind::kOp, 1, 0);
  const uint64_t row[] = {1000, 5000, 2, 0};
  builder.Append(row, 1000 - 5000);
  EXPECT_EQ(builder.first_time(), 0u);
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  proto::Trace trace;
  ASSERT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(trace.chunk(0).c1(0), 1000);
}

TEST(ChunkBuilder, NestingSurvivesRounding) {
  // An inner span that ends in the same tick unit must not stick out of its outer one.
  std::mt19937_64 random(5);
  ChunkBuilder builder(ChunkKind::kOp, 1, 5);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t outer_start = 10'000 + static_cast<uint64_t>(i) * 1000 + random() % 100;
    const uint64_t inner_start = outer_start + random() % 100;
    const uint64_t inner_end = inner_start + random() % 100;
    const uint64_t outer_end = inner_end + random() % 100;
    const uint64_t inner[] = {inner_end, inner_end - inner_start, 2, 1u << 16};
    const uint64_t outer[] = {outer_end, outer_end - outer_start, 3, 0};
    builder.Append(inner, inner_start);
    builder.Append(outer, outer_start);
  }
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  proto::Trace trace;
  ASSERT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  const std::vector<Row> rows = RowsOf(trace.chunk(0));
  for (size_t i = 0; i < rows.size(); i += 2) {
    EXPECT_LE(rows[i][0], rows[i + 1][0]);
    EXPECT_GE(rows[i][0] - rows[i][1], rows[i + 1][0] - rows[i + 1][1]);
  }
}

// Kernels of one stream on a clock that steps by 32 ns, some of which begin before the one before
// has ended.
std::vector<Row> KernelsOnATick(uint64_t tick) {
  std::mt19937_64 random(9);
  std::vector<Row> rows;
  uint64_t end = 1'700'000'000'000'000'017;
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t duration = (100 + random() % 50) * tick;
    end += duration + (random() % 40) * tick;
    if (i % 100 == 99) end -= 30 * tick;
    rows.push_back({end, duration, 2 + random() % 7, 1000 + i, 3, i % 5});
  }
  return rows;
}

TEST(ChunkBuilder, ATickMakesTimesSmallAndKeepsThemExact) {
  for (const uint64_t tick : {uint64_t{1}, uint64_t{32}, uint64_t{1000}}) {
    const std::vector<Row> rows = KernelsOnATick(tick);
    ChunkBuilder builder(ChunkKind::kKernel, 1, 0);
    builder.SetTick({tick, 0, true});
    for (const Row& row : rows) AppendRow(&builder, row);
    const std::vector<uint8_t> file = FileOf(&builder);
    EXPECT_EQ(ReadRows(file, 1, ChunkKind::kKernel), rows);
    const proto::Trace trace = ParseAll(file);
    EXPECT_EQ(trace.chunk(0).tick(), tick == 1 ? 0 : tick);
    EXPECT_EQ(RowsOf(trace.chunk(0)), rows);
    EXPECT_EQ(trace.chunk(0).c0(0), 0) << "the first begins at base_time";
  }
}

// Across the row from which on one column of gaps is written alone, with varints of all lengths and
// columns that are zero for long.
TEST(ChunkBuilder, RowsGivenAtOnceAreAsRowsGivenOneByOne) {
  std::mt19937_64 random(5);
  for (const proto::TableSpec& table : proto::kTables) {
    if (table.feed != proto::Feed::kCupti) continue;
    std::vector<Row> rows;
    uint64_t time = 1'000'000'000'000;
    for (size_t i = 0; i < 9000; ++i) {
      time += random() >> (i % 1000 == 0 ? 20 : 56 - i / 100 % 2 * 8);
      Row row(static_cast<size_t>(table.columns));
      for (size_t column = 1; column < row.size(); ++column)
        row[column] = i < 100 * column ? 0 : random() >> (i / 500 % 2 == 0 ? 57 : random() % 64);
      row[0] = time;
      row[1] %= 1 << 20;
      row[2] %= 50;
      rows.push_back(row);
    }
    std::vector<const uint64_t*> places;
    for (const Row& row : rows) places.push_back(row.data());
    ChunkBuilder one_by_one(table.kind, 1, 0), at_once(table.kind, 1, 0),
        in_parts(table.kind, 1, 0);
    for (const Row& row : rows) AppendRow(&one_by_one, row);
    at_once.AppendRows(places.data(), 9000);
    in_parts.AppendRows(places.data(), 70);
    in_parts.AppendRows(places.data() + 70, 9000 - 70);
    EXPECT_EQ(at_once.first_time(), one_by_one.first_time());
    EXPECT_EQ(at_once.last_time(), one_by_one.last_time());
    const std::vector<uint8_t> expected = FileOf(&one_by_one);
    EXPECT_EQ(ReadRows(expected, 1, table.kind), rows) << table.name;
    EXPECT_TRUE(FileOf(&at_once) == expected) << table.name;
    EXPECT_TRUE(FileOf(&in_parts) == expected) << table.name;
  }
}

TEST(ChunkBuilder, ATickIsForOneChunk) {
  ChunkBuilder builder(ChunkKind::kKernel, 1, 0);
  builder.SetTick({32, 0, true});
  AppendRow(&builder, {3200, 320, 2, 0, 0, 0});
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  AppendRow(&builder, {3201, 33, 2, 0, 0, 0});
  bytes.clear();
  builder.Finish(1, &bytes);
  proto::Trace trace;
  ASSERT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(RowsOf(trace.chunk(0)), (std::vector<Row>{{3201, 33, 2, 0, 0, 0}}));
}

// A column that came with a later version of the format is 0 in rows that do not know it.
TEST(ChunkBuilder, ColumnsThatARowDoesNotReachAreZero) {
  ChunkBuilder builder(ChunkKind::kOp, 1, 0);
  const uint64_t next[] = {1000, 500, 2, 1, 77}, shorter[] = {2000, 500, 3};
  builder.Append(next, 500);
  builder.Append(std::span(next).first(3), 500);
  builder.Append(shorter, 1500);
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  proto::Trace trace;
  ASSERT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(RowsOf(trace.chunk(0)),
            (std::vector<Row>{{1000, 500, 2, 1, 77}, {1000, 500, 2, 0, 0}, {2000, 500, 3, 0, 0}}));
}

TEST(ChunkBuilder, KeepsLittleMemoryWhenItStartsAnew) {
  ChunkBuilder builder(ChunkKind::kHeap, 1, 0);
  for (uint64_t i = 0; i < proto::kRowsPerChunk; ++i) {
    const uint64_t row[] = {i * 1000, 2, i * 0x123456789, i, i};
    builder.Append(row, i * 1000);
  }
  EXPECT_GT(builder.memory_bytes(), 500'000u);
  std::vector<uint8_t> bytes;
  builder.Finish(1, &bytes);
  EXPECT_LT(builder.memory_bytes(), 64'000u);
}

}  // namespace
}  // namespace gpuprof::codec
