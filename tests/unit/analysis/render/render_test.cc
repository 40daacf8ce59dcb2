// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables, figures, JSON and CSV.

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/figures.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/csv_text.h"
#include "analysis/render/json.h"
#include "analysis/render/table.h"
#include "proto/results/heap.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"
#include "proto/results/threads.pb.h"

namespace gpuprof::analysis {
namespace {

TEST(OneLine, TellsControlsAndWhatIsNoUtf8) {
  EXPECT_EQ(OneLine("plain \xc3\xbc \xe2\x82\xac"), "plain \xc3\xbc \xe2\x82\xac");
  EXPECT_EQ(OneLine("two\nlines\t\x1b"), "two\\nlines\\x09\\x1b");
  EXPECT_EQ(OneLine("a\xff\xc0\xaf"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(OneLine("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(OneLine("cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd");
}

// U+009B is to a terminal what ESC and [ are.
TEST(OneLine, TellsC1AndWhatWasToldStays) {
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "2J \xc2\x80\xc2\x9f"),
            "\\u009b2J \\u0080\\u009f");
  EXPECT_EQ(OneLine("\xc2\xa0\xc2"), "\xc2\xa0\xef\xbf\xbd");
  EXPECT_EQ(OneLine(OneLine("\x1b\\")), "\\x1b\\");
}

// With these a name looks like another one.
TEST(OneLine, TellsWhatTurnsTextOrIsNotSeen) {
  EXPECT_EQ(OneLine("gpj.\u202egnp"), "gpj.\\u202egnp");
  EXPECT_EQ(OneLine("\u061c\u200b\u200c\u200d\u200e\u200f"),
            "\\u061c\\u200b\\u200c\\u200d\\u200e\\u200f");
  EXPECT_EQ(OneLine("\u2028\u2029\u202a\u202e"), "\\u2028\\u2029\\u202a\\u202e");
  EXPECT_EQ(OneLine("\u2060\u2064\u2066\u2069\ufeff"), "\\u2060\\u2064\\u2066\\u2069\\ufeff");
  EXPECT_EQ(OneLine("\U000e0001\U000e0041\U000e007f"), "\\U000e0001\\U000e0041\\U000e007f");
  const std::string seen = "\u061b\u061d\u200a\u2010\u2027\u202f\u205f\ufefe\ufffc\U000e1000\u05d0";
  EXPECT_EQ(OneLine(seen), seen);
}

// Terminals show nothing for them: two names look the same, or a name looks empty.
TEST(OneLine, TellsEveryDefaultIgnorableCodePoint) {
  EXPECT_EQ(OneLine("no\u00adpe\u034f"), "no\\u00adpe\\u034f");
  EXPECT_EQ(OneLine("\u115f\u1160\u3164\uffa0"), "\\u115f\\u1160\\u3164\\uffa0");
  EXPECT_EQ(OneLine("\u17b4\u17b5\u180b\u180e\u180f"), "\\u17b4\\u17b5\\u180b\\u180e\\u180f");
  EXPECT_EQ(OneLine("\u206a\u206f\ufff0\ufff9"), "\\u206a\\u206f\\ufff0\\ufff9");
  EXPECT_EQ(OneLine("\U0001bca0\U0001d173"), "\\U0001bca0\\U0001d173");
  EXPECT_EQ(OneLine("a\ufe00b\ufe0fc\U000e0100\U000e0fff"),
            "a\\ufe00b\\ufe0fc\\U000e0100\\U000e0fff");
}

TEST(OneLine, KeepsWhatEmojiAreMadeOf) {
  const std::string heart = "\u2764\ufe0f", family = "\U0001f468\U0001f3fd\u200d\U0001f467";
  const std::string flag = "\U0001f3f3\ufe0f\u200d\U0001f308";
  EXPECT_EQ(OneLine(heart + family + flag), heart + family + flag);
  EXPECT_EQ(OneLine(heart + "\ufe0f"), heart + "\\ufe0f");
  EXPECT_EQ(OneLine("\U0001f468\u200d"), "\U0001f468\\u200d");
  EXPECT_EQ(OneLine("\u200d\U0001f467"), "\\u200d\U0001f467");
  EXPECT_EQ(OneLine("\U0001f468\u200dx"), "\U0001f468\\u200dx");
  EXPECT_EQ(OneLine("1\ufe0f \u00a9\ufe0f"), "1\\ufe0f \u00a9\\ufe0f");
}

TEST(OneLine, KeepsJoinersThatSpellingNeeds) {
  const std::string persian = "\u0645\u06cc\u200c\u062e", hindi = "\u0915\u094d\u200d\u0937";
  EXPECT_EQ(OneLine(persian + hindi), persian + hindi);
  EXPECT_EQ(OneLine("\u0645\u200cx"), "\u0645\\u200cx");
  EXPECT_EQ(OneLine("\u0645\u200d\u062e"), "\u0645\\u200d\u062e");
  EXPECT_EQ(OneLine("\u0915\u200d\u0937"), "\u0915\\u200d\u0937");
}

TEST(PlainLines, KeepsLineFeedsAlone) {
  EXPECT_EQ(PlainLines("a\n\rb\x1b[2J\n\xe9"), "a\n\\x0db\\x1b[2J\n\xef\xbf\xbd");
}

TEST(PlainJson, EscapesWhatATerminalObeys) {
  EXPECT_EQ(PlainJson("{\"a\": \"caf\xc3\xa9 \xc2\xa0\"}"), "{\"a\": \"caf\xc3\xa9 \xc2\xa0\"}");
  EXPECT_EQ(PlainJson("\"\x7f\xc2\x9b\xc2\xa9\xc2\x80\""), "\"\\u007f\\u009b\xc2\xa9\\u0080\"");
  EXPECT_EQ(PlainJson("\"a\u202eb\u200b\U000e0041\u20ac\""),
            "\"a\\u202eb\\u200b\\udb40\\udc41\u20ac\"");
}

TEST(CsvText, IsNoFormula) {
  for (const char* text : {"=cmd|'/c calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "-", "\uff1d1",
                           "\uff0b1", "\uff0d1", "\uff201", " =1", "\u3000=1", "-inf", "+"}) {
    EXPECT_EQ(CsvText(text), "'" + std::string(text));
  }
  EXPECT_EQ(CsvText("main;=1;b"), "main;'=1;b");
  EXPECT_EQ(CsvText("\t=1"), "\\x09=1");
}

TEST(CsvJson, HasNoFormulaBehindASemicolon) {
  EXPECT_EQ(CsvJson("[\"a;=1;b;+x;+1\"]"), "[\"a\\u003b=1;b\\u003b+x\\u003b+1\"]");
  EXPECT_EQ(CsvJson("[1;2]"), "[1;2]");
}

TEST(CsvText, LeavesNumbersAndNamesAsTheyAre) {
  for (const char* text : {"", "-5", "+1.5e-3", "0", "a=b", "gemm +relu", "--x"}) {
    EXPECT_EQ(CsvText(text), text[0] == '-' && text[1] == '-' ? "'--x" : std::string(text));
  }
}

TEST(Figures, ForPeople) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(999), "999");
  EXPECT_EQ(FormatNumber(1000), "1,000");
  EXPECT_EQ(FormatNumber(1234567), "1,234,567");
  EXPECT_EQ(FormatPercent(0.1234), "12.3 %");
  EXPECT_EQ(FormatReal(9.994), "9.99");
  EXPECT_EQ(FormatReal(9.996), "10.0");
  EXPECT_EQ(FormatReal(123.4), "123");
  EXPECT_EQ(FormatAddress(0xbeef), "0xbeef");
}

TEST(TextTable, AlignsAndCutsTheFlexibleColumn) {
  TextTable table;
  table.AddColumn("name", TextTable::Align::kLeft, true);
  table.AddColumn("n", TextTable::Align::kRight);
  table.AddRow({"short", "1"});
  table.AddRow({"a name that is much too long for it", "12345"});
  EXPECT_EQ(table.Render(0),
            "  name                                     n\n"
            "  short                                    1\n"
            "  a name that is much too long for it  12345\n");
  EXPECT_EQ(table.Render(30),
            "  name                       n\n"
            "  short                      1\n"
            "  a name th...ng for it  12345\n");
}

TEST(TextTable, CutsByCharactersNotBytes) {
  EXPECT_EQ(DisplayWidth("größe"), 5u);
  EXPECT_EQ(CutTo("größenordnung", 8), "grö...ng");
  EXPECT_EQ(CutTo("größe", 5), "größe");
}

TEST(DisplayWidth, CountsTheColumnsOfATerminal) {
  EXPECT_EQ(DisplayWidth("\u884c\u5217"), 4U);  // two Chinese characters
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);       // a letter and a combining accent
  EXPECT_EQ(DisplayWidth("\uff76\u30ab"), 3U);  // a narrow and a wide kana
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2U);    // an emoji
  EXPECT_EQ(DisplayWidth("a\xff"), 2U);         // a byte that is not UTF-8
  EXPECT_EQ(CutTo("\u884c\u5217\u8ba1\u7b97\u5668", 9), "\u884c...\u5668");
  EXPECT_EQ(CutTo("abcde\u0301fghijkl", 9), "abc...jkl");
  EXPECT_EQ(DisplayWidth(CutTo("\u884c\u5217\u8ba1\u7b97\u5668", 6)), 6U);
}

TEST(TextTable, AlignsByDisplayColumns) {
  TextTable table;
  table.AddColumn("name", TextTable::Align::kLeft, true);
  table.AddColumn("n", TextTable::Align::kRight);
  table.AddRow({"\u884c\u5217", "1"});
  table.AddRow({"e\u0301", "2"});
  table.AddRow({"plain", "3"});
  EXPECT_EQ(table.Render(0),
            "  name   n\n"
            "  \u884c\u5217   1\n"
            "  e\u0301      2\n"
            "  plain  3\n");
}

TEST(TextTable, LeavesOutColumnsThatHaveNoRoom) {
  TextTable table;
  table.AddColumn("name", TextTable::Align::kLeft, true);
  for (const char* header : {"total", "min", "max"})
    table.AddColumn(header, TextTable::Align::kRight);
  table.AddRow({std::string(50, 'a'), "1000 ms", "2000 ms", "3000 ms"});
  EXPECT_EQ(table.Render(40),
            "  name                    total      max\n"
            "  aaaaaaaaa...aaaaaaaa  1000 ms  3000 ms\n"
            "  (no room for: min; --wide shows all)\n");
  // However narrow: no line is wider.
  for (int width = 1; width < 90; ++width) {
    std::istringstream lines(table.Render(width));
    size_t number = 0;
    for (std::string line; std::getline(lines, line) && number < 2; ++number)
      EXPECT_LE(DisplayWidth(line), static_cast<size_t>(std::max(width, 3))) << line;
  }
}

TEST(TextTable, KeepsCutNamesApart) {
  TextTable table;
  table.AddColumn("name", TextTable::Align::kLeft, true);
  const std::string begin(40, 'b'), end(40, 'e');
  std::set<std::string> rows;
  for (const char* middle : {"first", "second", "third"}) table.AddRow({begin + middle + end});
  for (int i = 0; i < 20; ++i)
    table.AddRow({begin + std::to_string(i) + begin + std::to_string(i % 3) + end});
  std::istringstream lines(table.Render(30));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), 30U) << line;
    EXPECT_TRUE(rows.insert(line).second) << line;
  }
  EXPECT_EQ(rows.size(), 24U);
  EXPECT_TRUE(rows.count("  bbbbbbbbb...firsteeeeeeeeeee")) << table.Render(30);
}

TEST(WrapText, BreaksBetweenWords) {
  EXPECT_EQ(WrapText("one two three four", "- ", "  ", 10), "- one two\n  three\n  four\n");
  EXPECT_EQ(WrapText("one two", "", "", 0), "one two\n");
  EXPECT_EQ(WrapText("averyverylongword b", "", "", 5), "averyverylongword\nb\n");
  EXPECT_EQ(WrapText("a\nb \x1b[2J", "", "  ", 0), "a\\nb \\x1b[2J\n");
}

// Names that a program chose, wherever they stand in a text.
TEST(Text, HoldsNothingThatATerminalObeys) {
  results::Locks locks;
  locks.add_locks()->set_name("in\x1b[2J");
  results::DeadlockWait* wait = locks.add_deadlocks()->add_waits();
  wait->set_waiter("w\x1b]0;title\x07");
  wait->set_holder(
      "h\xc2\x9b"
      "2J");
  const auto add_stack = [](const char* name, results::CallStacks* stacks) {
    stacks->add_frames()->set_name(name);
    for (const uint32_t frame : {0, 0}) {
      stacks->add_frame(frame);
      stacks->add_caller(0);
    }
    return 1u;
  };
  wait->set_call_stack(add_stack("f\nforged line", locks.mutable_call_stacks()));
  results::Overview overview;
  overview.add_processes();
  overview.mutable_steps()->set_name("s\x1b[1A");
  overview.mutable_environment()->add_frameworks("torch\x1b[2J");
  overview.mutable_memory()->set_peak_call_stack(
      add_stack("alloc\r\nforged line", overview.mutable_call_stacks()));
  overview.mutable_memory()->set_count(1);
  for (const google::protobuf::Message* result :
       std::initializer_list<const google::protobuf::Message*>{&locks, &overview}) {
    const std::string text = Render(*result, Format::kText, {}, 0);
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](unsigned char c) {
      return (c < 0x20 && c != '\n') || c == 0x7f;
    })) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
    EXPECT_EQ(text.find("\nforged line"), std::string::npos) << text;
    EXPECT_NE(text.find("forged line"), std::string::npos) << text;
  }
}

TEST(Json, NumbersEnumsAndAbsentFields) {
  results::Overview overview;
  results::Finding* finding = overview.add_findings();
  finding->set_severity(results::SEVERITY_HIGH);
  finding->mutable_confidence()->set_level(results::LEVEL_LOW);
  overview.mutable_meta()->set_window_end_ns(9'007'199'254'740'993);
  overview.mutable_meta()->set_path("caf\xe9");  // not UTF-8
  const auto json = nlohmann::json::parse(ToJson(overview));
  EXPECT_EQ(json["findings"][0]["severity"], "high");
  EXPECT_EQ(json["findings"][0]["confidence"]["level"], "low");
  EXPECT_TRUE(json["findings"][0]["gain"].is_null());
  EXPECT_EQ(json["meta"]["window_end_ns"].get<int64_t>(), 9'007'199'254'740'993);
  EXPECT_TRUE(json["steps"].is_null());
  EXPECT_TRUE(json["top_ops"].is_array());
  EXPECT_EQ(json["meta"]["lost_count"], 0);
  EXPECT_EQ(json["meta"]["path"], "caf\xef\xbf\xbd");
}

TEST(Json, EnumWordsLoseTheirCommonPrefix) {
  results::StepSeries series;
  series.set_method(results::STEP_METHOD_OPTIMIZER);
  EXPECT_EQ(nlohmann::json::parse(ToJson(series))["method"], "optimizer");
}

// Keys of time, size and share end in their unit, all the way down.
void CheckKeys(const google::protobuf::Descriptor* type, std::set<std::string>* seen) {
  if (!seen->insert(type->full_name()).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    const auto* field = type->field(i);
    EXPECT_EQ(field->name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << field->full_name();
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      CheckKeys(field->message_type(), seen);
    }
    // A count has no unit, and may be of parts: waves of a kernel's blocks.
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) {
      EXPECT_TRUE(field->name().ends_with("_ratio") || field->name().ends_with("_per_step") ||
                  field->name().ends_with("_per_s") || field->name().ends_with("_count"))
          << field->full_name();
    }
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT64) {
      EXPECT_TRUE(field->name().ends_with("_ns")) << field->full_name();
    }
  }
}

TEST(Json, KeysEndInTheirUnit) {
  std::set<std::string> seen;
  for (const auto* type :
       {results::Overview::descriptor(), results::Steps::descriptor(), results::Heap::descriptor(),
        results::Locks::descriptor(), results::Threads::descriptor()}) {
    CheckKeys(type, &seen);
    EXPECT_EQ(type->field(0)->name(), "meta");
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(Csv, QuotesAndFlattens) {
  results::Locks locks;
  results::Lock* lock = locks.add_locks();
  lock->set_name("f(int, \"x\")");
  lock->set_short_name("f");
  lock->add_threads("a");
  lock->add_threads("b");
  lock->mutable_caller()->set_name("caller");
  results::CallStacks* stacks = locks.mutable_call_stacks();
  for (const char* name : {"one", "two"}) stacks->add_frames()->set_name(name);
  for (const auto& [frame, caller] :
       {std::pair(0, 0), std::pair(1, 0), std::pair(0, 1), std::pair(0, 2), std::pair(0, 3)}) {
    stacks->add_frame(static_cast<uint32_t>(frame));
    stacks->add_caller(static_cast<uint32_t>(caller));
  }
  lock->set_call_stack(4);
  const std::string csv = ToCsv(locks, "locks");
  const size_t first = csv.find("\r\n");
  const std::string header = csv.substr(0, first);
  EXPECT_EQ(header.substr(0, 24), "name,short_name,kind,con");
  EXPECT_NE(header.find("caller_name,caller_short_name,caller_module"), std::string::npos);
  const std::string row = csv.substr(first + 2);
  EXPECT_EQ(row.substr(0, 20), "\"f(int, \"\"x\"\")\",f,,f");
  EXPECT_NE(row.find(",a;b,"), std::string::npos);
  EXPECT_NE(row.find(",one;one;one;two,"), std::string::npos);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            // The name has one comma of its own.
            std::count(row.begin(), row.end(), ',') - 1);
}

TEST(StackFrames, DamagedTablesEnd) {
  results::CallStacks stacks;
  EXPECT_TRUE(FramesOf(stacks, 0).empty());
  EXPECT_TRUE(FramesOf(stacks, 7).empty());
  stacks.add_frames()->set_name("f");
  for (const uint32_t caller : {0, 1, 1}) {
    stacks.add_frame(0);
    stacks.add_caller(caller);
  }
  EXPECT_EQ(FramesOf(stacks, 2).size(), static_cast<size_t>(kMostFrames)) << "a circle";
  stacks.set_frame(2, 5);
  EXPECT_TRUE(FramesOf(stacks, 2).empty()) << "no such frame";
}

// JSON must not need memory of its length.
TEST(Json, ComesInPieces) {
  results::Heap heap;
  for (int i = 0; i < 5000; ++i) heap.add_stacks()->set_name("a name of some length");
  std::vector<std::string> pieces;
  const auto keep = [](void* context, std::string_view text) {
    auto* kept = static_cast<std::vector<std::string>*>(context);
    kept->emplace_back(text);
    return kept->size() < 3;
  };
  Render(heap, Format::kJson, {}, 0, keep, &pieces);
  ASSERT_EQ(pieces.size(), 3u) << "none after the sink wanted no more";
  std::string text;
  for (const std::string& piece : pieces) {
    EXPECT_LT(piece.size(), size_t{128} << 10);
    text += piece;
  }
  EXPECT_EQ(text, ToJson(heap).substr(0, text.size()));
  EXPECT_EQ(nlohmann::json::parse(ToJson(heap))["stacks"].size(), 5000u);
}

TEST(Csv, APathReachesInside) {
  results::Overview overview;
  overview.mutable_steps()->add_categories()->set_name("input");
  EXPECT_NE(ToCsv(overview, "steps.categories").find("\r\ninput,0,0"), std::string::npos);
  EXPECT_EQ(ToCsv(overview, "nothing"), "");
}

}  // namespace
}  // namespace gpuprof::analysis
