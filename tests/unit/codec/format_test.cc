// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The annotated dump in proto/FORMAT.md is a real file: its bytes are read here, and are what the
// writer makes today.

#include <gtest/gtest.h>
#include <zstd.h>

#include <fstream>
#include <sstream>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

// Lines of the page that begin with an eight-digit offset: "00000010  aa bb cc  words".
std::vector<uint8_t> DocumentedBytes() {
  std::ifstream page(GPUPROF_SOURCE_DIR "/proto/FORMAT.md");
  EXPECT_TRUE(page.good());
  std::vector<uint8_t> bytes;
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 12 || line.find_first_not_of("0123456789abcdef") != 8 || line[9] != ' ')
      continue;
    EXPECT_EQ(std::stoul(line.substr(0, 8), nullptr, 16), bytes.size()) << line;
    for (size_t at = 10; at + 1 < line.size() && isxdigit(line[at]) && isxdigit(line[at + 1]);
         at += 3) {
      bytes.push_back(static_cast<uint8_t>(std::stoul(line.substr(at, 2), nullptr, 16)));
    }
  }
  return bytes;
}

const std::vector<Row> kRows = {{10'000, 1'000, 2, 1 << 16, 42}, {12'000, 4'000, 2, 0, 0}};

std::vector<uint8_t> WriteExample() {
  const TempFolder folder;
  const std::string path = folder / "p4711-6a11c0de.gpt";
  TraceWriter writer;
  EXPECT_TRUE(writer.Create(path.c_str(), TestHeader()));
  InternTables tables(10, 10, 100);
  tables.DefineString(2, "aten::add", 9);
  std::vector<uint8_t> message;
  const uint32_t strings = tables.TakeStrings(&message);
  EXPECT_TRUE(writer.WriteTable(ChunkKind::kStrings, 1, chunk_field::kStrings, message.data(),
                                message.size(), strings));
  ChunkBuilder builder(ChunkKind::kOp, 1, 5);
  for (const Row& row : kRows) AppendRow(&builder, row);
  EXPECT_TRUE(writer.WriteEvents(&builder, 1, 2));
  proto::EndMarker end = {};
  end.exit_way = static_cast<uint32_t>(proto::ExitWay::kReturn);
  EXPECT_TRUE(writer.WriteEnd(end));
  writer.Close();
  return ReadBytes(path);
}

std::string Dump(const std::vector<uint8_t>& bytes) {
  std::ostringstream text;
  for (size_t i = 0; i < bytes.size(); i += 16) {
    char piece[32];
    std::snprintf(piece, sizeof piece, "%08zx ", i);
    text << piece;
    for (size_t j = i; j < std::min(i + 16, bytes.size()); ++j) {
      std::snprintf(piece, sizeof piece, " %02x", bytes[j]);
      text << piece;
    }
    text << '\n';
  }
  return text.str();
}

TEST(FormatPage, TheDumpReadsAsItsWordsSay) {
  const std::vector<uint8_t> file = DocumentedBytes();
  std::vector<Row> expected;
  expected.reserve(kRows.size());
  for (const Row& row : kRows)
    expected.push_back(Expected(*proto::FindTable(ChunkKind::kOp), row, 5));
  EXPECT_EQ(ReadRows(file, 1, ChunkKind::kOp), expected);
  const proto::Trace trace = ParseAll(file);
  ASSERT_EQ(trace.chunk_size(), 2);
  EXPECT_EQ(trace.chunk(0).strings().text(0), "aten::add");
  TraceScan scan;
  ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_TRUE(scan.has_end);
}

TEST(FormatPage, TheDumpIsWhatTheWriterMakes) {
  if (ZSTD_versionNumber() != 10504) GTEST_SKIP() << "the dump was made with zstd 1.5.4";
  const std::vector<uint8_t> made = WriteExample();
  EXPECT_EQ(DocumentedBytes(), made) << "now it is:\n" << Dump(made);
}

}  // namespace
}  // namespace gpuprof::codec
