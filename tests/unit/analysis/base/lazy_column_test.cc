// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns whose segments come when they are first read, and may go again.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "analysis/base/column.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kRows = 5'000;  // of a segment
constexpr size_t kSegments = 4;

// Its rows count from 0. Counts how often each segment came.
class Counting : public SegmentSource {
 public:
  explicit Counting(std::atomic<uint32_t>* now) : SegmentSource(now) {}

  void Bring(int, size_t segment) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::shared_ptr<ColumnSegments> to = lazy.lock();
    if (to == nullptr || to->Has(segment)) return;
    ++brought[segment];
    Column<int64_t> values;
    values.Plan(1);
    std::vector<uint64_t> numbers;
    for (uint32_t i = 0; i < kRows; ++i) numbers.push_back(segment * kRows + i);
    values.Store(0, numbers.data(), numbers.size());
    values.Finish();
    values.GiveTo(to.get(), segment);
  }

  std::weak_ptr<ColumnSegments> lazy;
  int brought[kSegments] = {};

 private:
  std::mutex mutex_;
};

class LazyColumnTest : public testing::Test {
 protected:
  LazyColumnTest() {
    source_->lazy = column_.PlanLazy(source_, 0, std::vector<uint32_t>(kSegments, kRows));
    for (size_t i = 0; i < kSegments; ++i) source_->lazy.lock()->SetZone(i, i * kRows, kRows - 1);
  }
  int Brought() const {
    int sum = 0;
    for (const int each : source_->brought) sum += each;
    return sum;
  }

  std::atomic<uint32_t> now_{1};
  std::shared_ptr<Counting> source_ = std::make_shared<Counting>(&now_);
  Column<int64_t> column_;
};

TEST_F(LazyColumnTest, OnlySegmentsThatAreReadCome) {
  EXPECT_EQ(column_.size(), kSegments * kRows);
  EXPECT_TRUE(column_.IsLazy());
  EXPECT_EQ(column_.bytes(), 0u);
  EXPECT_EQ(column_.ZoneOf({kRows, 2 * kRows}).least, kRows);
  EXPECT_EQ(column_.ZoneOf({kRows, 2 * kRows}).most, 2 * kRows - 1);
  EXPECT_EQ(Brought(), 0);
  EXPECT_EQ(column_[2 * kRows + 7], 2 * kRows + 7);
  EXPECT_EQ(Brought(), 1);
  std::vector<int64_t> rows(kRows);
  column_.Copy(2 * kRows, rows.size(), rows.data());
  EXPECT_EQ(rows.back(), 3 * kRows - 1);
  EXPECT_EQ(Brought(), 1);
  int64_t expected = 0;
  for (const int64_t value : column_) EXPECT_EQ(value, expected++);
  EXPECT_EQ(Brought(), 4);
}

TEST_F(LazyColumnTest, WhatWasLetGoComesAgain) {
  EXPECT_EQ(column_[0], 0);
  const std::shared_ptr<ColumnSegments> data = source_->lazy.lock();
  EXPECT_GT(data->BytesOf(0), uint64_t{kRows});
  EXPECT_EQ(data->LastUse(0), 1u);
  now_ = 2;
  EXPECT_EQ(column_[1], 1);
  EXPECT_EQ(data->LastUse(0), 2u);
  data->LetGo(0);
  EXPECT_EQ(data->BytesOf(0), 0u);
  EXPECT_EQ(data->LastUse(0), 0u);
  EXPECT_EQ(column_.ZoneOf({0, kRows}).most, kRows - 1) << "the zone stays";
  EXPECT_EQ(column_[kRows - 1], kRows - 1);
  EXPECT_EQ(source_->brought[0], 2);
}

TEST_F(LazyColumnTest, APickBringsRowsOfLongRunsWhenTheyAreRead) {
  const std::vector<RowRun> runs = {{10, 11}, {kRows + 5, 3 * kRows}};
  Column<int64_t> picked = column_.Pick(runs);
  EXPECT_EQ(Brought(), 1) << "the short run was packed";
  EXPECT_EQ(picked.size(), 2 * kRows - 4);
  EXPECT_EQ(picked[0], 10);
  EXPECT_EQ(picked[1], kRows + 5);
  EXPECT_EQ(Brought(), 2);
  EXPECT_EQ(picked.back(), 3 * kRows - 1);
  // Rows that a pick has read stay in its memory.
  source_->lazy.lock()->LetGo(1);
  EXPECT_EQ(picked[1], kRows + 5);
  const Column<int64_t> again = picked.Pick(std::vector<RowRun>{{2, 1'000}});
  EXPECT_EQ(again[0], kRows + 6);
  picked.push_back(-3);
  EXPECT_EQ(picked.back(), -3);
  EXPECT_EQ(picked[2], kRows + 6);
}

TEST_F(LazyColumnTest, AChangedCopyIsNotLazy) {
  Column<int64_t> copy = column_;
  copy.Rewrite([](size_t, int64_t value) { return -value; });
  EXPECT_FALSE(copy.IsLazy());
  EXPECT_EQ(copy.back(), 1 - static_cast<int64_t>(kSegments * kRows));
  EXPECT_TRUE(column_.IsLazy());
}

TEST_F(LazyColumnTest, ThreadsBringEachSegmentOnce) {
  const Column<int64_t> picked = column_.Pick(std::vector<RowRun>{{0, kSegments * kRows}});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t row = 0; row < picked.size(); row += 100)
        if (picked[row] != static_cast<int64_t>(row)) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Brought(), 4);
}

}  // namespace
}  // namespace gpuprof::analysis
