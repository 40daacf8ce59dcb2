// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/op_costs.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

// Work of 100 us: 10^9 operations that take 20 us at their peak, and 40 MB.
WorkSums KnownSums() {
  WorkSums sums;
  sums.count = 1;
  sums.total_ns = 100'000;
  sums.flops = {1'000'000'000, 100'000, 1u << results::WORK_EVIDENCE_SOURCE};
  sums.bytes = {40'000'000, 100'000, 1u << results::WORK_EVIDENCE_SOURCE};
  sums.peaked_ns = sums.placed_ns = 100'000;
  sums.peaked_flops = sums.both_flops = sums.placed_flops = 1e9;
  sums.both_bytes = sums.placed_bytes = 4e7;
  sums.at_peak_ns = sums.placed_at_peak_ns = 20'000;
  sums.precisions = 1u << results::PRECISION_BF16;
  sums.devices = {0};
  return sums;
}

TEST(OpCostsTest, TheHigherTimeAtAPeakBounds) {
  const RoofPoint slow_memory = PointOf(KnownSums(), 1000);  // 40 us
  EXPECT_TRUE(slow_memory.is_memory_bound.value());
  EXPECT_DOUBLE_EQ(*slow_memory.roof_ratio, 0.4);
  EXPECT_DOUBLE_EQ(*slow_memory.roof_flop_per_s, 25e12);  // 25 flop/byte at 1000 GB/s
  EXPECT_DOUBLE_EQ(*slow_memory.peak_gb_ratio, 0.4);
  EXPECT_DOUBLE_EQ(*slow_memory.flop_per_byte, 25);
  const RoofPoint fast_memory = PointOf(KnownSums(), 4000);  // 10 us
  EXPECT_FALSE(fast_memory.is_memory_bound.value());
  EXPECT_DOUBLE_EQ(*fast_memory.roof_ratio, 0.2);
  EXPECT_DOUBLE_EQ(*fast_memory.roof_flop_per_s, 50e12);
  EXPECT_DOUBLE_EQ(*fast_memory.peak_flop_per_s, 50e12);
  EXPECT_DOUBLE_EQ(*fast_memory.flop_per_s, 10e12);
}

TEST(OpCostsTest, AnUnknownPeakOfMemoryLeavesTheBoundOpen) {
  const RoofPoint point = PointOf(KnownSums(), std::nullopt);
  EXPECT_FALSE(point.is_memory_bound);
  EXPECT_FALSE(point.roof_ratio);
  EXPECT_FALSE(point.peak_gb_ratio);
  EXPECT_DOUBLE_EQ(*point.peak_flop_ratio, 0.2);
}

TEST(OpCostsTest, UnknownWorkAddsTimeAndNoFigures) {
  WorkSums sums = KnownSums();
  WorkSums other;
  other.count = 3;
  other.total_ns = 900'000;
  other.devices = {1};
  sums.Join(other);
  EXPECT_EQ(sums.count, 4u);
  EXPECT_EQ(sums.total_ns, 1'000'000);
  EXPECT_EQ(sums.devices.size(), 2u);
  EXPECT_EQ(sums.flops.ns, 100'000);
  EXPECT_DOUBLE_EQ(*PointOf(sums, 1000).flop_per_s, 10e12);
  EXPECT_EQ(sums.precision(), results::PRECISION_BF16);
  const RoofPoint unknown = PointOf(other, 1000);
  EXPECT_FALSE(unknown.flop_per_s || unknown.gb_per_s || unknown.flop_per_byte ||
               unknown.roof_ratio || unknown.peak_flop_ratio);
}

TEST(OpCostsTest, EvidenceAndTypesOfSeveralKindsAreMixed) {
  WorkSums sums = KnownSums();
  WorkSums shaped = KnownSums();
  shaped.flops.sources = 1u << results::WORK_EVIDENCE_SHAPES;
  shaped.precisions = 1u << results::PRECISION_FP32;
  EXPECT_EQ(shaped.flops.evidence(), results::WORK_EVIDENCE_SHAPES);
  sums.Join(shaped);
  EXPECT_EQ(sums.flops.evidence(), results::WORK_EVIDENCE_MIXED);
  EXPECT_EQ(sums.precision(), results::PRECISION_MIXED);
  EXPECT_EQ(WorkSums().flops.evidence(), results::WORK_EVIDENCE_NONE);
}

}  // namespace
}  // namespace gpuprof::analysis
