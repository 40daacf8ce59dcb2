// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A small file cut at every byte, and with every single byte changed: nothing before the damage is
// lost, nothing false comes out, and the fault says where.

#include <gtest/gtest.h>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

constexpr uint64_t kFileHeaderBytes = sizeof(proto::SkippableHeader) + sizeof(proto::FileHeader);
constexpr uint64_t kBlockHeaderBytes = sizeof(proto::SkippableHeader) + sizeof(proto::BlockHeader);

// What came out of a file: the rows of each readable event block.
struct Content {
  bool is_trace = false;
  std::vector<std::vector<Row>> blocks;
  size_t table_blocks = 0;
  std::vector<Fault> faults;
  uint64_t readable_bytes = 0;
};

Content Read(const std::vector<uint8_t>& file) {
  Content content;
  // A copy of the exact size: the sanitizer sees each byte read beyond it.
  const std::vector<uint8_t> exact(file.begin(), file.end());
  TraceScan scan;
  content.is_trace = Scan(exact.data(), exact.size(), &scan);
  content.faults = scan.faults;
  content.readable_bytes = scan.readable_bytes;
  static BlockDecoder decoder;  // to make one takes longer than all else here
  EventColumns columns;
  for (const BlockRef& block : scan.blocks) {
    Fault fault;
    if (proto::FindTable(static_cast<ChunkKind>(block.header.kind)) == nullptr) {
      const uint8_t* message;
      uint64_t bytes;
      if (decoder.Decompress(exact.data(), block, &message, &bytes, &fault)) {
        ++content.table_blocks;
      } else {
        content.faults.push_back(fault);
      }
    } else if (decoder.DecodeEvents(exact.data(), block, &columns, &fault)) {
      content.blocks.push_back(RowsOf(columns));
    } else {
      content.faults.push_back(fault);
    }
  }
  return content;
}

class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    const TempFolder folder;
    const std::string path = folder / "p1-1.gpt";
    TraceWriter writer;
    writer.WriteNoIndex();  // index_test.cc damages indexes
    ASSERT_TRUE(writer.Create(path.c_str(), TestHeader()));
    ends_.push_back(writer.bytes_written());
    std::vector<uint8_t> strings;
    PbWriter out(&strings);
    out.Varint(1, 2);
    out.Bytes(2, "name", 4);
    ASSERT_TRUE(writer.WriteTable(ChunkKind::kStrings, 1, chunk_field::kStrings, strings.data(),
                                  strings.size(), 1));
    ends_.push_back(writer.bytes_written());
    for (const ChunkKind kind : {ChunkKind::kHeap, ChunkKind::kOp, ChunkKind::kWait}) {
      const proto::TableSpec& table = *proto::FindTable(kind);
      ChunkBuilder builder(kind, 1, kind == ChunkKind::kOp ? 5 : 0);
      // The first is larger than the second whole: it can lose as much as that one is.
      const uint64_t rows = kind == ChunkKind::kHeap ? 60 : 12;
      for (uint64_t i = 0; i < rows; ++i) {
        Row row(static_cast<size_t>(table.columns), i * i * 7);
        row[0] = 100'000 + i * 333;
        AppendRow(&builder, row);
      }
      ASSERT_TRUE(writer.WriteEvents(&builder, 1, 12));
      ends_.push_back(writer.bytes_written());
    }
    ASSERT_TRUE(writer.WriteEnd({}));
    ends_.push_back(writer.bytes_written());
    writer.Close();
    file_ = ReadBytes(path);
    whole_ = Read(file_);
    ASSERT_EQ(whole_.blocks.size(), 3u);
    ASSERT_EQ(whole_.table_blocks, 1u);
    ASSERT_TRUE(whole_.faults.empty());
  }

  std::vector<uint8_t> file_;
  std::vector<uint64_t> ends_;  // of the header, of each block, of the end marker
  Content whole_;
};

TEST_F(DamageTest, CutAtEveryByte) {
  for (uint64_t cut = 0; cut <= file_.size(); ++cut) {
    const Content content = Read({file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(cut)});
    if (cut < kFileHeaderBytes) {
      EXPECT_FALSE(content.is_trace);
      ASSERT_EQ(content.faults.size(), 1u);
      EXPECT_EQ(content.faults[0].offset, 0u);
      continue;
    }
    ASSERT_TRUE(content.is_trace);
    uint64_t last_end = 0;
    size_t whole_blocks = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (ends_[i] > cut) break;
      last_end = ends_[i];
      whole_blocks = i;
    }
    EXPECT_EQ(content.readable_bytes, last_end) << cut;
    EXPECT_EQ(content.table_blocks, whole_blocks >= 1 ? 1u : 0u);
    const size_t event_blocks = whole_blocks == 0 ? 0 : std::min<size_t>(whole_blocks - 1, 3);
    ASSERT_EQ(content.blocks.size(), event_blocks) << cut;
    for (size_t i = 0; i < event_blocks; ++i) EXPECT_EQ(content.blocks[i], whole_.blocks[i]);
    if (cut == last_end) {
      EXPECT_TRUE(content.faults.empty()) << cut;
    } else {
      ASSERT_EQ(content.faults.size(), 1u) << cut;
      EXPECT_EQ(content.faults[0].offset, last_end) << cut;
      EXPECT_NE(content.faults[0].what.find("cut"), std::string::npos);
    }
  }
}

TEST_F(DamageTest, EveryByteChanged) {
  size_t unnoticed = 0;
  for (size_t at = 0; at < file_.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = file_;
      damaged[at] = static_cast<uint8_t>(damaged[at] ^ flip);
      const Content content = Read(damaged);
      // Each block that comes out is one of the true ones, in order; blocks before the damage all
      // do.
      size_t next = 0;
      for (const std::vector<Row>& rows : content.blocks) {
        while (next < whole_.blocks.size() && whole_.blocks[next] != rows) ++next;
        ASSERT_LT(next, whole_.blocks.size()) << "false rows after byte " << at;
        ++next;
      }
      for (size_t i = 0; content.is_trace && i < whole_.blocks.size(); ++i) {
        if (ends_[i + 2] > at) break;
        ASSERT_GT(content.blocks.size(), i) << at;
        EXPECT_EQ(content.blocks[i], whole_.blocks[i]) << at;
      }
      // One byte costs one block at most, unless it is one of the magic word or makes a later
      // version of it.
      EXPECT_TRUE(!content.is_trace || content.blocks.size() + content.table_blocks >= 3) << at;
      const bool is_whole = content.blocks == whole_.blocks && content.table_blocks == 1;
      EXPECT_TRUE(!content.faults.empty() || is_whole) << at;
      if (content.faults.empty()) ++unnoticed;
    }
  }
  // Bits that mean nothing to zstd, and an end marker that becomes a frame to step over.
  EXPECT_LE(unnoticed, 8u);
}

TEST_F(DamageTest, EveryByteOfTheHeadersChangedIsFoundThere) {
  for (uint64_t block = 0; block + 1 < ends_.size(); ++block) {
    const uint64_t start = ends_[block];
    const uint64_t bytes = std::min(kBlockHeaderBytes, ends_[block + 1] - start);
    for (uint64_t at = start + 8; at < start + bytes; ++at) {
      std::vector<uint8_t> damaged = file_;
      damaged[at] ^= 0x10;
      const Content content = Read(damaged);
      ASSERT_FALSE(content.faults.empty()) << at;
      EXPECT_EQ(content.faults[0].offset, start) << at;
    }
  }
}

TEST_F(DamageTest, AHoleInTheMiddleIsToldAndSteppedOver) {
  std::vector<uint8_t> holed = file_;
  std::fill(holed.begin() + static_cast<std::ptrdiff_t>(ends_[1] + 20),
            holed.begin() + static_cast<std::ptrdiff_t>(ends_[2]), 0);
  const Content content = Read(holed);
  ASSERT_EQ(content.blocks.size(), 2u);
  EXPECT_EQ(content.blocks[0], whole_.blocks[1]);
  EXPECT_EQ(content.blocks[1], whole_.blocks[2]);
  EXPECT_EQ(content.readable_bytes, file_.size());
  ASSERT_GE(content.faults.size(), 2u);
  EXPECT_EQ(content.faults[0].offset, ends_[1]);
  EXPECT_NE(content.faults[1].what.find("bytes were lost"), std::string::npos);
}

// Its header is whole and claims bytes that are the next blocks': the file is long enough for it.
TEST_F(DamageTest, ABlockThatLostBytesDoesNotSwallowTheNext) {
  for (const uint64_t lost : {1, 7, 20}) {
    std::vector<uint8_t> shorter = file_;
    const auto end = shorter.begin() + static_cast<std::ptrdiff_t>(ends_[2]);
    shorter.erase(end - static_cast<std::ptrdiff_t>(lost), end);
    const Content content = Read(shorter);
    ASSERT_EQ(content.blocks.size(), 2u) << lost;
    EXPECT_EQ(content.blocks[0], whole_.blocks[1]);
    EXPECT_EQ(content.blocks[1], whole_.blocks[2]);
    EXPECT_EQ(content.readable_bytes, shorter.size());
    ASSERT_GE(content.faults.size(), 2u);
    EXPECT_EQ(content.faults[0].offset, ends_[1]);
    EXPECT_EQ(content.faults[0].what, "block cut: the next one begins inside it");
  }
}

// A writer that continues a file cuts it there.
TEST_F(DamageTest, WhatIsReadableReadsTheSameWithoutTheRest) {
  const uint64_t body = ends_[1] + kBlockHeaderBytes;
  ASSERT_GT(ends_[2] - body, ends_[3] - ends_[2]);
  for (uint64_t lost = 1; body + lost <= ends_[2]; ++lost) {
    std::vector<uint8_t> damaged = file_;
    const auto end = damaged.begin() + static_cast<std::ptrdiff_t>(ends_[2]);
    damaged.erase(end - static_cast<std::ptrdiff_t>(lost), end);
    for (; damaged.size() > ends_[2] - lost; damaged.pop_back()) {
      const Content content = Read(damaged);
      ASSERT_LE(content.readable_bytes, damaged.size());
      std::vector<uint8_t> readable = damaged;
      readable.resize(content.readable_bytes);
      const Content again = Read(readable);
      ASSERT_EQ(again.readable_bytes, content.readable_bytes) << lost << " " << damaged.size();
      ASSERT_EQ(again.blocks, content.blocks) << lost << " " << damaged.size();
    }
  }
}

TEST_F(DamageTest, ABlockCutOutIsMissed) {
  std::vector<uint8_t> shorter = file_;
  shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(ends_[1]),
                shorter.begin() + static_cast<std::ptrdiff_t>(ends_[2]));
  const Content content = Read(shorter);
  EXPECT_EQ(content.blocks.size(), 2u);
  ASSERT_EQ(content.faults.size(), 2u);
  EXPECT_EQ(content.faults[0].what, "block 1 was expected here, block 2 found: bytes were lost");
}

TEST_F(DamageTest, NotATrace) {
  for (const std::vector<uint8_t>& file :
       {std::vector<uint8_t>{}, std::vector<uint8_t>(1000, 0), std::vector<uint8_t>(1000, 0xff)}) {
    const Content content = Read(file);
    EXPECT_FALSE(content.is_trace);
    ASSERT_EQ(content.faults.size(), 1u);
    EXPECT_NE(content.faults[0].what.find("not a gpuprof trace"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpuprof::codec
