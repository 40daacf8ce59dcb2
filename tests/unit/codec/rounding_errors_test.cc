// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/codec/rounding_errors.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/codec/span_clock.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec::test {
namespace {

constexpr uint64_t kTick = 32;

std::vector<uint8_t> Coded(const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes;
  for (const uint64_t value : values) {
    uint8_t buffer[kMaxVarintBytes + 8];
    bytes.insert(bytes.end(), buffer, PutVarint(buffer, value));
  }
  return bytes;
}

bool Decode(const std::vector<uint8_t>& bytes, std::vector<uint64_t>* joined) {
  return DecodeRoundingErrors(bytes.data(), bytes.size(), kTick, joined->data(),
                              static_cast<uint32_t>(joined->size()));
}

TEST(RoundingErrors, CodesAreThoseOfTheFormat) {
  uint64_t code = 0;
  for (int64_t start = -1; start <= 1; ++start) {
    for (int64_t end = -1; end <= 1; ++end) {
      if (start == 0 && end == 0) continue;
      EXPECT_EQ(RoundingErrors::CodeOf(start, end), code);
      int64_t a = 9, b = 9;
      RoundingErrors::Split(code++, &a, &b);
      EXPECT_EQ(a, start);
      EXPECT_EQ(b, end);
    }
  }
  EXPECT_EQ(code, RoundingErrors::kExplicit);
  for (const auto& [start, end] : {std::pair<int64_t, int64_t>{2, 0}, {0, -2}, {17, -17}})
    EXPECT_EQ(RoundingErrors::CodeOf(start, end), RoundingErrors::kExplicit);
}

TEST(RoundingErrors, RowsInBetweenHaveNone) {
  const SpanClock clock(0, {kTick, 0, false});
  std::vector<uint64_t> joined(6, 77);
  ASSERT_TRUE(
      Decode(Coded({2 * 9 + 4, 0 * 9 + 0, 1 * 9 + 8, ZigZag(clock.Joined(5, -7))}), &joined));
  EXPECT_EQ(joined, (std::vector<uint64_t>{0, 0, clock.Joined(0, 1), clock.Joined(-1, -1), 0,
                                           clock.Joined(5, -7)}));
}

TEST(RoundingErrors, NoneAtAll) {
  std::vector<uint64_t> joined(3, 77);
  ASSERT_TRUE(Decode({}, &joined));
  EXPECT_EQ(joined, (std::vector<uint64_t>{0, 0, 0}));
}

TEST(RoundingErrors, WhatMakesNoSenseIsRefused) {
  std::vector<uint64_t> joined(3);
  EXPECT_FALSE(Decode(Coded({3 * 9}), &joined)) << "behind the last row";
  EXPECT_FALSE(Decode(Coded({0, 0, 0, 0}), &joined)) << "more than there are rows";
  EXPECT_FALSE(Decode(Coded({UINT64_MAX}), &joined)) << "a run that no chunk has";
  EXPECT_FALSE(Decode(Coded({8}), &joined)) << "no value follows";
  EXPECT_FALSE(Decode({0x80}, &joined)) << "cut";
  EXPECT_FALSE(Decode({0x08, 0x80}, &joined)) << "cut";
}

}  // namespace
}  // namespace gpuprof::codec::test
