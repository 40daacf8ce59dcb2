// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/base/limit_values.h"

#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

TEST(Budget, IsAPartOrATimeForEachStep) {
  Budget budget;
  EXPECT_EQ(ParseBudget("3%", &budget), "");
  EXPECT_EQ(budget.ppm, 30'000u);
  EXPECT_EQ(ParseBudget("0.25%", &budget), "");
  EXPECT_EQ(budget.ppm, 2'500u);
  EXPECT_EQ(ParseBudget("50us", &budget), "");
  EXPECT_EQ(budget.ppm, 0u);
  EXPECT_EQ(budget.step_ns, 50'000u);
  EXPECT_EQ(ParseBudget("1.5ms", &budget), "");
  EXPECT_EQ(budget.step_ns, 1'500'000u);
  EXPECT_EQ(ParseBudget("2s", &budget), "");
  EXPECT_EQ(budget.step_ns, 2'000'000'000u);
}

TEST(Budget, RefusesOthers) {
  Budget budget;
  for (const char* text : {"", "%", "0%", "0.001%", "101%", "-3%", "3 %", "1e1%", "3", "us", "0us",
                           "900ns", "2m", "1us2", "nan%", "3%%", "1.2.3%"})
    EXPECT_NE(ParseBudget(text, &budget), "") << text;
}

TEST(Triggers, AreReadFromAList) {
  Triggers triggers;
  EXPECT_EQ(ParseTriggers("step:3,stall:30s,exit", &triggers), "");
  EXPECT_EQ(triggers.step_percent, 300u);
  EXPECT_EQ(triggers.stall_ns, 30'000'000'000u);
  EXPECT_TRUE(triggers.at_failed_exit);
  EXPECT_EQ(ParseTriggers("step:2.5x", &triggers), "");
  EXPECT_EQ(triggers.step_percent, 250u);
  EXPECT_FALSE(triggers.at_failed_exit);
}

TEST(Triggers, RefusesOthers) {
  Triggers triggers;
  for (const char* text : {"", "step", "step:", "step:1", "step:0.5", "step:99999", "step:nan",
                           "stall:", "stall:3", "stall:1ms", "exit:1", "exit,", "fall"})
    EXPECT_NE(ParseTriggers(text, &triggers), "") << text;
}

}  // namespace
}  // namespace gpuprof::launcher
