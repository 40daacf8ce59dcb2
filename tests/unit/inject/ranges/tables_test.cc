// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The texts of NVTX calls, and the table of ranges that have started.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inject/ranges/messages.h"
#include "inject/ranges/ranges.h"
#include "inject/ranges/started.h"

namespace gpuprof::inject::ranges {

namespace {
uint64_t names_lost = 0;
}
void CountNameLost() noexcept { ++names_lost; }

namespace {

std::string Utf8(const wchar_t* text, uint32_t capacity = 64) {
  std::vector<char> buffer(capacity);
  return {buffer.data(), ToUtf8(text, buffer.data(), capacity)};
}

TEST(RangeMessages, WideTextsBecomeUtf8) {
  EXPECT_EQ(Utf8(L""), "");
  EXPECT_EQ(Utf8(L"plain"), "plain");
  EXPECT_EQ(Utf8(L"\u00e4\u20ac\U0001f600\U0010ffff"),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
  const wchar_t broken[] = {0xd800, L'x', 0x110000, -1, 0};
  EXPECT_EQ(Utf8(broken), "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(RangeMessages, OnlyWholeCharactersAreKept) {
  EXPECT_EQ(Utf8(L"abcdef", 4), "abcd");
  EXPECT_EQ(Utf8(L"abc\u20ac", 5), "abc");
  EXPECT_EQ(Utf8(L"abc\u20ac", 6), "abc\xe2\x82\xac");
}

TEST(RangeMessages, EqualTextsAreOneWhateverTheirKind) {
  ASSERT_TRUE(PrepareMessages());
  Text* text = Intern(Ascii("a domain"));
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(Intern(Wide(L"a domain")), text);
  EXPECT_NE(Intern(Ascii("another")), text);
  EXPECT_GE(text->id, proto::kFirstRangeName);
  EXPECT_EQ(TextOf(text), text) << "without a tool the handle is the text";
  EXPECT_EQ(Intern({kRegistered, text}), text);
  names_lost = 0;
  EXPECT_EQ(Intern(Ascii(nullptr)), nullptr);
  EXPECT_EQ(Intern(Ascii("")), nullptr);
  EXPECT_EQ(Intern({77, "of no known kind"}), nullptr);
  EXPECT_EQ(names_lost, 0u) << "that is no loss";
}

TEST(RangeMessages, HandlesOfAnotherToolLeadToTheTexts) {
  ASSERT_TRUE(PrepareMessages());
  static char handles[3000];
  Text* first = Intern(Ascii("first"));
  Text* second = Intern(Ascii("second"));
  EXPECT_EQ(TextOf(&handles[0]), nullptr);
  for (size_t i = 0; i < sizeof(handles); ++i) BindHandle(&handles[i], i % 2 == 0 ? first : second);
  for (size_t i = 0; i < sizeof(handles); ++i) {
    ASSERT_EQ(TextOf(&handles[i]), i % 2 == 0 ? first : second) << i;
  }
  BindHandle(&handles[0], second);  // destroyed, and given again
  EXPECT_EQ(TextOf(&handles[0]), second);
  EXPECT_EQ(TextOf(nullptr), nullptr);
}

StartedRange RangeOf(uint32_t name, uint32_t capture = 1) {
  StartedRange range = {};
  range.name = name;
  range.capture = capture;
  return range;
}

TEST(StartedRanges, WhatWasPutInIsTakenOutOnce) {
  const auto table = std::make_unique<StartedRanges>();
  StartedRange range;
  EXPECT_FALSE(table->Take(7, 1, &range));
  EXPECT_FALSE(table->Take(0, 1, &range));
  ASSERT_TRUE(table->Add(7, RangeOf(70)));
  ASSERT_TRUE(table->Add(7 + 4096, RangeOf(71)));
  ASSERT_TRUE(table->Take(7, 1, &range));
  EXPECT_EQ(range.name, 70u);
  EXPECT_FALSE(table->Take(7, 1, &range));
  ASSERT_TRUE(table->Take(7 + 4096, 1, &range));
  EXPECT_EQ(range.name, 71u);
}

TEST(StartedRanges, AFullTableRefusesAndGivesWayToANewCapture) {
  const auto table = std::make_unique<StartedRanges>();
  uint64_t id = 1;
  while (table->Add(id, RangeOf(1))) ++id;
  EXPECT_GT(id, 4000u);
  EXPECT_TRUE(table->Add(id, RangeOf(2, 2)));
  StartedRange range;
  ASSERT_TRUE(table->Take(id, 2, &range));
  EXPECT_EQ(range.capture, 2u);
}

// Ids that a program gives itself come again: what an earlier capture left is not in the way.
TEST(StartedRanges, AnIdThatComesAgain) {
  const auto table = std::make_unique<StartedRanges>();
  StartedRange range;
  ASSERT_TRUE(table->Add(7, RangeOf(70, 1)));
  EXPECT_TRUE(table->Has(7, 1));
  EXPECT_FALSE(table->Has(7, 2));
  ASSERT_TRUE(table->Add(7, RangeOf(71, 2)));
  EXPECT_TRUE(table->Has(7, 2));
  ASSERT_TRUE(table->Take(7, 2, &range));
  EXPECT_EQ(range.name, 71u);
  EXPECT_FALSE(table->Take(7, 2, &range));
  EXPECT_FALSE(table->Has(7, 1)) << "it went with the search";
}

TEST(StartedRanges, ThreadsThatEndEachOthersRanges) {
  const auto table = std::make_unique<StartedRanges>();
  constexpr uint64_t kRanges = 200000;
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> wrong{0};
  std::thread begins([&] {
    for (uint64_t id = 1; id <= kRanges;) {
      // As many as the table has room for are under way.
      if (!table->Add(id, RangeOf(static_cast<uint32_t>(id)))) {
        std::this_thread::yield();
        continue;
      }
      started.store(id++, std::memory_order_release);
    }
  });
  const auto end = [&](uint64_t parity) {
    for (uint64_t id = 1 + parity; id <= kRanges; id += 2) {
      while (started.load(std::memory_order_acquire) < id) std::this_thread::yield();
      StartedRange range;
      if (!table->Take(id, 1, &range) || range.name != id) ++wrong;
    }
  };
  std::thread odd(end, 0), even(end, 1);
  begins.join();
  odd.join();
  even.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace gpuprof::inject::ranges
