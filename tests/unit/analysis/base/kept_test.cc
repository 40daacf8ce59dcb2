// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/base/kept.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::analysis {
namespace {

struct First {
  std::string text;
};
struct Second {
  const First* first;
};

TEST(Kept, MakesOneValueOfEachTypeOnce) {
  Kept kept;
  int made = 0;
  const auto make = [&] { return First{std::to_string(++made)}; };
  First& first = kept.Get<First>(make);
  EXPECT_EQ(first.text, "1");
  EXPECT_EQ(&kept.Get<First>(make), &first);
  EXPECT_EQ(made, 1);
}

TEST(Kept, AValueMayBeMadeOfAnother) {
  Kept kept;
  const Second& second =
      kept.Get<Second>([&] { return Second{&kept.Get<First>([] { return First{"inner"}; })}; });
  EXPECT_EQ(second.first->text, "inner");
  EXPECT_EQ(&kept.Get<First>([] { return First{"another"}; }), second.first);
}

}  // namespace
}  // namespace gpuprof::analysis
