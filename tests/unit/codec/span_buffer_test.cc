// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows that come in any order are in the file by their ends, exact, in units of the clock's step.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "proto/codec/span_buffer.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_writer.h"
#include "tests/unit/codec/codec_test_util.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

// Kernels of a training: 40 signatures, durations that differ by 2 %, ends a multiple of `tick`
// from some beginning.
std::vector<Row> Kernels(size_t count, uint64_t tick) {
  std::mt19937_64 random(11);
  std::vector<Row> rows;
  uint64_t end = 1'750'000'000'123'456'789;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t signature = 2 + i % 40;
    const uint64_t usual = 50 + signature * 13;
    const uint64_t duration = (usual + random() % (usual / 50 + 1)) * tick;
    end += duration + (20 + random() % 15) * tick;
    rows.push_back({end, duration, signature, 100 + i * 2, 0, 0});
  }
  return rows;
}

proto::Chunk Written(SpanBuffer* buffer, std::vector<Row>* rows) {
  const std::vector<uint8_t> file = FileOf(buffer->Encode());
  *rows = ReadRows(file, 5, buffer->kind());
  const proto::Trace trace = ParseAll(file);
  EXPECT_EQ(RowsOf(trace.chunk(0)), *rows);
  return trace.chunk(0);
}

TEST(SpanBuffer, SortsAndFindsTheTick) {
  for (const uint64_t tick : {uint64_t{1}, uint64_t{32}, uint64_t{1000}}) {
    const std::vector<Row> kernels = Kernels(3000, tick);
    std::vector<Row> shuffled = kernels;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
    SpanBuffer buffer(ChunkKind::kKernel, 5);
    for (const Row& row : shuffled) buffer.Append(row.data());
    EXPECT_EQ(buffer.count(), 3000u);
    std::vector<Row> rows;
    const proto::Chunk chunk = Written(&buffer, &rows);
    EXPECT_EQ(rows, kernels);
    EXPECT_EQ(chunk.tick(), tick == 1 ? 0 : tick);
    EXPECT_EQ(buffer.count(), 0u);
  }
}

TEST(SpanBuffer, TheNextChunkStartsAnew) {
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  std::vector<Row> rows;
  const std::vector<Row> first = {{2000, 64, 2, 1, 0, 0}, {1000, 32, 2, 2, 0, 0}};
  for (const Row& row : first) buffer.Append(row.data());
  EXPECT_EQ(Written(&buffer, &rows).tick(), 8u);
  const std::vector<Row> second = {{3001, 64, 2, 3, 0, 0}, {4000, 33, 2, 4, 0, 0}};
  for (const Row& row : second) buffer.Append(row.data());
  EXPECT_EQ(Written(&buffer, &rows).tick(), 0u);
  EXPECT_EQ(rows, second);
}

TEST(SpanBuffer, AChunkTellsHowManyItsRowsStandFor) {
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  std::vector<Row> rows;
  const Row row = {2000, 64, 2, 1, 0, 0};
  buffer.SetSampledOneIn(8);
  buffer.Append(row.data());
  EXPECT_EQ(Written(&buffer, &rows).sampled_one_in(), 8u);
  EXPECT_EQ(rows, (std::vector<Row>{row}));
  buffer.SetSampledOneIn(1);
  buffer.Append(row.data());
  EXPECT_EQ(Written(&buffer, &rows).sampled_one_in(), 0u);
}

// What CUPTI makes of a GPU's clock: ticks on the host's line, rounded down to nanoseconds.
uint64_t Rounded(uint64_t ticks, double tick) {
  return 1'750'000'000'123'456'789 + static_cast<uint64_t>(static_cast<double>(ticks) * tick);
}

std::vector<Row> KernelsOfAGpu(size_t count, double tick) {
  std::mt19937_64 random(12);
  std::vector<Row> rows;
  uint64_t at = 0;  // ticks
  for (size_t i = 0; i < count; ++i) {
    const uint64_t start = at + 20 + random() % 15;
    at = start + 50 + (i % 40) * 13 + random() % 4;
    // Once in a while a long pause.
    if (i % 500 == 499) at += random() % 100'000'000;
    const uint64_t end = Rounded(at, tick);
    rows.push_back({end, end - Rounded(start, tick), 2 + i % 40, 100 + i * 2, 0, 0});
  }
  return rows;
}

TEST(SpanBuffer, ARoundedTickShinesThrough) {
  for (const auto& [ns, wanted, parts] :
       {std::tuple(32 * (1 - 5.74e-6), 32u, -5.74e-6), std::tuple(32 * (1 - 2.9e-6), 32u, -2.9e-6),
        std::tuple(40.0 * (1 + 17e-6), 40u, 17e-6)}) {
    const std::vector<Row> kernels = KernelsOfAGpu(20'000, ns);
    SpanBuffer buffer(ChunkKind::kKernel, 5);
    for (const Row& row : kernels) buffer.Append(row.data());
    std::vector<Row> rows;
    const proto::Chunk chunk = Written(&buffer, &rows);
    EXPECT_EQ(rows, kernels);
    EXPECT_EQ(chunk.tick(), wanted);
    // A nanosecond in the length of all spans that it was taken from.
    EXPECT_NEAR(static_cast<double>(chunk.tick_fraction()) / 4294967296.0 / wanted, parts, 2e-7);
    // Nearly all times are as predicted.
    const std::vector<int64_t> errors = RoundingErrorsOf(chunk);
    const auto some =
        std::count_if(errors.begin(), errors.end(), [](int64_t error) { return error != 0; });
    EXPECT_GT(some, 0);
    EXPECT_LT(some, 20'000 / 10);
    EXPECT_LE(chunk.rounding_errors_size(), 2 * some);
  }
}

// The tick is a guess: what does not lie on it is exact all the same.
TEST(SpanBuffer, TimesBesideARoundedTickAreExact) {
  std::mt19937_64 random(7);
  std::vector<Row> kernels = KernelsOfAGpu(5000, 32 * (1 - 4.5e-6));
  for (size_t i = 300; i < kernels.size(); i += 1 + random() % 20) {
    const uint64_t moved = random() >> (34 + random() % 30);
    kernels[i][0] += moved;
    kernels[i][1] += random() % 2 == 0 ? moved : random() % 100;
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Row& a, const Row& b) { return a[0] < b[0]; });
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  for (const Row& row : kernels) buffer.Append(row.data());
  std::vector<Row> rows;
  EXPECT_EQ(Written(&buffer, &rows).tick(), 32u);
  EXPECT_EQ(rows, kernels);
}

// Spans as long as the clock may go, at the steepest line there is, forwards and back.
TEST(SpanBuffer, FarTimesBesideARoundedTickAreExact) {
  for (const int64_t fraction : {kMostTickFraction - 1, int64_t{0}, 1 - kMostTickFraction}) {
    for (const uint64_t tick : {8u, 9u, 32u, 60u}) {
      const uint64_t base = 1'750'000'000'000'000'000;
      const std::vector<Row> spans = {
          {base + 500, 500, 2, 0, 0, 0},
          {base + kFarthestRounded - 2, kFarthestRounded - 2, 2, 1, 0, 0},
          {base + kFarthestRounded - 1, 1, 2, 2, 0, 0},
          {base + kFarthestRounded - 1, kFarthestRounded - 700, 3, 3, 0, 0},
          {base + kFarthestRounded - 1, 0, 3, 4, 0, 0}};
      ChunkBuilder builder(ChunkKind::kKernel, 5, 0);
      builder.SetTick({tick, fraction, false});
      for (const Row& row : spans) AppendRow(&builder, row);
      const std::vector<uint8_t> file = FileOf(&builder);
      EXPECT_EQ(ReadRows(file, 5, ChunkKind::kKernel), spans) << tick << " " << fraction;
    }
  }
}

// A chunk in which the steepest line there is was found, and then a span that is too long for it.
TEST(SpanBuffer, ASpanTooFarForARoundedTickIsExact) {
  constexpr uint64_t kTicks[] = {61, 62, 63, 64, 65, 66, 67, 64, 61, 67, 62, 66, 63, 65, 64, 64};
  for (const uint64_t far : {uint64_t{1} << 38, uint64_t{1} << 39, (uint64_t{1} << 40) - 2}) {
    std::vector<Row> spans;
    uint64_t at = 1'000'000;
    for (uint64_t i = 0; i < 400; ++i) {
      const uint64_t duration = 8 * kTicks[i % 16] - 1;
      at += 8 * (kTicks[(i * 5 + 3) % 16] + (i % 20 == 0 ? 1 : 0)) - 1 + duration;
      spans.push_back({at, duration, 2, i, 0, 0});
    }
    spans.push_back({far, far - at - 511, 3, 400, 0, 0});
    SpanBuffer buffer(ChunkKind::kKernel, 5);
    for (const Row& row : spans) buffer.Append(row.data());
    std::vector<Row> rows;
    EXPECT_EQ(Written(&buffer, &rows).tick(), far <= kFarthestRounded ? 8u : 0u);
    EXPECT_EQ(rows, spans);
  }
}

TEST(SpanBuffer, NoTickWhereThereIsNone) {
  std::mt19937_64 random(8);
  std::vector<Row> calls;
  uint64_t end = 1'750'000'000'000'000'000;
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t duration = 900 + random() % 700;
    end += duration + 80 + random() % 500;
    calls.push_back({end, duration, 2 + i % 7, i, 0});
  }
  SpanBuffer buffer(ChunkKind::kApi, 5);
  for (const Row& row : calls) buffer.Append(row.data());
  std::vector<Row> rows;
  const proto::Chunk chunk = Written(&buffer, &rows);
  EXPECT_EQ(rows, calls);
  EXPECT_EQ(chunk.tick(), 0u);
  EXPECT_EQ(chunk.rounding_errors_size(), 0);
}

// More places and more keys than are remembered.
TEST(SpanBuffer, AnyNumberOfKeys) {
  std::mt19937_64 random(9);
  std::vector<Row> kernels;
  uint64_t end = 1'750'000'000'000'000'000;
  for (uint64_t i = 0; i < 30'000; ++i) {
    const uint64_t key = i < 10'000 ? 2 + i : 2 + random() % 10'000;
    const uint64_t duration = 1000 + key + random() % 3;
    end += duration + random() % 1000;
    kernels.push_back({end, duration, key, i, 0, 0});
  }
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  for (const Row& row : kernels) buffer.Append(row.data());
  std::vector<Row> rows;
  Written(&buffer, &rows);
  EXPECT_EQ(rows, kernels);
}

// Pauses that repeat with the same calls are predicted; random pauses are not.
TEST(SpanBuffer, GapsArePredictedIfThatIsShorter) {
  for (const bool is_regular : {true, false}) {
    std::mt19937_64 random(10);
    std::vector<Row> kernels;
    uint64_t end = 1'750'000'000'000'000'000;
    for (uint64_t i = 0; i < 9000; ++i) {
      const uint64_t key = 2 + i % 30;
      end += 300 + (is_regular ? key * 97 : random() % 60);
      kernels.push_back({end, 300 + random() % 2, key, i, 0, 0});
    }
    SpanBuffer buffer(ChunkKind::kKernel, 5);
    for (const Row& row : kernels) buffer.Append(row.data());
    std::vector<Row> rows;
    EXPECT_EQ(Written(&buffer, &rows).gaps_predicted(), is_regular);
    EXPECT_EQ(rows, kernels);
  }
}

TEST(SpanBuffer, EqualEndsKeepTheirOrder) {
  SpanBuffer buffer(ChunkKind::kMemcpy, 5);
  std::vector<Row> given;
  for (uint64_t i = 0; i < 10; ++i) given.push_back({i == 0 ? 900u : 500u, 10, 1, i, 77, 0, 0, 0});
  for (const Row& row : given) buffer.Append(row.data());
  std::rotate(given.begin(), given.begin() + 1, given.end());
  std::vector<Row> rows;
  Written(&buffer, &rows);
  EXPECT_EQ(rows, given);
}

// Few rows and many, times that lie close and times hours apart: by their ends, equal ones as they
// came, in buffers that are used again.
TEST(SpanBuffer, SortsAnyNumberOverAnyTime) {
  std::mt19937_64 random(5);
  SpanBuffer buffer(ChunkKind::kMemcpy, 5);
  for (const uint64_t count : {2u, 900u, 5000u, 40000u}) {
    for (const uint64_t range : {uint64_t{1}, uint64_t{3000}, uint64_t{0xffffffff},
                                 uint64_t{0x100000000}, uint64_t{1} << 45}) {
      std::vector<Row> given;
      for (uint64_t i = 0; i < count; ++i)
        given.push_back({1'750'000'000'000'000'000 + random() % range, 1, 1, i, 77, 0, 0, 0});
      given.back()[0] = 1'750'000'000'000'000'000 + range;
      given.front()[0] = 1'750'000'000'000'000'000;
      for (const Row& row : given) buffer.Append(row.data());
      std::stable_sort(given.begin(), given.end(),
                       [](const Row& a, const Row& b) { return a[0] < b[0]; });
      std::vector<Row> rows;
      Written(&buffer, &rows);
      ASSERT_EQ(rows, given) << count << " rows over " << range;
    }
  }
  EXPECT_GT(buffer.memory_bytes(), 40000u * 8 * 8);
  buffer.GiveMemoryBack();
  EXPECT_LT(buffer.memory_bytes(), 40000u * 8);
}

TEST(SpanBuffer, ASpanFromBeforeTheClockIsCut) {
  SpanBuffer buffer(ChunkKind::kApi, 5);
  const Row row = {100, 500, 1, 0, 0};
  buffer.Append(row.data());
  std::vector<Row> rows;
  Written(&buffer, &rows);
  EXPECT_EQ(rows, (std::vector<Row>{{100, 100, 1, 0, 0}}));
}

// The first data frame's blocks, by their bytes (RFC 8878: three bytes in front of each).
std::vector<uint64_t> ZstdBlocks(const std::vector<uint8_t>& file) {
  constexpr uint8_t kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  size_t at = static_cast<size_t>(
      std::search(file.begin(), file.end(), std::begin(kMagic), std::end(kMagic)) - file.begin());
  const uint8_t descriptor = file[at + 4];
  const bool is_single_segment = (descriptor >> 5 & 1) != 0;
  constexpr size_t kContentSize[] = {0, 2, 4, 8};
  const size_t content_size = kContentSize[descriptor >> 6];
  at +=
      5 + (is_single_segment ? 0 : 1) + (content_size == 0 && is_single_segment ? 1 : content_size);
  std::vector<uint64_t> blocks;
  for (bool is_last = false; !is_last;) {
    const uint32_t header = file[at] | uint32_t{file[at + 1]} << 8 | uint32_t{file[at + 2]} << 16;
    is_last = (header & 1) != 0;
    constexpr uint32_t kRepeated = 1;
    blocks.push_back((header >> 1 & 3) == kRepeated ? 1 : header >> 3);
    at += 3 + blocks.back();
  }
  return blocks;
}

TEST(SpanBuffer, LongColumnsHaveBlocksOfTheirOwn) {
  for (const size_t count : {size_t{20}, size_t{3000}}) {
    std::vector<Row> kernels = Kernels(3000, 1);
    kernels.resize(count);
    SpanBuffer buffer(ChunkKind::kKernel, 5);
    for (const Row& row : kernels) buffer.Append(row.data());
    const std::vector<uint8_t> file = FileOf(buffer.Encode());
    EXPECT_EQ(ReadRows(file, 5, ChunkKind::kKernel), kernels);
    // Gap, duration, signature, correlation; the graph's columns are empty.
    EXPECT_EQ(ZstdBlocks(file).size(), count == 20 ? 1u : 4u);
  }
}

TEST(SpanBuffer, KernelsTakeTwoBytes) {
  const std::vector<Row> kernels = Kernels(60'000, 32);
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  for (const Row& row : kernels) buffer.Append(row.data());
  const std::vector<uint8_t> file = FileOf(buffer.Encode());
  EXPECT_LT(static_cast<double>(file.size()) / 60'000, 2.0);
  buffer.GiveMemoryBack();
  EXPECT_LT(buffer.memory_bytes(), 200'000u);
}

// Memory is kept as long as about as many rows come again.
TEST(SpanBuffer, GivesBackWhatItNoLongerNeeds) {
  SpanBuffer buffer(ChunkKind::kKernel, 5);
  const auto write = [&buffer](size_t count) {
    std::vector<uint8_t> out;
    for (const Row& row : Kernels(count, 1)) buffer.Append(row.data());
    buffer.Encode()->Finish(1, &out);
    return buffer.memory_bytes();
  };
  const uint64_t many = write(60'000);
  EXPECT_GT(many, 60'000u * 6 * 8);
  EXPECT_GE(write(50'000), many / 2);
  EXPECT_LT(write(100), 200'000u);
}

// A program may make a stream for each request: columns, history and keys take much more room than
// a few rows.
TEST(SpanBuffer, OfFewRowsNothingIsKeptButTheirOwnRoom) {
  SpanBuffer buffer(ChunkKind::kMemcpy, 5);
  const uint64_t fresh = buffer.memory_bytes();
  const Row row = {2000, 64, 1, 7, 4096, 0, 0, 0};
  std::vector<Row> rows;
  buffer.Append(row.data());
  const proto::Chunk first = Written(&buffer, &rows);
  EXPECT_GT(buffer.memory_bytes(), fresh + 6000) << "until they are written";
  buffer.RowsAreWritten();
  EXPECT_LT(buffer.memory_bytes(), fresh + 256);
  buffer.GiveMemoryBack();
  EXPECT_EQ(buffer.memory_bytes(), fresh);
  EXPECT_EQ(buffer.track(), 5u);
  EXPECT_EQ(buffer.kind(), ChunkKind::kMemcpy);
  buffer.Append(row.data());
  EXPECT_EQ(Written(&buffer, &rows).SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(rows, (std::vector<Row>{row}));
}

// What was given back, or kept, is nothing that the next chunk's rows depend on.
TEST(SpanBuffer, ChunksAreTheSameWhereMemoryWasGivenBack) {
  const std::vector<Row> kernels = Kernels(3000, 32);
  SpanBuffer kept(ChunkKind::kKernel, 5), given(ChunkKind::kKernel, 5);
  for (size_t from = 0; from < kernels.size(); from += 600) {
    for (size_t i = from; i < from + 600; ++i) {
      kept.Append(kernels[i].data());
      given.Append(kernels[i].data());
    }
    std::vector<Row> rows, again;
    const proto::Chunk chunk = Written(&kept, &rows);
    EXPECT_EQ(Written(&given, &again).SerializeAsString(), chunk.SerializeAsString());
    EXPECT_EQ(rows, again);
    given.GiveMemoryBack();
    EXPECT_LT(given.memory_bytes(), 1024u);
  }
}

TEST(SpanBuffer, RowsThatAreNotWrittenAreNotGivenBack) {
  SpanBuffer buffer(ChunkKind::kMemcpy, 5);
  const Row row = {2000, 64, 1, 7, 4096, 0, 0, 0};
  buffer.Append(row.data());
  buffer.GiveMemoryBack();
  EXPECT_EQ(buffer.count(), 1u);
  ChunkBuilder* encoded = buffer.Encode();
  buffer.RowsAreWritten();
  buffer.GiveMemoryBack();
  EXPECT_EQ(encoded->count(), 1u);
  EXPECT_EQ(ReadRows(FileOf(encoded), 5, ChunkKind::kMemcpy), (std::vector<Row>{row}));
}

}  // namespace
}  // namespace gpuprof::codec
