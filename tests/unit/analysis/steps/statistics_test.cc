// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Percentiles by nearest rank, spread.

#include "analysis/steps/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

TEST(Samples, PercentilesAreSamples) {
  const Samples samples({50, 10, 40, 20, 30});
  EXPECT_EQ(samples.Percentile(0), 10);
  EXPECT_EQ(samples.Percentile(0.2), 10);
  EXPECT_EQ(samples.Percentile(0.21), 20);
  EXPECT_EQ(samples.median(), 30);
  EXPECT_EQ(samples.Percentile(0.9), 50);
  EXPECT_EQ(samples.Percentile(1), 50);
  EXPECT_EQ(samples.mean(), 30);
  EXPECT_EQ(samples.MedianDistance(), 10);
  EXPECT_NEAR(samples.stddev(), 15.811, 0.001);
}

TEST(Samples, AWeightIsAsManySamples) {
  SampleList list;
  std::vector<int64_t> all;
  const struct {
    int64_t value;
    uint32_t weight;
  } given[] = {{50, 1}, {10, 4}, {40, 1}, {20, 3}, {30, 2}, {10, 1}};
  for (const auto& [value, weight] : given) {
    list.Add(value, weight);
    all.insert(all.end(), weight, value);
  }
  EXPECT_EQ(list.count(), 12u);
  EXPECT_EQ(list.total(), 260);
  const Samples weighted = list.Take();
  const Samples plain(all);
  EXPECT_EQ(weighted.size(), plain.size());
  EXPECT_EQ(weighted.total(), plain.total());
  EXPECT_EQ(weighted.mean(), plain.mean());
  EXPECT_EQ(weighted.min(), 10);
  EXPECT_EQ(weighted.max(), 50);
  for (const double part : {0.0, 0.1, 5.0 / 12, 0.42, 0.5, 8.0 / 12, 0.67, 0.9, 1.0})
    EXPECT_EQ(weighted.Percentile(part), plain.Percentile(part)) << part;
  EXPECT_NEAR(weighted.stddev(), plain.stddev(), 1e-9);
  EXPECT_EQ(weighted.MedianDistance(), plain.MedianDistance());
}

TEST(Samples, ManyValuesAreSortedWhateverTheirRange) {
  std::mt19937_64 random(3);
  for (const uint64_t range : {1ull, 7ull, 5'000ull, 9'000'000ull, 1ull << 40, ~0ull}) {
    std::vector<int64_t> values(5'000);
    for (int64_t& value : values) value = static_cast<int64_t>(random() % range) - 100;
    const Samples samples(values);
    std::sort(values.begin(), values.end());
    for (size_t i = 0; i < values.size(); i += 17) {
      const double part = static_cast<double>(i + 1) / static_cast<double>(values.size());
      ASSERT_EQ(samples.Percentile(part), values[i]) << range << " " << i;
    }
  }
}

TEST(Samples, NoneAndOne) {
  EXPECT_EQ(Samples({}).median(), 0);
  EXPECT_EQ(Samples({}).mean(), 0);
  EXPECT_EQ(Samples({7}).Percentile(0.9), 7);
  EXPECT_EQ(Samples({7}).stddev(), 0);
}

}  // namespace
}  // namespace gpuprof::analysis
