// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Percentiles by nearest rank, spread.

#include "analysis/steps/statistics.h"

#include <gtest/gtest.h>

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

TEST(Samples, NoneAndOne) {
  EXPECT_EQ(Samples({}).median(), 0);
  EXPECT_EQ(Samples({}).mean(), 0);
  EXPECT_EQ(Samples({7}).Percentile(0.9), 7);
  EXPECT_EQ(Samples({7}).stddev(), 0);
}

}  // namespace
}  // namespace gpuprof::analysis
