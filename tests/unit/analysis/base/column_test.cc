// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns against plain vectors: every width, filled in both ways, copied, reordered and changed.

#include "analysis/base/column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

// Values whose spread needs `bits` bits, around `middle`.
template <typename T>
std::vector<T> Values(size_t count, int bits, T middle) {
  std::mt19937_64 random(static_cast<uint64_t>(bits) * 1000 + count);
  const uint64_t mask = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<uint64_t>(middle) + (random() & mask)));
  return values;
}

template <typename T>
Column<T> Pushed(const std::vector<T>& values) {
  Column<T> column;
  for (const T value : values) column.push_back(value);
  return column;
}

template <typename T>
Column<T> Stored(const std::vector<T>& values, size_t a_segment) {
  Column<T> column;
  column.Plan((values.size() + a_segment - 1) / a_segment + 1);  // the last one stays empty
  for (size_t begin = 0; begin < values.size(); begin += a_segment) {
    const size_t count = std::min(a_segment, values.size() - begin);
    std::vector<uint64_t> room;
    for (size_t i = 0; i < count; ++i) room.push_back(static_cast<uint64_t>(values[begin + i]));
    column.Store(begin / a_segment, room.data(), count);
  }
  column.Finish();
  return column;
}

template <typename T>
void ExpectRows(const Column<T>& column, const std::vector<T>& values) {
  ASSERT_EQ(column.size(), values.size());
  EXPECT_THAT(column, ElementsAreArray(values));
  const typename Column<T>::Reader reader(column);
  for (size_t i = 0; i < values.size(); i += 7) EXPECT_EQ(column[i], values[i]) << i;
  for (size_t i = values.size(); i-- > 0;) EXPECT_EQ(reader[i], values[i]) << i;
}

template <typename T>
class ColumnTest : public testing::Test {};
using Types = testing::Types<int64_t, uint64_t, int32_t, uint32_t, uint16_t>;
TYPED_TEST_SUITE(ColumnTest, Types);

TYPED_TEST(ColumnTest, HoldsValuesOfEveryWidth) {
  using T = TypeParam;
  constexpr int kBits = static_cast<int>(sizeof(T) * 8);
  for (int bits = 0; bits <= kBits; ++bits) {
    for (const T middle :
         {T{0}, T{1}, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
      const std::vector<T> values = Values<T>(300, bits, middle);
      ExpectRows(Pushed(values), values);
      ExpectRows(Stored(values, 77), values);
    }
  }
}

TYPED_TEST(ColumnTest, ManySegmentsAreOneColumn) {
  using T = TypeParam;
  const std::vector<T> values = Values<T>(20'000, 12, T{5});
  for (const size_t a_segment : {1u, 3u, 4095u, 4096u, 4097u, 30'000u})
    ExpectRows(Stored(values, a_segment), values);
  ExpectRows(Pushed(values), values);
}

TEST(Column, ASharedValueTakesNoMemory) {
  Column<uint64_t> column;
  column.Plan(2);
  column.StoreOne(0, 1u << 30, 100'000);
  column.StoreOne(1, 7, 5);
  column.Finish();
  EXPECT_EQ(column.size(), 100'005u);
  EXPECT_EQ(column.bytes(), 0u);
  EXPECT_EQ(column[99'999], 1u << 30);
  EXPECT_EQ(column.back(), 7u);
}

TEST(Column, TakesAsManyBytesAsTheSpreadNeeds) {
  const std::vector<int64_t> values = Values<int64_t>(4000, 20, int64_t{1} << 50);
  EXPECT_NEAR(static_cast<double>(Stored(values, 4000).bytes()), 3 * 4000, 8);
}

TEST(Column, ACopyIsItsOwn) {
  const std::vector<uint32_t> values = Values<uint32_t>(5000, 9, 3);
  Column<uint32_t> column = Pushed(values);
  Column<uint32_t> copy = column;
  copy.push_back(1);
  column.push_back(2);
  EXPECT_EQ(copy.size(), 5001u);
  EXPECT_EQ(copy.back(), 1u);
  EXPECT_EQ(column.back(), 2u);
  EXPECT_EQ(copy[4999], values[4999]);
}

TEST(Column, RewritesAndReorders) {
  Column<int64_t> column = Stored<int64_t>({5, -3, 9, 1'000'000'000'000}, 2);
  column.Rewrite([](size_t row, int64_t value) { return value - static_cast<int64_t>(row); });
  EXPECT_EQ(column, (Column<int64_t>{5, -4, 7, 999'999'999'997}));
  column.Reorder({3, 1});
  EXPECT_EQ(column, (Column<int64_t>{999'999'999'997, -4}));
  column.push_back(8);
  EXPECT_EQ(column.back(), 8);
  column.Reorder({});
  EXPECT_THAT(column, IsEmpty());
}

}  // namespace
}  // namespace gpuprof::analysis
