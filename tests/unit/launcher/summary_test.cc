// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why nothing was recorded: the most certain reason first.

#include "launcher/record/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace gpuprof::launcher {
namespace {

using testing::HasSubstr;

RunFacts Facts(const Variables& flags, const std::string& binary) {
  RunFacts facts;
  EXPECT_EQ(ResolveSettings(flags, {}, {}, &facts.settings), "");
  facts.program.binary = binary;
  facts.child.wall_ns = 1'000'000'000;
  return facts;
}

TEST(WhyNothing, EachReasonHasItsFix) {
  EXPECT_THAT(WhyNothing(Facts({}, "/bin/bash")), HasSubstr("--include bash"));
  EXPECT_THAT(WhyNothing(Facts({{"exclude", "train"}}, "/x/train")), HasSubstr("--include train"));
  EXPECT_THAT(WhyNothing(Facts({{"capture", "off"}}, "/x/train")), HasSubstr("gpuprof ctl start"));
  EXPECT_THAT(WhyNothing(Facts({{"capture", "delay:5s"}}, "/x/train")), HasSubstr("shorter delay"));
  EXPECT_THAT(WhyNothing(Facts({{"capture", "steps:5-9"}}, "/x/train")),
              HasSubstr("no process came to step 5"));
  EXPECT_THAT(WhyNothing(Facts({{"capture", "nvtx:train"}}, "/x/train")),
              HasSubstr("NVTX range named 'train'"));
  EXPECT_THAT(WhyNothing(Facts({{"capture", "cuda-profiler"}}, "/x/train")),
              HasSubstr("the program never called cudaProfilerStart"));
  EXPECT_THAT(WhyNothing(Facts({{"trace", "heap=off"}}, "/x/train")), HasSubstr("no source"));
  EXPECT_THAT(WhyNothing(Facts({}, "/x/train")), HasSubstr("gpuprof doctor"));
  RunFacts facts = Facts({}, "/x/train");
  facts.program.cannot_preload = "it is static";
  EXPECT_EQ(WhyNothing(facts), "it is static");
}

TEST(WhyNothing, WhatProcessesSaidComesFirst) {
  RunFacts facts = Facts({{"capture", "off"}}, "/usr/bin/setpriv");
  facts.obstacles = {"cannot record 1 process (python3): the cause"};
  EXPECT_EQ(WhyNothing(facts), facts.obstacles[0]);
}

TEST(Summary, NothingRecordedIsSaid) {
  RunFacts facts = Facts({{"capture", "off"}}, "/x/train");
  facts.command_name = "train";
  facts.bundle = "/nonexistent";
  facts.survivors = {12, 13};
  const Summary summary = Summarize(facts);
  EXPECT_FALSE(summary.recorded);
  EXPECT_THAT(summary.lines, testing::Contains(HasSubstr("nothing was recorded: --capture=off")));
  EXPECT_THAT(summary.lines, testing::Contains(HasSubstr("12, 13")));
  EXPECT_THAT(summary.lines, testing::Contains(HasSubstr("gpuprof ctl start 12")));
}

TEST(Summary, PathsNeverLookLikeOptions) {
  char here[4096];
  ASSERT_NE(getcwd(here, sizeof here), nullptr);
  EXPECT_EQ(ShortPath(std::string(here) + "/--foo"), "./--foo");
  EXPECT_EQ(ShortPath(std::string(here) + "/foo"), "foo");
}

}  // namespace
}  // namespace gpuprof::launcher
