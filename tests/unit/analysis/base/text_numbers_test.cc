// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/base/text_numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

TEST(TextNumbersTest, NumbersAreThoseOfAMap) {
  TextNumbers numbers;
  std::map<std::string, uint32_t> expected;
  std::mt19937 chance(3);
  for (int i = 0; i < 50'000; ++i) {
    std::string text = std::to_string(chance() % 20'000);
    if (i % 1000 == 0) text.append(chance() % 100'000, 'x');
    if (i % 777 == 0) text.clear();
    const auto [at, is_first] = expected.try_emplace(text, expected.size());
    bool is_new = false;
    EXPECT_EQ(numbers.NumberOf(text, &is_new), at->second);
    EXPECT_EQ(is_new, is_first);
  }
  EXPECT_EQ(numbers.size(), expected.size());
}

TEST(TextNumbersTest, AMovedObjectBeginsAnew) {
  TextNumbers from;
  bool is_new = false;
  from.NumberOf("first", &is_new);
  TextNumbers to = std::move(from);
  EXPECT_EQ(to.NumberOf("second", &is_new), 1u);
  from = TextNumbers();
  EXPECT_EQ(from.NumberOf("third", &is_new), 0u);
  EXPECT_EQ(to.NumberOf("first", &is_new), 0u);
  EXPECT_FALSE(is_new);
}

TEST(TextNumbersTest, ACopyHasItsOwnTexts) {
  TextNumbers copy;
  bool is_new = false;
  {
    TextNumbers from;
    from.NumberOf("first", &is_new);
    from.NumberOf(std::string(100'000, 'x'), &is_new);
    copy = from;
    from.NumberOf("second", &is_new);
  }
  EXPECT_EQ(copy.NumberOf("first", &is_new), 0u);
  EXPECT_EQ(copy.NumberOf(std::string(100'000, 'x'), &is_new), 1u);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(copy.NumberOf("second", &is_new), 2u);
  EXPECT_TRUE(is_new);
}

TEST(Utf8InTest, OnlyRepairedTextsAreCopied) {
  std::string room;
  const std::string plain = "aten::add and more than eight bytes";
  EXPECT_EQ(Utf8In(plain, &room).data(), plain.data());
  for (size_t at = 0; at < plain.size(); ++at) {
    std::string broken = plain;
    broken[at] = '\xff';
    EXPECT_EQ(Utf8In(broken, &room), Utf8Of(broken));
    EXPECT_EQ(Utf8In(broken, &room).substr(at, 3), kReplacement);
  }
  EXPECT_EQ(Utf8In("", &room), "");
}

}  // namespace
}  // namespace gpuprof::analysis
