// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules that compare ranks whose collectives the host starts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tests/unit/analysis/advice/loop_maker.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kSteps = 20;

// Two ranks without a GPU. Each step has some work, a collective, and an optimizer. The second rank
// works longer, and the first one waits for it.
Trace RanksOfHost(int64_t first_ms, int64_t second_ms) {
  std::deque<ProcessBuilder> ranks;
  for (const int32_t pid : {5, 6}) {
    const int64_t work = (pid == 5 ? first_ms : second_ms) * kMs;
    const int64_t last = std::max(first_ms, second_ms) * kMs;
    ProcessBuilder& rank = ranks.emplace_back(pid);
    TrackBuilder& thread = rank.Thread(pid);
    int64_t now = kMs;
    for (int i = 0; i < kSteps; ++i) {
      thread.Op("aten::mm", now, now + work)
          .Op("c10d::allreduce_", now + work, now + work + 10 * kUs)
          .Wait(proto::WaitKind::kCondition, 1, 2, now + work + 20 * kUs, now + last + 100 * kUs);
      now += last + 100 * kUs;
      thread.Optimizer(now, now + 100 * kUs);
      now += 200 * kUs;
    }
    rank.Capture(0, now);
  }
  return MakeTrace({&ranks[0], &ranks[1]});
}

TEST(RankRules, RankThatIsLateAtCollectivesOfTheHost) {
  const results::Advice advice = Advise(RanksOfHost(5, 9));
  const results::Finding* finding = Find(advice, "CO-010");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("(pid 6) is the last of 2 ranks"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 4e6, 0.3e6);
  EXPECT_EQ(finding->place().pid(), 6);
  EXPECT_THAT(Ids(advice), Not(Contains("SY-007"))) << "it is known whom the first rank waits for";
  EXPECT_THAT(Ids(Advise(RanksOfHost(5, 5))), Not(Contains("CO-010")));
  PassOptions options;
  options.thresholds["CO-010.min_share"] = 0.5;
  const auto without = Ids(Advise(RanksOfHost(5, 9), options));
  EXPECT_THAT(without, Not(Contains("CO-010")));
  EXPECT_THAT(without, Contains("SY-007"));
}

}  // namespace
}  // namespace gpuprof::analysis::test
