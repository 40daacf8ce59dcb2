// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions of users: what they match, what is wrong, and what must not stop a server.

#include "analysis/base/regular_expression.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

std::string FaultOf(const std::string& pattern) {
  std::string fault;
  return RegularExpression::Of(pattern, &fault) == nullptr ? fault : "";
}

bool Matches(const std::string& pattern, const std::string& text) {
  std::string fault;
  return RegularExpression::Of(pattern, &fault)->Matches(text);
}

TEST(RegularExpression, APartOfTheTextMatches) {
  EXPECT_TRUE(Matches("^step \\d+$", "step 12"));
  EXPECT_FALSE(Matches("^step \\d+$", "a step 12"));
  EXPECT_TRUE(Matches("\\bmm_kernel\\b", "void mm_kernel<4>(float*)"));
  EXPECT_FALSE(Matches("\\bmm_kernel\\b", "bmm_kernel"));
  EXPECT_TRUE(Matches("schritt|é+", "début"));
}

TEST(RegularExpression, TellsWhatIsWrong) {
  EXPECT_NE(FaultOf("["), "");
  EXPECT_NE(FaultOf("a{2,1}"), "");
  EXPECT_NE(FaultOf("(?=ahead)"), "");
  EXPECT_NE(FaultOf("\xff"), "");
  EXPECT_NE(FaultOf("((a{100}){100}){100}"), "");  // a small pattern with a million states
  EXPECT_EQ(FaultOf(""), "");
}

// A library that calls itself for each letter ends the process here, or takes years.
TEST(RegularExpression, LongTextsAndNestedRepeatsEnd) {
  EXPECT_FALSE(Matches("^(a|b)*$", std::string(10'000'000, 'a') + "c"));
  EXPECT_FALSE(Matches("^(a+)+$", std::string(100'000, 'a') + "c"));
  EXPECT_TRUE(Matches("z$", std::string(1'000'000, '\xff') + "z"));
}

}  // namespace
}  // namespace gpuprof::analysis
