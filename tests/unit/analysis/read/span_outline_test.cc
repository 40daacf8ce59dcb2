// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Outlines of random spans against slow references that look at every span.

#include "analysis/read/span_outline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace gpuprof::analysis {
namespace {

struct Laid {
  OutlineSpan span;
  uint32_t lane;
};

// Lays all spans out at once: each on the first lane that is free.
std::vector<Laid> LayOut(std::vector<OutlineSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const OutlineSpan& x, const OutlineSpan& y) {
    if (x.start != y.start) return x.start < y.start;
    return x.end != y.end ? x.end > y.end : x.row > y.row;
  });
  std::vector<int64_t> ends;
  std::vector<Laid> laid;
  for (const OutlineSpan& span : spans) {
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] > span.start) ++lane;
    if (lane == ends.size()) ends.push_back(0);
    ends[lane] = span.end;
    laid.push_back({span, static_cast<uint32_t>(lane)});
  }
  return laid;
}

int64_t BusyBetween(const std::vector<OutlineSpan>& spans, int64_t from, int64_t to) {
  int64_t busy = 0;
  for (int64_t at = from; at < to; ++at) {
    busy += std::any_of(spans.begin(), spans.end(), [at](const OutlineSpan& span) {
      return span.start <= at && at < span.end;
    });
  }
  return busy;
}

class SpanOutlineTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::mt19937 random(static_cast<uint32_t>(GetParam()));
    const auto number = [&](int64_t most) { return static_cast<int64_t>(random() % most); };
    const int64_t count = 1 + number(200);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = number(3000) - 500;
      const int64_t length = number(4) == 0 ? number(900) : number(20);
      spans_.push_back({start, start + length, static_cast<uint32_t>(number(5)),
                        static_cast<uint32_t>(i), number(3) == 0 ? 7u : 1u});
    }
    borders_ = {kBeforeAll};
    for (int64_t at = -400; at < 3000; at += 1 + number(900)) borders_.push_back(at);
    borders_.push_back(kAfterAll);
    OutlineBuilder builder(-500, 3400, 64);
    for (size_t i = 0; i + 1 < borders_.size(); ++i) {
      std::vector<OutlineSpan> inside;
      for (const OutlineSpan& span : spans_) {
        if (span.start >= borders_[i] && span.start < borders_[i + 1]) inside.push_back(span);
      }
      builder.AddStretch(borders_[i], borders_[i + 1], &inside, classes_);
    }
    made_ = builder.Finish();
    laid_ = LayOut(spans_);
  }

  const std::vector<uint8_t> classes_ = {0, 1, 2, 0, 1};
  std::vector<OutlineSpan> spans_;
  std::vector<int64_t> borders_;
  std::vector<Laid> laid_;
  Outline made_;
};

TEST_P(SpanOutlineTest, StretchesHaveSumsOfWhatBeginsInThem) {
  ASSERT_EQ(made_.stretches.size(), borders_.size() - 1);
  for (const OutlineStretch& stretch : made_.stretches) {
    std::map<uint32_t, OutlineSums> expected;
    for (const OutlineSpan& span : spans_) {
      if (span.start < stretch.from || span.start >= stretch.to) continue;
      OutlineSums& sums =
          expected.try_emplace(span.name, OutlineSums{0, 0, 0, 1 << 20, 0}).first->second;
      const int64_t length = span.end - span.start;
      sums.count += span.weight;
      sums.total += length * span.weight;
      sums.least = std::min(sums.least, length);
      sums.most = std::max(sums.most, length);
    }
    ASSERT_EQ(stretch.sums.size(), expected.size());
    for (const OutlineSums& sums : stretch.sums) {
      const OutlineSums& wanted = expected.at(sums.name);
      EXPECT_EQ(sums.count, wanted.count);
      EXPECT_EQ(sums.total, wanted.total);
      EXPECT_EQ(sums.least, wanted.least);
      EXPECT_EQ(sums.most, wanted.most);
    }
    EXPECT_EQ(stretch.busy, BusyBetween(spans_, std::max<int64_t>(stretch.from, -500),
                                        std::min<int64_t>(stretch.to, 4000)));
  }
}

TEST_P(SpanOutlineTest, StretchesKnowWhatIsOpenAtTheirBegin) {
  for (const OutlineStretch& stretch : made_.stretches) {
    std::vector<std::pair<uint32_t, uint32_t>> expected, found;
    for (const auto& [span, lane] : laid_) {
      if (span.start < stretch.from && span.end > stretch.from)
        expected.emplace_back(span.row, lane);
    }
    for (const OpenSpan& open : stretch.open) found.emplace_back(open.span.row, open.lane);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST_P(SpanOutlineTest, ColumnsAndLongSpansHoldEverySpanOnce) {
  const int64_t width = int64_t{1} << made_.bits;
  std::map<std::pair<uint32_t, int64_t>, std::vector<OutlineSpan>> expected;
  std::vector<uint32_t> longs, found;
  uint32_t depth = 1;
  for (const auto& [span, lane] : laid_) {
    depth = std::max(depth, lane + 1);
    if (span.end - span.start >= width) {
      longs.push_back(span.row);
    } else {
      expected[{lane, span.start >> made_.bits}].push_back(span);
    }
  }
  for (const OpenSpan& each : made_.longs) found.push_back(each.span.row);
  EXPECT_EQ(found, longs);
  EXPECT_EQ(made_.depth, depth);
  size_t columns = 0;
  for (uint32_t lane = 0; lane < made_.lanes.size(); ++lane) {
    auto time = made_.lanes[lane].times.begin();
    for (const OutlineColumn& column : made_.lanes[lane].columns) {
      ++columns;
      const auto& spans = expected.at({lane, column.place});
      int64_t last = spans[0].start, busy = 0;
      uint8_t last_class = 0;
      std::map<uint8_t, int64_t> by_class;
      for (const OutlineSpan& span : spans) {
        if (span.end > last) last_class = classes_[span.name];
        last = std::max(last, span.end);
        busy += span.end - span.start;
        if (span.end != span.start) by_class[classes_[span.name]] += span.end - span.start;
      }
      EXPECT_EQ(column.count, spans.size());
      EXPECT_EQ(column.first, spans[0].start);
      EXPECT_EQ(column.row, spans[0].row);
      EXPECT_EQ(column.name, spans[0].name);
      EXPECT_EQ(column.last, last);
      EXPECT_EQ(column.last_class, last_class);
      EXPECT_EQ(column.busy, busy);
      ASSERT_EQ(column.classes, by_class.size());
      for (const auto& [cls, sum] : by_class) {
        EXPECT_EQ(time->cls, cls);
        EXPECT_EQ(time->busy, sum);
        ++time;
      }
    }
  }
  EXPECT_EQ(columns, expected.size());
}

INSTANTIATE_TEST_SUITE_P(Random, SpanOutlineTest, testing::Range(0, 60));

TEST(SpanOutlineLanesTest, FurtherSpansShareTheLastLane) {
  std::vector<OutlineSpan> spans;
  for (uint32_t i = 0; i < 400; ++i) spans.push_back({i, 10'000, 0, i, 1});
  OutlineBuilder builder(0, 10'000, 64);
  builder.AddStretch(kBeforeAll, kAfterAll, &spans, {0});
  const Outline made = builder.Finish();
  EXPECT_EQ(made.depth, kMostLanes);
  EXPECT_EQ(made.longs.size(), 400u);
}

}  // namespace
}  // namespace gpuprof::analysis
