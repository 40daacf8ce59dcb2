// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Work that an earlier capture left with CUPTI is not this one's.

#include <gtest/gtest.h>

#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

using EarlierWork = ActivityRecords;

constexpr uint64_t kTime = 1'750'000'000'000'000'000;

Bytes Kernel(uint64_t start, uint64_t end) {
  return Bytes(Activity::kConcurrentKernel, 216)
      .U64(kernel::kStart, start)
      .U64(kernel::kEnd, end)
      .U32(kernel::kContext, 1)
      .U32(kernel::kStream, 7)
      .U32(kernel::kCorrelation, 3)
      .Text(kernel::kName, "k");
}

Bytes Copy(uint64_t start, uint64_t end) {
  return Bytes(Activity::kMemcpy, 64)
      .U64(copy::kStart, start)
      .U64(copy::kEnd, end)
      .U32(copy::kContext, 1)
      .U32(copy::kStream, 7)
      .U64(copy::kBytes, 4096);
}

TEST_F(EarlierWork, IsLeftOutAndCounted) {
  sorter_.SetEarliest(kTime);
  Give({Kernel(kTime - 1'000'000'000, kTime + 500), Kernel(kTime + 1, kTime + 2),
        Copy(kTime - 1, kTime + 5), Copy(kTime, kTime + 5)});
  EXPECT_EQ(Rows(proto::ChunkKind::kKernel).size(), 1u);
  EXPECT_EQ(Rows(proto::ChunkKind::kMemcpy).size(), 1u);
  EXPECT_EQ(sorter_.counters().unfinished, 2u);
}

TEST_F(EarlierWork, IsTheCapturesOwnWhereNothingWasLeft) {
  Give({Kernel(kTime - 1'000'000'000, kTime + 500)});
  EXPECT_EQ(Rows(proto::ChunkKind::kKernel).size(), 1u);
  EXPECT_EQ(sorter_.counters().unfinished, 0u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
