// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/codec/span_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace gpuprof::codec {
namespace {

struct Span {
  uint64_t key, start, end, value;
};

uint64_t UnionLength(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& x, const Span& y) { return x.start < y.start; });
  uint64_t length = 0, reached = 0;
  for (const Span& span : spans) {
    const uint64_t from = std::max(span.start, reached);
    if (span.end > from) length += span.end - from;
    reached = std::max(reached, span.end);
  }
  return length;
}

// Kernels of one stream follow each other. Some overlap the one before, or a few.
std::vector<Span> RandomSpans(uint32_t seed, uint64_t longest) {
  std::mt19937 random(seed);
  std::vector<Span> spans;
  uint64_t at = 100'000;
  for (int i = 0; i < 500; ++i) {
    at += random() % 20;
    spans.push_back({random() % 40, at - random() % longest, at, random() % 1000});
  }
  return spans;
}

TEST(SpanSums, EqualAPlainSumByKey) {
  SpanSums sums;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<Span> spans = RandomSpans(seed, 30);
    std::map<uint64_t, SpanSums::Key> plain;
    sums.Clear();
    for (const Span& span : spans) {
      sums.Add(span.key, span.start, span.end, span.value);
      SpanSums::Key& key = plain[span.key];
      const uint64_t duration = span.end - span.start;
      key.least = key.rows == 0 ? duration : std::min(key.least, duration);
      key.most = std::max(key.most, duration);
      key.total += duration;
      key.value += span.value;
      ++key.rows;
    }
    ASSERT_EQ(sums.keys().size(), plain.size());
    for (const SpanSums::Key& key : sums.keys()) {
      const SpanSums::Key& wanted = plain.at(key.key);
      EXPECT_EQ(std::tie(key.rows, key.total, key.least, key.most, key.value),
                std::tie(wanted.rows, wanted.total, wanted.least, wanted.most, wanted.value));
    }
    EXPECT_TRUE(sums.is_whole());
    EXPECT_EQ(sums.busy(), UnionLength(spans));
  }
}

TEST(SpanSums, BusyTimeIsNeverMoreThanTheUnion) {
  SpanSums sums;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<Span> spans = RandomSpans(seed, 2000);
    sums.Clear();
    for (const Span& span : spans) sums.Add(span.key, span.start, span.end, 0);
    EXPECT_LE(sums.busy(), UnionLength(spans));
  }
  // The last span reaches back over 99 pauses of 9, of which 8 are remembered.
  sums.Clear();
  for (uint64_t at = 0; at < 100; ++at) sums.Add(1, 10 * at, 10 * at + 1, 0);
  sums.Add(1, 0, 991, 0);
  EXPECT_EQ(sums.busy(), 100 + 9 * 8u);
}

TEST(SpanSums, SaysThatThereWereMoreKeysThanFit) {
  SpanSums sums;
  for (uint64_t key = 0; key < SpanSums::kMostKeys; ++key) sums.Add(key << 32, key, key + 1, 0);
  EXPECT_TRUE(sums.is_whole());
  sums.Add(1, 9000, 9001, 0);
  EXPECT_FALSE(sums.is_whole());
  EXPECT_EQ(sums.keys().size(), SpanSums::kMostKeys);
}

}  // namespace
}  // namespace gpuprof::codec
