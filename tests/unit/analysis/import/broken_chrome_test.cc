// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chrome traces that are not JSON: what is mended, what is skipped, and that all else is kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/import/chrome_reader.h"
#include "tests/unit/analysis/import/collected_events.h"

namespace gpuprof::analysis::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct MendedCase {
  std::string_view event, shown;
  bool is_repaired = true;
  uint64_t bad_texts = 0;
};

const MendedCase kMended[] = {
    {R"({"ph":"X","name":"torch\cuda\__init__.py"})", R"(X name=s:torch\cuda\__init__.py)"},
    {R"({"ph":"X","name":"C:\users\me\new\tab"})", R"(X name=s:C:\users\me\new\tab)"},
    {R"({"ph":"X","name":"D:\x86\q\"u\u00e9"})", "X name=s:D:\\x86\\q\"u\u00e9"},
    {R"({"ph":"X","name":"\\host\share"})", R"(X name=s:\\host\share)"},
    {R"({"ph":"X","name":"\u12"})", R"(X name=s:\u12)"},
    {R"({"ph":"X","args":{"a\q":1}})", R"(X a\q=n:1)"},
    {R"({"ph":"X","args":{"a":inf,"b":-inf,"c":NaN,"d":-nan,"e":Infinity,"f":1}})",
     "X a=null b=null c=null d=null e=null f=n:1"},
    {R"({"ph":"X","dur":nan,"ts":1.#IND})", "X ts=null dur=null"},
    {R"({"ph":"X","ts":+1,"dur":.5,"pid":007})", "X ts=n:+1 dur=n:.5 pid=n:007"},
    {R"({"ph":"X","args":{"a":True}})", "X a=null"},
    {"{\"ph\":\"X\",\"name\":\"a\nx\ty\x01\"}", "X name=s:a\nx\ty\x01"},
    {"{\"ph\":\"X\",\"name\":\"gemm\xff\"}", "X name=s:gemm\uFFFD", false, 1},
    {"{\"ph\":\"X\",\"name\":\"a\xed\xa0\x80z\"}", "X name=s:a\uFFFDz", false, 1},
    {"{\"ph\":\"X\",\"name\":\"\xf0\x9f\x98\",\"cat\":\"\xc0\xaf\"}",
     "X name=s:\uFFFD cat=s:\uFFFD", false, 2},
    {R"({"ph":"X","name":"relu\ud83d"})", "X name=s:relu\uFFFD", false, 1},
    {R"({"ph":"X","name":"\ude00\ud83dx\ud83d\u0041"})", "X name=s:\uFFFD\uFFFDx\uFFFDA", false, 1},
    {"{\"ph\":\"X\",\"args\":{\"a\":[\"\xff\"]}}", "X a=a:[\"\uFFFD\"]", false, 1},
    // Commas need no word.
    {R"({"ph":"X","args":{"a":1,},})", "X a=n:1", false},
    {R"({"ph":"X",,"args":{"a":[1,],,}})", "X a=a:[1,]", false},
    // Quotes within strings.
    {R"({"ph":"X","name":"{"device": "cpu", "dtype": "f"}(12): run","pid":1})",
     R"(X name=s:{"device": "cpu", "dtype": "f"}(12): run pid=n:1)"},
    {R"({"ph":"X","name":"say "hi","pid":1})", R"(X name=s:say "hi pid=n:1)"},
    {R"({"ph":"X","name":"a"b"})", R"(X name=s:a"b)"},
    {R"({"ph":"X","args":{"path":"a"b","n":1}})", R"(X path=s:a"b n=n:1)"},
    {R"({"ph":"X","name":"C:\dir\","pid":1})", R"(X name=s:C:\dir\ pid=n:1)"},
    {R"({"ph":"X","name":"}"{","pid":1})", R"(X name=s:}"{ pid=n:1)"},
};

// Whole events around the broken one, in each layout that writers use.
constexpr std::string_view kGood[] = {
    R"({"ph":"X","name":"one","args":{"a":[{"b":"}"}]}})", R"({"ph":"X","name":"two"})",
    R"({"ph":"X","name":"three","args":{"l":[{"id":1},{"id":2}]}})"};

std::string Around(std::string_view event, size_t place, std::string_view comma,
                   std::string_view begin = "{\"traceEvents\":[") {
  std::string text(begin);
  for (size_t i = 0; i < 4; ++i) {
    if (i != 0) text += comma;
    text += i == place ? event : kGood[i < place ? i : i - 1];
  }
  return text + (begin[0] == '[' ? "]" : "]}");
}

// A window that has the whole text, and windows that have an event each.
TEST(BrokenChrome, AStringBehindAStringIsNoValue) {
  const std::string text = std::string("[") + std::string(kGood[0]) +
                           R"(,{"ph":"X","name":"lost": 32,"args":{"a":1}},)" +
                           std::string(kGood[1]) + "]";
  for (const size_t window : {size_t{64}, size_t{16} << 10}) {
    const ReadText read = Read(text, SIZE_MAX, window);
    EXPECT_FALSE(read.error);
    EXPECT_THAT(read.events.names, ElementsAre("one", "two")) << window;
    EXPECT_EQ(read.notes.unreadable_events, 1u) << window;
  }
}

TEST(BrokenChrome, EventsAreMendedAtAnyPlace) {
  for (const MendedCase& row : kMended) {
    for (const std::string_view comma : {",", ", ", ",\n  "}) {
      for (size_t place = 0; place < 4; ++place) {
        const std::string text = Around(row.event, place, comma);
        const ReadText read = Read(text);
        ASSERT_FALSE(read.error) << read.error.message;
        ASSERT_EQ(read.events.lines.size(), 4u) << text;
        EXPECT_EQ(read.events.lines[place], row.shown) << text;
        EXPECT_EQ(read.notes.repaired_events, row.is_repaired ? 1u : 0u) << text;
        EXPECT_EQ(read.notes.bad_texts, row.bad_texts) << text;
        EXPECT_EQ(read.notes.unreadable_events, 0u) << text;
        EXPECT_FALSE(read.notes.is_truncated) << text;
        EXPECT_EQ(read.notes.first_fault_at, row.is_repaired ? text.find(row.event) : 0) << text;
        EXPECT_EQ(Read(text, 3).events.lines, read.events.lines);
      }
    }
  }
}

const std::string_view kUnreadable[] = {
    R"({"ph":"X","name":"no end,"pid":1})",
    R"({"ph":"X","name":"cut)",
    R"({"ph":"X","name":"cut)"
    "\n",
    R"({"ph":"X","name")",
    R"({"ph":"X")",
    R"({"ph":"X","args":{"a":1)",
    R"({"ph":"X","args":{"a":[1})",
    R"({"ph":"X","args":{"a":[1}}})",
    R"({"ph":"X","args":{"a":[{"b":[1}]}})",
    R"({"ph":"X","args":{"a":[1 2]}})",
    R"({"ph":"X","args":{"a":{"b"}}})",
    R"({"ph":"X","args":{"a":1]}})",
    R"({"ph":"X" "name":"no comma"})",
    R"({"ph":"X","name":no quotes at all})",
    R"({ph:"X"})",
    R"({"ph":"X","name":})",
    R"({"ph":"X",:})",
    R"({"ph":"X",5})",
    R"({'ph':'X','name':'python'})",
    R"({"ph":"X","name":""","pid":"})",
    R"([1,2,3])",
    R"(5)",
    R"(null)",
    R"("text, {")",
};

TEST(BrokenChrome, OtherEventsAreKept) {
  for (const std::string_view event : kUnreadable) {
    for (const std::string_view comma : {",", ", ", ",\n  "}) {
      for (size_t place = 0; place < 4; ++place) {
        for (const std::string_view begin : {"{\"traceEvents\":[", "["}) {
          const std::string text = Around(event, place, comma, begin);
          const ReadText read = Read(text);
          ASSERT_FALSE(read.error) << text << read.error.message;
          std::vector<std::string> names;
          for (const std::string& name : read.events.names) {
            if (name == "one" || name == "two" || name == "three") names.push_back(name);
          }
          EXPECT_THAT(names, ElementsAre("one", "two", "three")) << text;
          const ChromeTextNotes& notes = read.notes;
          EXPECT_GE(notes.unreadable_events + notes.repaired_events + notes.lost_in_end, 1u)
              << text;
          EXPECT_EQ(Read(text, 3).events.lines, read.events.lines);
        }
      }
    }
  }
}

TEST(BrokenChrome, BracketsTooManyAreSteppedOver) {
  for (const std::string_view event :
       {R"({"ph":"X","name":"more"}})", R"({"ph":"X","name":"more"}])"}) {
    for (size_t place = 0; place < 3; ++place) {
      const ReadText read = Read(Around(event, place, ","));
      EXPECT_EQ(read.events.names.size(), 4u);
    }
  }
}

TEST(BrokenChrome, AnArrayWithoutItsBracketEndsWithTheObject) {
  const ReadText read = Read(R"({"traceEvents":[{"ph":"X","name":"a"}})");
  EXPECT_FALSE(read.error);
  EXPECT_THAT(read.events.names, ElementsAre("a"));
}

TEST(BrokenChrome, MissingAndDoubledCommasLoseNothing) {
  const ReadText read =
      Read(R"([,{"ph":"X","name":"a"}{"ph":"X","name":"b"},,{"ph":"X","name":"c"},])");
  EXPECT_THAT(read.events.names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(read.notes.unreadable_events, 0u);
}

TEST(BrokenChrome, AQuoteBetweenEventsHidesNoEvent) {
  const ReadText read = Read(
      R"([{"ph":"X","name":"a"},"{"ph":"X","name":"b"},{"ph":"X","name":"c","args":{"l":[{}]}}])");
  EXPECT_THAT(read.events.names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(read.notes.unreadable_events, 1u);
  EXPECT_FALSE(read.notes.is_truncated);
}

TEST(BrokenChrome, ZerosAtTheEndAreACutFile) {
  const ReadText read = Read(R"([{"ph":"X","name":"a"},)" + std::string(5000, '\0'));
  EXPECT_THAT(read.events.names, ElementsAre("a"));
  EXPECT_TRUE(read.notes.is_truncated);
  EXPECT_EQ(read.notes.unreadable_events, 0u);
}

TEST(BrokenChrome, NestingTooDeepCostsOneEvent) {
  for (const size_t depth : {size_t{300}, size_t{100'000}, size_t{1'000'000}}) {
    const std::string deep = R"({"ph":"X","name":"deep","args":{"a":)" + std::string(depth, '[') +
                             std::string(depth, ']') + "}}";
    const ReadText read = Read(Around(deep, 1, ","));
    EXPECT_THAT(read.events.names, ElementsAre("one", "two", "three"));
    EXPECT_EQ(read.notes.unreadable_events, 1u);
  }
  // Brackets that never close end the text within the event.
  const ReadText open =
      Read(R"([{"ph":"X","name":"a"},{"ph":"X","args":)" + std::string(1'000'000, '['));
  EXPECT_THAT(open.events.names, ElementsAre("a"));
  const ReadText top = Read(std::string(1'000'000, '['));
  EXPECT_EQ(top.notes.events, 0u);
}

// Each of them could be looked for an end in all that follows.
TEST(BrokenChrome, EventsThatNeverCloseAreLeftOneByOne) {
  std::string text = "[";
  constexpr size_t kEvents = 100'000;
  for (size_t i = 0; i < kEvents; ++i) text += R"({"a":[{"ph":"X"},{"ph":)";
  const ReadText read = Read(text);
  EXPECT_GT(read.notes.unreadable_events, kEvents / 2);
  EXPECT_TRUE(read.notes.is_truncated);
}

TEST(BrokenChrome, ManyBrokenEventsInOneWindow) {
  std::string text = "[";
  constexpr size_t kEvents = 3000;
  for (size_t i = 0; i < kEvents; ++i) {
    text += i == 0 ? "" : ",";
    text +=
        R"({"ph":"X","name":"a )" + std::to_string(i) + R"( "quote","pid":1,"args":{"x":[1,2]}})";
  }
  const ReadText read = Read(text + "]");
  EXPECT_EQ(read.notes.events, kEvents);
  EXPECT_EQ(read.notes.repaired_events, kEvents);
}

TEST(BrokenChrome, EventsAreFoundBehindABrokenHeader) {
  for (const std::string_view header :
       {R"("a":"b"c")", R"("a":[1})", R"("a":"C:\dir\")", "a:1", R"("a" 1)", R"("a":"no end)"}) {
    const std::string text =
        "{" + std::string(header) + R"(, "traceEvents" : [{"ph":"X","name":"a"}],"b":1})";
    for (const size_t piece : {SIZE_MAX, size_t{1}}) {
      const ReadText read = Read(text, piece);
      EXPECT_FALSE(read.error) << text << read.error.message;
      EXPECT_THAT(read.events.names, ElementsAre("a")) << text;
      EXPECT_THAT(read.events.headers, ElementsAre("b=n:1")) << text;
      EXPECT_EQ(read.notes.unreadable_headers, 1u) << text;
    }
  }
}

TEST(BrokenChrome, ABrokenHeaderBehindTheEventsIsNotRead) {
  const ReadText read = Read(R"({"traceEvents":[{"ph":"X","name":"a"}],"b":1, "c":[1}})");
  EXPECT_FALSE(read.error);
  EXPECT_THAT(read.events.headers, ElementsAre("b=n:1"));
  EXPECT_EQ(read.notes.bytes_not_read, 8u);
}

TEST(BrokenChrome, LargeHeadersAreRead) {
  const ReadText read = Read(R"({"big":")" + std::string(3 << 20, 'x') +
                             R"(","traceEvents":[{"ph":"X","name":"a"}],"z":NaN})");
  EXPECT_FALSE(read.error);
  EXPECT_EQ(read.events.headers.size(), 2u);
  EXPECT_EQ(read.events.headers[1], "z=null");
}

}  // namespace
}  // namespace gpuprof::analysis::import
