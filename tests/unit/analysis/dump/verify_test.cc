// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof verify`: silent on whole files, names each kind of damage with its place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "proto/codec/trace_reader.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using nlohmann::json;
using proto::ChunkKind;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

class VerifyTest : public testing::Test {
 protected:
  // A file with tables, three blocks of ops, what `more` adds, and an end.
  std::string Make(const std::function<void(TraceMaker*)>& more = {}) {
    TraceMaker maker(directory_.path(), 100, kWall / 1000);
    maker.Meta(maker.Identity(1));
    maker.Clock(0, kSecond, kWall);
    maker.Strings({{2, "op"}});
    for (uint64_t block = 0; block < 3; ++block) {
      for (uint64_t i = 1; i <= 10; ++i) maker.Op(1, 1000 * (block * 10 + i), 100, 2);
      maker.Flush();
    }
    if (more) more(&maker);
    maker.End();
    maker.Close();
    return maker.path();
  }

  static codec::TraceScan Scan(const std::string& bytes) {
    codec::TraceScan scan;
    codec::Scan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &scan);
    return scan;
  }

  // Expects one finding, with these words and at this byte.
  static void ExpectFinding(const std::string& path, const std::string& words, uint64_t offset) {
    const VerifyReport report = Verify(path);
    EXPECT_FALSE(report.ok);
    const json findings = json::parse(report.json)["files"][0]["findings"];
    ASSERT_EQ(findings.size(), 1u) << report.text;
    EXPECT_THAT(findings[0]["what"].get<std::string>(), HasSubstr(words));
    EXPECT_EQ(findings[0]["offset"], offset);
    EXPECT_THAT(report.text, HasSubstr("at byte " + std::to_string(offset)));
    EXPECT_THAT(report.text, HasSubstr("damaged: 1 file"));
  }

  TemporaryDirectory directory_;
};

TEST_F(VerifyTest, WholeFileIsOk) {
  const std::string path = Make();
  const VerifyReport report = Verify(path);
  EXPECT_TRUE(report.ok) << report.text;
  EXPECT_THAT(report.text, HasSubstr("ok: 1 file"));
  EXPECT_THAT(report.text, HasSubstr("30 rows"));
  const json file = json::parse(report.json)["files"][0];
  EXPECT_EQ(file["ok"], true);
  EXPECT_EQ(file["count"], 30);
  EXPECT_EQ(file["blocks"], 6);
  EXPECT_THAT(file["findings"], IsEmpty());
}

TEST_F(VerifyTest, DamagedBytesOfABlock) {
  const std::string path = Make();
  std::string bytes = ReadText(path);
  const codec::BlockRef block = Scan(bytes).blocks[4];
  bytes[block.offset + block.header.compressed_bytes - 1] ^= 1;  // the checksum of the frame
  WriteText(path, bytes);
  const VerifyReport report = Verify(path);
  EXPECT_FALSE(report.ok);
  const json findings = json::parse(report.json)["files"][0]["findings"];
  ASSERT_EQ(findings.size(), 2u) << report.text;
  EXPECT_EQ(findings[0]["offset"], block.offset);
  EXPECT_THAT(findings[1]["what"].get<std::string>(), HasSubstr("end marker counts 30 rows"));
}

TEST_F(VerifyTest, MissingBlockIsAHoleInTheSequence) {
  const std::string path = Make();
  const std::string bytes = ReadText(path);
  const codec::TraceScan scan = Scan(bytes);
  const uint64_t front = sizeof(proto::SkippableHeader) + sizeof(proto::BlockHeader);
  const uint64_t from = scan.blocks[4].offset - front;
  const uint64_t to = scan.blocks[5].offset - front;
  WriteText(path, bytes.substr(0, from) + bytes.substr(to));
  const VerifyReport report = Verify(path);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.text, HasSubstr("missing before"));
  EXPECT_THAT(report.text, HasSubstr("end marker counts 6 blocks"));
}

TEST_F(VerifyTest, CutFileKeepsWhatIsBefore) {
  const std::string path = Make();
  const std::string bytes = ReadText(path);
  WriteText(path, bytes.substr(0, Scan(bytes).blocks[5].offset + 3));
  const VerifyReport report = Verify(path);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.text, HasSubstr("20 rows readable"));
}

// Nothing about such a file is wrong by itself: what else is known of the run tells.
TEST_F(VerifyTest, FileCutBetweenBlocksOfARunThatEnded) {
  const std::string path = Make();
  const std::string bytes = ReadText(path);
  const uint64_t front = sizeof(proto::SkippableHeader) + sizeof(proto::BlockHeader);
  const uint64_t cut = Scan(bytes).blocks[5].offset - front;
  WriteText(path, bytes.substr(0, cut));
  proto::Bundle manifest;
  manifest.set_started_realtime_ns(kWall);
  WriteManifest(directory_.path(), manifest);
  EXPECT_TRUE(Verify(directory_.path()).ok) << "its process may run";
  EXPECT_THAT(Verify(directory_.path()).text, HasSubstr("no end marker"));
  manifest.set_ended_realtime_ns(kWall + kSecond);
  WriteManifest(directory_.path(), manifest);
  ExpectFinding(directory_.path(), "the file has no end", cut);
  EXPECT_TRUE(Verify(path).ok) << "a file by itself";
  std::shared_ptr<const Trace> trace;
  ASSERT_FALSE(Open(directory_.path(), {}, &trace));
  ASSERT_EQ(trace->faults.size(), 1u);
  EXPECT_THAT(trace->faults[0].what, HasSubstr("the file has no end"));
  EXPECT_EQ(trace->faults[0].offset, cut);
}

TEST_F(VerifyTest, TimeThatGoesBack) {
  uint64_t offset = 0;
  const std::string path = Make([](TraceMaker* maker) { maker->Op(1, 25'000, 10, 2); });
  offset = Scan(ReadText(path)).blocks.back().offset;
  ExpectFinding(path, "time goes back by 5000 ticks on track 1", offset);
}

// Behind a release's time before its call a signal handler may have written, and CUPTI hands its
// buffers over as it likes.
TEST_F(VerifyTest, TimeMayGoBackInTablesOfAnyOrderAlone) {
  for (const proto::TableSpec& table : proto::kTables) {
    const std::string path = Make([&](TraceMaker* maker) {
      for (const uint64_t time : {41'000u, 36'000u}) {
        const uint64_t row[proto::kWidestTable] = {time};
        maker->Row(table.kind, 2, row);
        maker->Flush();
      }
    });
    const bool is_any = table.kind == ChunkKind::kHeap || table.kind == ChunkKind::kMapping ||
                        table.feed == proto::Feed::kCupti;
    const VerifyReport report = Verify(path);
    EXPECT_EQ(report.ok, is_any) << table.name << ": " << report.text;
    std::filesystem::remove(path);
  }
}

TEST_F(VerifyTest, IdsThatNoTableDefines) {
  std::string path = Make([](TraceMaker* maker) { maker->Op(1, 31'000, 10, 7); });
  ExpectFinding(path, "string 7", Scan(ReadText(path)).blocks.back().offset);
  std::filesystem::remove(path);
  path = Make([](TraceMaker* maker) { maker->Row(ChunkKind::kHeap, 1, {1000, 2, 0x10, 8, 44}); });
  ExpectFinding(path, "call stack 44", Scan(ReadText(path)).blocks.back().offset);
}

TEST_F(VerifyTest, IdsMayBeDefinedAfterTheirUse) {
  const std::string path = Make([](TraceMaker* maker) {
    maker->Op(2, 31'000, 10, 9);
    maker->Flush();
    maker->Strings({{9, "late"}});
  });
  EXPECT_TRUE(Verify(path).ok) << Verify(path).text;
}

TEST_F(VerifyTest, StackThatHangsOnNothing) {
  const std::string path = Make([](TraceMaker* maker) {
    proto::Stacks stacks;
    stacks.set_first_id(2);
    stacks.add_parent_back(90);
    stacks.add_pc_delta(1);
    maker->Table(ChunkKind::kStacks, 9, stacks, 1);
  });
  ExpectFinding(path, "has a parent that does not exist",
                Scan(ReadText(path)).blocks.back().offset);
}

TEST_F(VerifyTest, KindsOfNewerWritersAreNoDamage) {
  const std::string path = Make([](TraceMaker* maker) {
    maker->Table(static_cast<ChunkKind>(99), 13, maker->Identity(1), 12);
  });
  const VerifyReport report = Verify(path);
  EXPECT_TRUE(report.ok) << report.text;
  EXPECT_THAT(report.text,
              HasSubstr("1 blocks with 12 rows have kinds that this gpuprof does not know"));
}

TEST_F(VerifyTest, NamesAreNoCommandsToATerminal) {
  const VerifyReport report = Verify(directory_.File("none\x1b[2J"));
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.text, HasSubstr("none\\x1b[2J"));
  EXPECT_EQ(report.text.find('\x1b'), std::string::npos);
}

TEST_F(VerifyTest, FileOfAnotherProcessUnderThisName) {
  const std::string path = Make();
  const std::string other = directory_.File("p999-1.gpt");
  std::filesystem::rename(path, other);
  ExpectFinding(other, "but the file name does not", 0);
}

TEST_F(VerifyTest, BundleOfSeveralFilesAndADamagedManifest) {
  Make();
  EXPECT_TRUE(Verify(directory_.path()).ok);
  EXPECT_THAT(Verify(directory_.path()).text, HasSubstr("bundle.pb is missing"));
  WriteText(directory_.File("p3-3.gpt"), "garbage");
  WriteText(directory_.File("bundle.pb"), "\xff\xff\xff");
  const VerifyReport report = Verify(directory_.path());
  EXPECT_FALSE(report.ok);
  const json parsed = json::parse(report.json);
  EXPECT_EQ(parsed["files"].size(), 2u);
  ASSERT_EQ(parsed["faults"].size(), 1u);
  EXPECT_EQ(parsed["faults"][0]["file"], "bundle.pb");
}

TEST_F(VerifyTest, NothingThere) {
  const VerifyReport report = Verify(directory_.File("missing"));
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.text, HasSubstr("No such file"));
  EXPECT_FALSE(json::parse(report.json)["ok"]);
}

}  // namespace
}  // namespace gpuprof::analysis
