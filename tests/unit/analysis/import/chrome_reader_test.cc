// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chrome traces that are JSON: every shape of the top level, seams of windows, gzip, files.

#include "analysis/import/chrome_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>

#include "tests/unit/analysis/import/collected_events.h"

namespace gpuprof::analysis::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

constexpr std::string_view kSmall =
    R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 1.001, "dur": 2,
   "args": {"grid": [8, 1, 1], "device": 0, "deep": {"a": [{}]}, "none": null, "is": true}},
  {"ph": "i", "s": "t", "name": "[\"x\"] \u00e9\ud83d\ude00\n", "id": "0x1f", "ts": 5, "args": {}}
], "baseTimeNanoseconds": 17, "traceName": "a\/b", "flags": {"x": [1]}})";

TEST(ChromeReader, HandsOverEventsAndHeaders) {
  const ReadText read = Read(kSmall);
  EXPECT_FALSE(read.error) << read.error.message;
  EXPECT_THAT(read.events.lines,
              ElementsAre("X name=s:gemm cat=s:kernel ts=n:1.001 dur=n:2 pid=n:0 tid=s:stream 7 "
                          "grid=a:[8, 1, 1] device=n:0 deep=o:{\"a\": [{}]} none=null is=b:true",
                          "i name=s:[\"x\"] \u00e9\U0001F600\n ts=n:5 id=s:0x1f s=s:t"));
  EXPECT_THAT(read.events.headers, ElementsAre("schemaVersion=n:1", "baseTimeNanoseconds=n:17",
                                               "traceName=s:a/b", "flags=o:{\"x\": [1]}"));
  EXPECT_EQ(read.notes.events, 2u);
  EXPECT_EQ(read.notes.bytes, kSmall.size());
  EXPECT_FALSE(read.notes.is_truncated || read.notes.is_array || read.notes.is_damaged);
  EXPECT_EQ(read.notes.repaired_events + read.notes.unreadable_events + read.notes.bad_texts, 0u);
  EXPECT_EQ(read.notes.bytes_not_read, 0u);
}

TEST(ChromeReader, PiecesOfAnySizeGiveTheSame) {
  const std::string packed = Gzip(kSmall);
  const ReadText whole = Read(kSmall);
  for (size_t piece = 1; piece < 40; ++piece) {
    EXPECT_EQ(Read(kSmall, piece).events.lines, whole.events.lines) << piece;
    EXPECT_EQ(Read(packed, piece).events.lines, whole.events.lines) << piece;
    EXPECT_EQ(Read(packed, piece).notes.bytes, kSmall.size());
  }
}

TEST(ChromeReader, WindowsOfAnySizeGiveTheSame) {
  const ReadText whole = Read(kSmall);
  for (size_t window = 1; window < 500; ++window) {
    const ReadText read = Read(kSmall, SIZE_MAX, window);
    EXPECT_EQ(read.events.lines, whole.events.lines) << window;
    EXPECT_EQ(read.events.headers, whole.events.headers) << window;
    EXPECT_EQ(read.notes.repaired_events + read.notes.unreadable_events, 0u) << window;
  }
}

TEST(ChromeReader, TheLastOfEqualKeysCounts) {
  const ReadText read = Read(
      R"([{"name":"a","args":{"x":1},"ph":"X","name":"b","ph":"i","args":{"y":2,"y":3}},
          {"ph":"X","args":{"x":1},"args":null}])");
  EXPECT_THAT(read.events.lines, ElementsAre("i name=s:b y=n:2 y=n:3", "X"));
}

TEST(ChromeReader, ValuesOfWrongKindsAreHandedOver) {
  const ReadText read = Read(
      R"([{"ph":5,"name":[1],"ts":{},"dur":true,"pid":null,"args":[1]},{"ph":"","args":"x"},{}])");
  EXPECT_THAT(read.events.lines, ElementsAre("? name=a:[1] ts=o:{} dur=b:true pid=null", "?", "?"));
}

// A trace of many windows, whose events have many sizes; one is larger than a window.
std::string LargeTrace(size_t events, std::vector<std::string>* names) {
  std::string text = "{\"traceEvents\":[";
  for (size_t i = 0; i < events; ++i) {
    std::string name = "event " + std::to_string(i) + " " + std::string(i * 7919 % 300, '\\');
    if (i == events / 2) name += std::string(3 << 20, '}');
    if (name.size() % 2 != 0) name += 'x';
    names->push_back(name);
    std::string escaped;
    for (const char c : name) escaped += c == '\\' ? "\\\\" : std::string(1, c);
    text += (i == 0 ? "" : ",\n ");
    text += R"({"ph":"X","name":")" + escaped + R"(","args":{"a":[1,"]"],"b":{"c":"{"}}})";
  }
  return text + "]}";
}

TEST(ChromeReader, EventsMayLieAcrossWindows) {
  std::vector<std::string> names;
  const std::string text = LargeTrace(20'000, &names);
  for (const size_t piece : {SIZE_MAX, size_t{4093}, size_t{65536}}) {
    const ReadText read = Read(text, piece);
    EXPECT_FALSE(read.error);
    EXPECT_EQ(read.events.names, names) << piece;
    EXPECT_EQ(read.notes.repaired_events + read.notes.unreadable_events, 0u);
  }
}

TEST(ChromeReader, TheTopLevelMayBeAnArray) {
  const ReadText read = Read(R"( [{"ph":"X","name":"a"} , {"ph":"X","name":"b"}] )");
  EXPECT_THAT(read.events.names, ElementsAre("a", "b"));
  EXPECT_TRUE(read.notes.is_array);
  EXPECT_FALSE(read.notes.is_truncated);
  EXPECT_FALSE(Read("[]").error);
}

TEST(ChromeReader, ByteOrderMarkAndCarriageReturnsArePassedOver) {
  const ReadText read = Read("\xef\xbb\xbf{\r\n\"traceEvents\":[\r\n{\"ph\":\"X\"}\r\n]\r\n}\r\n");
  EXPECT_FALSE(read.error);
  EXPECT_EQ(read.notes.events, 1u);
  EXPECT_EQ(read.notes.repaired_events, 0u);
}

TEST(ChromeReader, ASecondDocumentIsNotReadAndCounted) {
  const std::string second = "{\"traceEvents\":[{\"ph\":\"X\"}]}\n";
  for (const std::string& text :
       {"{\"traceEvents\":[{\"ph\":\"X\"}]}\n" + second, "[{\"ph\":\"X\"}]\n" + second}) {
    const ReadText read = Read(text, 5);
    EXPECT_FALSE(read.error);
    EXPECT_EQ(read.notes.events, 1u);
    EXPECT_EQ(read.notes.bytes_not_read, second.size());
    EXPECT_EQ(read.notes.bytes, text.size());
  }
}

struct CutCase {
  std::string_view text;
  uint64_t events, lost;
};

TEST(ChromeReader, CutFilesGiveWhatWasWhole) {
  const CutCase cases[] = {
      {R"({"traceEvents":[)", 0, 0},
      {R"({"traceEvents":[{"ph":"X"})", 1, 0},
      {R"({"traceEvents":[{"ph":"X"},)", 1, 0},
      {R"({"traceEvents":[{"ph":"X"},  )", 1, 0},
      {R"({"traceEvents":[{"ph":"X"},{)", 1, 1},
      {R"({"traceEvents":[{"ph":"X"},{"ph)", 1, 1},
      {R"({"traceEvents":[{"ph":"X"},{"ph":"i","args":{"x":[1,2)", 1, 1},
      {R"({"traceEvents":[{"ph":"X"},{"name":"a\)", 1, 1},
      {R"({"traceEvents":[{"ph":"X"}])", 1, 0},
      {R"({"traceEvents":[{"ph":"X"}],"na)", 1, 0},
      {R"({"traceEvents":[{"ph":"X"}],"name")", 1, 0},
      {R"({"traceEvents":[{"ph":"X"}],"name":)", 1, 0},
      {R"({"traceEvents":[{"ph":"X"}],"name":[1)", 1, 0},
      {R"([{"ph":"X"},{"ph":"X"},)", 2, 0},
      {R"([{"ph":"X"},{"ph":"X")", 1, 1},
  };
  for (const CutCase& row : cases) {
    for (const size_t piece : {SIZE_MAX, size_t{1}}) {
      const ReadText read = Read(row.text, piece);
      EXPECT_FALSE(read.error) << row.text << read.error.message;
      EXPECT_EQ(read.notes.events, row.events) << row.text;
      EXPECT_EQ(read.notes.lost_in_end, row.lost) << row.text;
      EXPECT_TRUE(read.notes.is_truncated) << row.text;
      EXPECT_EQ(read.notes.truncated_at, row.text.size()) << row.text;
      EXPECT_EQ(read.notes.unreadable_events, 0u) << row.text;
    }
  }
}

TEST(ChromeReader, OtherFilesAreRefusedWithTheCause) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "the file is empty"},
      {" \n\t ", "only blanks"},
      {"hello", "0x68 at byte 0"},
      {"\x7f"
       "ELF",
       "0x7f at byte 0"},
      {"\"text\"", "0x22 at byte 0"},
      {"{}", "no array traceEvents"},
      {R"({"traceEvents":{}})", "no array traceEvents"},
      {R"({"traceEvents":null,"a":1})", "no array traceEvents"},
      {R"({"a":)", "ends before its events"},
      {R"({a:1})", "is broken and has no array traceEvents"},
      {R"({"a":[1}})", "is broken and has no array traceEvents"},
      {"[1,2,3]", "no element of the array is an event"},
      {"[[],[]]", "no element of the array is an event"},
      {std::string_view("\x1f\x8b", 2), "cannot be inflated"},
      {std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\0\x07zz", 13), "cannot be inflated"},
  };
  for (const auto& [text, cause] : cases) {
    const ReadText read = Read(text);
    EXPECT_EQ(read.error.kind, ErrorKind::kUnreadable) << text;
    EXPECT_THAT(read.error.message, HasSubstr(cause));
    EXPECT_THAT(read.error.message, HasSubstr("trace.json: "));
    EXPECT_THAT(read.error.message, HasSubstr("name a Chrome trace"));
  }
}

TEST(ChromeReader, Utf16IsRefusedWithWhatToDo) {
  for (const std::string_view text :
       {std::string_view("\xff\xfe{\0", 4), std::string_view("\xfe\xff\0{", 4)})
    EXPECT_THAT(Read(text).error.message, HasSubstr("iconv -f UTF-16 -t UTF-8"));
}

TEST(ChromeGzip, MembersFollowEachOtherAndTheSeamLiesAnywhere) {
  const ReadText whole = Read(kSmall);
  for (size_t seam = 0; seam <= kSmall.size(); seam += 13) {
    const std::string packed = Gzip(kSmall.substr(0, seam)) + Gzip("") + Gzip(kSmall.substr(seam));
    const ReadText read = Read(packed, 7);
    EXPECT_EQ(read.events.lines, whole.events.lines) << seam;
    EXPECT_FALSE(read.notes.is_damaged);
  }
}

TEST(ChromeGzip, WhatFollowsIsCountedWithoutZeros) {
  const ReadText read = Read(Gzip(kSmall) + std::string(100, '\0') + "rest", 3);
  EXPECT_EQ(read.notes.events, 2u);
  EXPECT_EQ(read.notes.bytes_not_read, 4u);
  EXPECT_FALSE(read.notes.is_damaged);
}

TEST(ChromeGzip, CutAndDamagedBytesKeepWhatCameBefore) {
  std::vector<std::string> names;
  const std::string text = LargeTrace(3000, &names);
  const std::string packed = Gzip(text);
  const ReadText cut = Read(std::string_view(packed).substr(0, packed.size() / 2));
  EXPECT_FALSE(cut.error);
  EXPECT_TRUE(cut.notes.is_damaged);
  EXPECT_TRUE(cut.notes.is_truncated);
  EXPECT_GT(cut.notes.events, 100u);
  EXPECT_LT(cut.notes.events, 3000u);
  std::string damaged = packed;
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) damaged[i] = '\x55';
  const ReadText read = Read(damaged);
  EXPECT_TRUE(read.notes.is_damaged);
  EXPECT_GT(read.notes.events, 100u);
  // The check value alone is gone: nothing of the text is.
  const ReadText trailer = Read(std::string_view(packed).substr(0, packed.size() - 8));
  EXPECT_TRUE(trailer.notes.is_damaged);
  EXPECT_FALSE(trailer.notes.is_truncated);
  EXPECT_EQ(trailer.notes.events, 3000u);
}

// Gives one byte for ever, inflated: it stands for a small file that inflates to terabytes.
class EndlessSource : public ByteSource {
 public:
  EndlessSource(std::string begin, char byte) : begin_(std::move(begin)), byte_(byte) {
    deflateInit2(&stream_, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    plain_ = begin_ + std::string(1 << 20, byte_);
  }
  ~EndlessSource() override { deflateEnd(&stream_); }
  Result<size_t> Read(char* to, size_t most) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(most);
    while (stream_.avail_out == most) {
      stream_.next_in = reinterpret_cast<Bytef*>(plain_.data());
      stream_.avail_in = static_cast<uInt>(plain_.size());
      deflate(&stream_, Z_SYNC_FLUSH);
      plain_.assign(1 << 20, byte_);
    }
    return most - stream_.avail_out;
  }

 private:
  std::string begin_, plain_;
  char byte_;
  z_stream stream_ = {};
};

TEST(ChromeGzip, TextWithoutEventsEndsTheReading) {
  EndlessSource source("[{\"ph\":\"X\"},", ' ');
  CollectedEvents events;
  ChromeTextNotes notes;
  const Error error = ReadChrome(&source, "trace.json", &events, &notes);
  EXPECT_EQ(error.kind, ErrorKind::kUnreadable);
  EXPECT_THAT(error.message, HasSubstr("without an event"));
  EXPECT_EQ(notes.events, 1u);
}

class ChromeFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gpuprof-chrome-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    unlink((folder_ + "/trace").c_str());
    rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST_F(ChromeFiles, AreReadByTheirPath) {
  const std::string path = folder_ + "/trace";
  std::ofstream(path) << Gzip(kSmall);
  CollectedEvents events;
  ChromeTextNotes notes;
  EXPECT_FALSE(ReadChrome(path, &events, &notes));
  EXPECT_EQ(notes.events, 2u);
}

TEST_F(ChromeFiles, PipesFoldersAndMissingFilesAreRefused) {
  const std::string path = folder_ + "/trace";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, folder_, folder_ + "/missing"}) {
    CollectedEvents events;
    ChromeTextNotes notes;
    const Error error = ReadChrome(name, &events, &notes);
    EXPECT_EQ(error.kind, ErrorKind::kUnreadable);
    EXPECT_THAT(error.message, HasSubstr(name + ": "));
  }
}

}  // namespace
}  // namespace gpuprof::analysis::import
