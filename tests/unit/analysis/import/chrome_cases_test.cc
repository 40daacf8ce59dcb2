// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The files of tests/golden/import: what the reader of the text hands over and notes of each.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "analysis/import/chrome_reader.h"
#include "tests/unit/analysis/import/collected_events.h"

namespace gpuprof::analysis::import {
namespace {

// What is not 0 in the notes of a case; the others have nothing but events.
struct CaseNotes {
  uint64_t repaired = 0, unreadable = 0, bad_texts = 0, lost = 0, not_read = 0, truncated_at = 0;
  bool is_array = false;
};

const std::map<std::string, CaseNotes> kNotes = {
    {"array-of-the-old-profiler", {.is_array = true}},
    {"backslashes-in-names", {.repaired = 3}},
    {"bad-text-in-names", {.repaired = 2, .bad_texts = 3}},
    {"begin-and-end-pairs", {.is_array = true}},
    {"commas-and-no-end", {.truncated_at = 1215}},
    {"inf-and-nan", {.repaired = 3}},
    {"nested-too-deep", {.unreadable = 1}},
    {"quotes-in-names", {.repaired = 1}},
    {"truncated-in-event", {.lost = 1, .truncated_at = 1679}},
    {"two-documents", {.not_read = 759}},
};

std::string InputOf(const std::filesystem::path& folder) {
  const std::filesystem::path plain = folder / "input.json";
  return std::filesystem::exists(plain) ? plain : folder / "input.json.gz";
}

TEST(ChromeCases, EachGivesItsEventsAndNotes) {
  std::set<std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(GPUPROF_GOLDEN_IMPORT)) {
    const std::string name = entry.path().filename();
    if (InputOf(entry.path()).ends_with(".gz") && !std::filesystem::exists(InputOf(entry.path())))
      continue;
    seen.insert(name);
    CollectedEvents events;
    ChromeTextNotes notes;
    const Error error = ReadChrome(InputOf(entry.path()), &events, &notes);
    EXPECT_FALSE(error) << name << ": " << error.message;
    const auto found = kNotes.find(name);
    const CaseNotes wanted = found == kNotes.end() ? CaseNotes{} : found->second;
    EXPECT_GE(notes.events, 2u) << name;
    EXPECT_EQ(notes.events, events.lines.size()) << name;
    EXPECT_EQ(notes.repaired_events, wanted.repaired) << name;
    EXPECT_EQ(notes.unreadable_events, wanted.unreadable) << name;
    EXPECT_EQ(notes.bad_texts, wanted.bad_texts) << name;
    EXPECT_EQ(notes.lost_in_end, wanted.lost) << name;
    EXPECT_EQ(notes.bytes_not_read, wanted.not_read) << name;
    EXPECT_EQ(notes.is_truncated, wanted.truncated_at != 0) << name;
    EXPECT_EQ(notes.truncated_at, wanted.truncated_at) << name;
    EXPECT_EQ(notes.is_array, wanted.is_array) << name;
    EXPECT_FALSE(notes.is_damaged) << name;
  }
  for (const auto& [name, notes] : kNotes) EXPECT_EQ(seen.count(name), 1u) << name;
  EXPECT_GE(seen.size(), 28u);
}

// A broken event in front of the others makes the slow reader read them all.
TEST(ChromeCases, BothReadersGiveTheSame) {
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GPUPROF_GOLDEN_IMPORT)) {
    const std::filesystem::path path = entry.path() / "input.json";
    if (!std::filesystem::exists(path) || kNotes.count(entry.path().filename()) != 0) continue;
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::string broken = text.str();
    const size_t begin = broken.find('[', broken.find("\"traceEvents\"")) + 1;
    if (broken.find("\"traceEvents\"") == std::string::npos) continue;  // compressed
    broken.insert(begin, R"({"ph":"X","name":"a"b"},)");
    const ReadText fast = Read(text.str());
    ReadText slow = Read(broken);
    EXPECT_EQ(slow.notes.repaired_events, 1u) << path;
    ASSERT_FALSE(slow.events.lines.empty()) << path;
    slow.events.lines.erase(slow.events.lines.begin());
    EXPECT_EQ(slow.events.lines, fast.events.lines) << path;
    ++compared;
  }
  EXPECT_GE(compared, 15u);
}

std::vector<std::string> LinesOf(const std::string& name) {
  CollectedEvents events;
  ChromeTextNotes notes;
  ReadChrome(InputOf(std::filesystem::path(GPUPROF_GOLDEN_IMPORT) / name), &events, &notes);
  return events.names;
}

TEST(ChromeCases, NamesAreAsTheyWereMeant) {
  const std::vector<std::string> paths = LinesOf("backslashes-in-names");
  ASSERT_EQ(paths.size(), 5u);
  EXPECT_EQ(paths[0], R"(torch\cuda\__init__.py(219): _lazy_init)");
  EXPECT_EQ(paths[1], R"(C:\users\me\work\step.py(7): step)");
  EXPECT_EQ(paths[2], R"(D:\x86\q.py(1): <module>)");
  const std::vector<std::string> quotes = LinesOf("quotes-in-names");
  ASSERT_EQ(quotes.size(), 5u);
  EXPECT_EQ(quotes[1], R"({"device": "cpu", "dtype": "float32"}(12): run)");
  const std::vector<std::string> bad = LinesOf("bad-text-in-names");
  ASSERT_EQ(bad.size(), 7u);
  EXPECT_EQ(bad[1], "gemm\uFFFD\x01");
  EXPECT_EQ(bad[3], "relu\uFFFD");
  EXPECT_EQ(bad[5], "add\nx\ty");
}

}  // namespace
}  // namespace gpuprof::analysis::import
