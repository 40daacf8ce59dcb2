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

// Adds the spans in portions of random lengths, up to `longest`.
void AddAll(const std::vector<Span>& spans, uint32_t longest, SpanSums* sums) {
  std::vector<uint64_t> keys, starts, ends, values;
  for (const Span& span : spans) {
    keys.push_back(span.key);
    starts.push_back(span.start);
    ends.push_back(span.end);
    values.push_back(span.value);
  }
  std::mt19937 random(longest);
  for (size_t first = 0; first < spans.size();) {
    const auto some =
        static_cast<uint32_t>(std::min<size_t>(spans.size() - first, 1 + random() % longest));
    sums->Add(some, &keys[first], &starts[first], &ends[first], &values[first]);
    first += some;
  }
}

TEST(SpanSums, EqualAPlainSumByKey) {
  SpanSums sums;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<Span> spans = RandomSpans(seed, 30);
    std::map<uint64_t, SpanSums::Key> plain;
    sums.Clear();
    AddAll(spans, 64, &sums);
    for (const Span& span : spans) {
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

// The writer sums 64 rows at a time, or one, and a reader as it likes.
TEST(SpanSums, AreTheSameInAnyPortions) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    // From spans that follow each other to those that reach back over many.
    const std::vector<Span> spans = RandomSpans(seed, 1 + seed % 5 * seed);
    SpanSums one, other;
    AddAll(spans, 1, &one);
    AddAll(spans, 2 + seed, &other);
    EXPECT_EQ(one.busy(), other.busy()) << seed;
  }
}

TEST(SpanSums, SayThatAValueIsNotKnown) {
  SpanSums sums;
  AddAll({{1, 0, 5, 7}, {1, 5, 9, 3}}, 2, &sums);
  EXPECT_FALSE(sums.lacks_values());
  AddAll({{1, 9, 12, SpanSums::kUnknownValue}}, 1, &sums);
  EXPECT_TRUE(sums.lacks_values());
  EXPECT_EQ(sums.keys()[0].value, 10u);
}

TEST(SpanSums, BusyTimeIsNeverMoreThanTheUnion) {
  SpanSums sums;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<Span> spans = RandomSpans(seed, 2000);
    sums.Clear();
    AddAll(spans, 64, &sums);
    EXPECT_LE(sums.busy(), UnionLength(spans));
  }
  // The last span reaches back over 99 pauses of 9, of which 8 are remembered.
  sums.Clear();
  std::vector<Span> spans;
  for (uint64_t at = 0; at < 100; ++at) spans.push_back({1, 10 * at, 10 * at + 1, 0});
  spans.push_back({1, 0, 991, 0});
  AddAll(spans, 100, &sums);
  EXPECT_EQ(sums.busy(), 100 + 9 * 8u);
}

TEST(SpanSums, SaysThatThereWereMoreKeysThanFit) {
  SpanSums sums;
  std::vector<Span> spans;
  for (uint64_t key = 0; key < SpanSums::kMostKeys; ++key)
    spans.push_back({key << 32, key, key + 1, 0});
  AddAll(spans, 64, &sums);
  EXPECT_TRUE(sums.is_whole());
  AddAll({{1, 9000, 9001, 0}}, 1, &sums);
  EXPECT_FALSE(sums.is_whole());
  EXPECT_EQ(sums.keys().size(), SpanSums::kMostKeys);
}

}  // namespace
}  // namespace gpuprof::codec
