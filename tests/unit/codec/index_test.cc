// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The index: readers that go by it see what the walk over the headers sees, and a wrong index is
// never believed.

#include "proto/codec/index_reader.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zstd.h>

#include <csignal>
#include <cstring>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

constexpr uint64_t kEndBytes = sizeof(proto::SkippableHeader) + sizeof(proto::EndMarker);

bool SameHeaders(const BlockRef& a, const BlockRef& b) {
  const auto of = [](const BlockRef& block) {
    const proto::BlockHeader& h = block.header;
    return std::vector<uint64_t>{
        block.offset, h.compressed_bytes, h.raw_bytes,  h.kind,      h.capture,       h.track,
        h.count,      h.sequence,         h.first_time, h.last_time, h.dropped_before};
  };
  return of(a) == of(b);
}

bool SameScan(const TraceScan& a, const TraceScan& b) {
  if (a.blocks.size() != b.blocks.size() || a.has_end != b.has_end ||
      a.faults.size() != b.faults.size() || a.readable_bytes != b.readable_bytes)
    return false;
  for (size_t i = 0; i < a.blocks.size(); ++i) {
    if (!SameHeaders(a.blocks[i], b.blocks[i])) return false;
  }
  for (size_t i = 0; i < a.faults.size(); ++i) {
    if (a.faults[i].offset != b.faults[i].offset || a.faults[i].what != b.faults[i].what)
      return false;
  }
  return true;
}

class IndexTest : public testing::Test {
 protected:
  void Begin() { ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader())); }
  void Write(uint32_t track, uint64_t first, uint32_t count) {
    ChunkBuilder builder(ChunkKind::kHeap, track, 0);
    for (uint64_t i = 0; i < count; ++i) AppendRow(&builder, {first + i, 2, i * 16, 64, 0});
    builder.AddDropped(track);
    ASSERT_TRUE(writer_.WriteEvents(&builder, track, first));
  }
  void WriteMany(int blocks) {
    for (int i = 0; i < blocks; ++i) {
      if (i == 7) writer_.LeaveHole();
      const auto number = static_cast<uint32_t>(i);
      Write(1 + number % 3, 1'000'000 - number * 100, 1 + number % 5);
    }
  }
  std::vector<uint8_t> End() {
    EXPECT_TRUE(writer_.WriteEnd({}));
    writer_.Close();
    return ReadBytes(path_);
  }
  static TraceScan Walked(const std::vector<uint8_t>& file) {
    TraceScan scan;
    EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
    return scan;
  }
  static TraceScan Indexed(const std::vector<uint8_t>& file) {
    TraceBytes bytes(file.data(), file.size());
    TraceScan scan;
    EXPECT_TRUE(ScanByIndex(&bytes, &scan));
    return scan;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "p1-1.gpt";
  TraceWriter writer_;
};

TEST_F(IndexTest, TellsWhatTheHeadersTell) {
  Begin();
  WriteMany(3 * TraceWriter::kBlocksPerIndex / 2);
  const std::vector<uint8_t> file = End();
  const TraceScan walked = Walked(file), indexed = Indexed(file);
  EXPECT_FALSE(walked.is_by_index);
  EXPECT_TRUE(indexed.is_by_index);
  ASSERT_EQ(indexed.blocks.size(), 3 * TraceWriter::kBlocksPerIndex / 2);
  EXPECT_TRUE(SameScan(walked, indexed));
  ASSERT_EQ(indexed.faults.size(), 1u) << "the hole in the numbers";
  EXPECT_EQ(std::memcmp(&walked.end, &indexed.end, sizeof walked.end), 0);
}

TEST_F(IndexTest, AFileOfWholeIndexes) {
  Begin();
  WriteMany(TraceWriter::kBlocksPerIndex);
  EXPECT_TRUE(Indexed(End()).is_by_index);
}

TEST_F(IndexTest, IsAMessageOfProtobuf) {
  Begin();
  Write(3, 500, 2);
  Write(1, 400, 7);
  const std::vector<uint8_t> file = End();
  const TraceScan scan = Walked(file);
  constexpr uint64_t kFront = sizeof(proto::SkippableHeader) + sizeof(proto::IndexHeader);
  const uint8_t* const frame = file.data() + scan.end.index + kFront;
  std::vector<char> raw(1000);
  const size_t bytes = ZSTD_decompress(raw.data(), raw.size(), frame,
                                       file.size() - kEndBytes - scan.end.index - kFront);
  ASSERT_FALSE(ZSTD_isError(bytes));
  proto::Index index;
  ASSERT_TRUE(index.ParseFromArray(raw.data(), static_cast<int>(bytes)));
  ASSERT_EQ(index.kind_size(), 2);
  EXPECT_EQ(index.kind(1), static_cast<uint32_t>(ChunkKind::kHeap));
  EXPECT_EQ(index.count(1), 7u);
  EXPECT_EQ(index.track(0), 3);
  EXPECT_EQ(index.track(1), -2);
  EXPECT_EQ(index.first_time(1), -100);
  EXPECT_EQ(index.last_time(1), 6u);
  EXPECT_EQ(index.skipped_size(), 0) << "no bytes between these blocks";
}

TEST_F(IndexTest, NoBlockIsTouched) {
  Begin();
  WriteMany(6);
  std::vector<uint8_t> file = End();
  const TraceScan whole = Walked(file);
  std::fill(file.begin() + proto::kFirstBlockOffset,
            file.begin() + static_cast<ptrdiff_t>(whole.end.index), 0);
  EXPECT_TRUE(SameScan(Indexed(file), whole));
}

TEST_F(IndexTest, DamageFallsBackToTheHeaders) {
  Begin();
  WriteMany(20);
  std::vector<uint8_t> file = End();
  const TraceScan whole = Walked(file);
  for (uint64_t at = whole.end.index; at < file.size(); ++at) {
    file[at] ^= 0x10;
    const TraceScan walked = Walked(file);
    EXPECT_EQ(walked.blocks.size(), 20u) << "byte " << at;
    EXPECT_TRUE(SameScan(Indexed(file), walked)) << "byte " << at;
    file[at] ^= 0x10;
  }
  for (size_t size = whole.end.index; size < file.size(); ++size) {
    const std::vector<uint8_t> cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    const TraceScan walked = Walked(cut);
    EXPECT_EQ(walked.blocks.size(), 20u) << size << " bytes";
    EXPECT_TRUE(SameScan(Indexed(cut), walked)) << size << " bytes";
  }
}

TEST_F(IndexTest, ALostBlockFallsBackToTheHeaders) {
  Begin();
  WriteMany(20);
  std::vector<uint8_t> file = End();
  const TraceScan whole = Walked(file);
  const auto begin = static_cast<ptrdiff_t>(whole.blocks[4].offset);
  const auto end = static_cast<ptrdiff_t>(whole.blocks[5].offset);
  file.erase(file.begin() + begin, file.begin() + end);
  const TraceScan indexed = Indexed(file);
  EXPECT_FALSE(indexed.is_by_index);
  EXPECT_TRUE(SameScan(indexed, Walked(file)));
}

TEST_F(IndexTest, AFrameOfALaterVersionIsSteppedOver) {
  Begin();
  WriteMany(20);
  std::vector<uint8_t> file = End();
  const TraceScan whole = Walked(file);
  const std::vector<uint8_t> frame = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3};
  file.insert(file.end() - static_cast<ptrdiff_t>(kEndBytes), frame.begin(), frame.end());
  TraceScan indexed = Indexed(file);
  EXPECT_TRUE(indexed.is_by_index);
  indexed.readable_bytes -= frame.size();
  EXPECT_TRUE(SameScan(indexed, whole));
}

// The index of one file behind the blocks of another, which are as long.
TEST_F(IndexTest, ALieIsNotBelieved) {
  Begin();
  Write(1, 5000, 3);
  const std::vector<uint8_t> one = End();
  path_ = folder_ / "p2-2.gpt";
  Begin();
  Write(2, 5000, 3);
  std::vector<uint8_t> other = End();
  ASSERT_EQ(one.size(), other.size());
  const auto at = static_cast<ptrdiff_t>(Walked(one).end.index);
  std::copy(one.begin() + at, one.end(), other.begin() + at);
  const TraceScan scan = Indexed(other);
  ASSERT_TRUE(scan.is_by_index);
  ASSERT_EQ(scan.blocks.size(), 1u);
  BlockDecoder decoder;
  EventColumns columns;
  Fault fault;
  EXPECT_FALSE(decoder.DecodeEvents(other.data(), scan.blocks[0], &columns, &fault));
  EXPECT_NE(fault.what.find("the index says something else"), std::string::npos) << fault.what;
  EXPECT_TRUE(decoder.DecodeEvents(other.data(), Walked(other).blocks[0], &columns, &fault));
}

TEST_F(IndexTest, AContinuedFileHasOneIfItsBlocksAreTold) {
  for (const bool are_told : {false, true}) {
    path_ = folder_ / (are_told ? "told.gpt" : "untold.gpt");
    Begin();
    WriteMany(TraceWriter::kBlocksPerIndex + 30);  // with an index amid
    writer_.Close();
    const TraceScan cut = Walked(ReadBytes(path_));
    ASSERT_TRUE(writer_.Continue(path_.c_str(), cut.readable_bytes,
                                 cut.blocks.back().header.sequence + 1, cut.blocks.size(), 100));
    if (are_told) {
      for (const BlockRef& block : cut.blocks) writer_.IndexBlock(block.header, block.offset);
    }
    Write(9, 3000, 4);
    const std::vector<uint8_t> file = End();
    const TraceScan indexed = Indexed(file);
    EXPECT_EQ(indexed.is_by_index, are_told);
    EXPECT_EQ(indexed.blocks.size(), cut.blocks.size() + 1);
    EXPECT_TRUE(SameScan(indexed, Walked(file)));
  }
}

TEST_F(IndexTest, IsLeftOutWhereThereIsNoRoom) {
  Begin();
  WriteMany(20);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = writer_.file_bytes() + kEndBytes + 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  EXPECT_TRUE(writer_.WriteEnd({}));
  EXPECT_EQ(writer_.last_error(), 0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  writer_.Close();
  const std::vector<uint8_t> file = ReadBytes(path_);
  const TraceScan scan = Indexed(file);
  EXPECT_TRUE(scan.has_end);
  EXPECT_EQ(scan.end.index, 0u);
  EXPECT_EQ(scan.blocks.size(), 20u);
  EXPECT_FALSE(scan.is_by_index);
}

TEST_F(IndexTest, NoneIsWrittenWhereNoneIsWanted) {
  writer_.WriteNoIndex();
  Begin();
  WriteMany(TraceWriter::kBlocksPerIndex + 1);
  const TraceScan scan = Indexed(End());
  EXPECT_EQ(scan.end.index, 0u);
  EXPECT_EQ(scan.blocks.size(), TraceWriter::kBlocksPerIndex + 1u);
}

}  // namespace
}  // namespace gpuprof::codec
