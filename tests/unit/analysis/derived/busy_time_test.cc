// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The union of kernels' spans that streams are walked for, against the union of a list of all.

#include "analysis/derived/busy_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/steps/interval.h"

namespace gpuprof::analysis {
namespace {

void Add(int64_t start, int64_t end, KernelTable* table, std::vector<Interval>* all) {
  table->end_ns.push_back(end);
  table->duration_ns.push_back(end - start);
  all->push_back({start, end});
}

int64_t BusyTimeOf(const std::vector<KernelTable>& tables, int threads) {
  std::vector<const KernelTable*> streams;
  for (const KernelTable& table : tables) streams.push_back(&table);
  return BusyTime(streams, threads);
}

TEST(BusyTime, CountsWhatOverlapsOnce) {
  std::vector<KernelTable> tables(3);
  std::vector<Interval> all;
  Add(10, 20, &tables[0], &all);
  Add(20, 30, &tables[0], &all);
  Add(25, 40, &tables[1], &all);
  Add(50, 50, &tables[1], &all);
  EXPECT_EQ(BusyTimeOf(tables, 1), 30);
  EXPECT_EQ(BusyTimeOf({}, 1), 0);
  EXPECT_EQ(BusyTimeOf(std::vector<KernelTable>(2), 1), 0);
}

// So many rows that they are cut into several windows.
TEST(BusyTime, OfManyRowsIsTheLengthOfTheirUnion) {
  std::mt19937 random(1);
  std::vector<KernelTable> tables(3);
  std::vector<Interval> all;
  for (size_t i = 0; i < tables.size(); ++i) {
    int64_t start = -1'000'000, end = start;
    for (int row = 0; row < 300'000 >> 2 * i; ++row) {
      start += static_cast<int64_t>(random() % 40) << 2 * i;
      // Some kernels run long, so that they reach over a window's edge.
      const int64_t long_ns = random() % 5000 == 0 ? 100'000 : 0;
      end = std::max(end, start + static_cast<int64_t>(random() % 30) + long_ns);
      Add(start, end, &tables[i], &all);
    }
  }
  const int64_t length = TotalLength(UnionOf(all));
  EXPECT_EQ(BusyTimeOf(tables, 1), length);
  EXPECT_EQ(BusyTimeOf(tables, 3), length);
}

}  // namespace
}  // namespace gpuprof::analysis
