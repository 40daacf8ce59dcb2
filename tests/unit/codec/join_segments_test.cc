// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flight recorder's segments, as a dead process may have left them: whatever is missing or torn,
// the others' events are in the trace once and in the order of the segments' numbers.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/recover.h"
#include "proto/codec/segments.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_state.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

class JoinSegmentsTest : public testing::Test {
 protected:
  JoinSegmentsTest() : stem_(folder_ / "p4711-6a11c0de"), trace_(stem_ + proto::kTraceSuffix) {}

  std::string PathOf(uint32_t number) {
    char path[256];
    EXPECT_TRUE(SegmentPath(stem_.c_str(), number, path, sizeof path));
    return path;
  }

  static void WriteStrings(TraceWriter* writer, uint32_t id, const std::string& text) {
    InternTables tables(10, 10, 1000);
    tables.DefineString(id, text.data(), static_cast<uint32_t>(text.size()));
    std::vector<uint8_t> message;
    const uint32_t entries = tables.TakeStrings(&message);
    ASSERT_TRUE(writer->WriteTable(ChunkKind::kStrings, 1, chunk_field::kStrings, message.data(),
                                   message.size(), entries));
  }

  // Allocations of `first`, first + 1, ... bytes, in blocks of two.
  static void WriteNumbers(TraceWriter* writer, uint64_t first, int count) {
    ChunkBuilder builder(ChunkKind::kHeap, 1, 0);
    for (int i = 0; i < count; ++i) {
      const uint64_t number = first + static_cast<uint64_t>(i);
      AppendRow(&builder, {1000 + number, 1, 0x7000 + 16 * number, number, 0});
      if (builder.count() == 2 || i + 1 == count) {
        ASSERT_TRUE(writer->WriteEvents(&builder, 1, number));
      }
    }
  }

  // What stays beside the segments: names.
  void WriteTrace(bool is_finished = false) {
    TraceWriter writer;
    ASSERT_TRUE(writer.Create(trace_.c_str(), TestHeader()));
    WriteStrings(&writer, 2, "aten::add");
    if (is_finished) {
      ASSERT_TRUE(writer.WriteEnd({}));
    }
    writer.Close();
  }

  void WriteSegment(uint32_t number, uint64_t first, int count, uint64_t kept_from = 0) {
    TraceWriter writer;
    ASSERT_TRUE(writer.Create(PathOf(number).c_str(), TestHeader()));
    if (kept_from != 0) {
      std::vector<uint8_t> message;
      AppendKeptFrom(kept_from, &message);
      ASSERT_TRUE(writer.WriteTable(ChunkKind::kMeta, 1, chunk_field::kMeta, message.data(),
                                    message.size(), 1));
    }
    WriteNumbers(&writer, first, count);
    writer.Close();
  }

  void Join() {
    std::string error;
    ASSERT_TRUE(JoinSegments(stem_, 0, &error)) << error;
    EXPECT_TRUE(error.empty());
  }

  // By themselves: holes in the blocks' numbers are faults elsewhere.
  std::vector<uint64_t> Numbers() {
    const std::vector<uint8_t> file = ReadBytes(trace_);
    TraceScan scan;
    EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
    BlockDecoder decoder;
    EventColumns columns;
    std::vector<uint64_t> numbers;
    for (const BlockRef& block : scan.blocks) {
      if (block.header.kind != static_cast<uint16_t>(ChunkKind::kHeap)) continue;
      Fault fault;
      EXPECT_TRUE(decoder.DecodeEvents(file.data(), block, &columns, &fault)) << fault.what;
      const std::vector<uint64_t>& sizes = columns.column[proto::heap_column::kSize];
      numbers.insert(numbers.end(), sizes.begin(), sizes.end());
    }
    return numbers;
  }

  // What readers are told of what is missing.
  size_t Holes() {
    const std::vector<uint8_t> file = ReadBytes(trace_);
    TraceScan scan;
    EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
    return scan.faults.size();
  }

  proto::Meta Meta() {
    proto::Meta meta;
    const proto::Trace trace = ParseAll(ReadBytes(trace_));
    for (const proto::Chunk& chunk : trace.chunk()) meta.MergeFrom(chunk.meta());
    return meta;
  }

  TempFolder folder_;
  std::string stem_;
  std::string trace_;
};

std::vector<uint64_t> UpTo(uint64_t last) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 1; i <= last; ++i) numbers.push_back(i);
  return numbers;
}

TEST_F(JoinSegmentsTest, NoneIsNothingToDo) {
  WriteTrace();
  const std::vector<uint8_t> before = ReadBytes(trace_);
  Join();
  EXPECT_EQ(ReadBytes(trace_), before);
  stem_ = folder_ / "no/such/p1-1";
  Join();
}

TEST_F(JoinSegmentsTest, ByNumberNotByAge) {
  WriteTrace();
  WriteSegment(16, 7, 3);
  WriteSegment(9, 1, 3);
  WriteSegment(10, 4, 3);
  Join();
  EXPECT_EQ(Numbers(), UpTo(9));
  for (const uint32_t number : {9u, 10u, 16u}) EXPECT_FALSE(Exists(PathOf(number)));
}

// The others are kept, and the hole is told.
TEST_F(JoinSegmentsTest, OneMissingInTheMiddle) {
  WriteTrace();
  WriteSegment(1, 1, 3);
  WriteSegment(3, 7, 3);
  EXPECT_EQ(CheckSegments(stem_), "1 segment is missing");
  Join();
  EXPECT_EQ(Numbers(), (std::vector<uint64_t>{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(Holes(), 1u);
  EXPECT_EQ(CheckSegments(stem_), "");
}

TEST_F(JoinSegmentsTest, OneCutToNothingInTheMiddle) {
  WriteTrace();
  WriteSegment(1, 1, 3);
  WriteBytes(PathOf(2), {});
  WriteSegment(3, 7, 3);
  EXPECT_EQ(CheckSegments(stem_), "1 segment is cut or damaged");
  Join();
  EXPECT_EQ(Numbers(), (std::vector<uint64_t>{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(Holes(), 1u);
}

TEST_F(JoinSegmentsTest, WholeOnesLeaveNoHole) {
  WriteTrace();
  WriteSegment(5, 1, 3);
  WriteSegment(6, 4, 3);
  EXPECT_EQ(CheckSegments(stem_), "");
  EXPECT_TRUE(HasSegments(stem_));
  Join();
  EXPECT_EQ(Holes(), 0u);
  EXPECT_FALSE(HasSegments(stem_));
}

TEST_F(JoinSegmentsTest, TheLastOneCutAnywhere) {
  WriteSegment(2, 4, 6);
  const std::vector<uint8_t> whole = ReadBytes(PathOf(2));
  size_t most = 0;
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    unlink(trace_.c_str());
    WriteTrace();
    WriteSegment(1, 1, 3);
    WriteBytes(PathOf(2), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)});
    Join();
    const std::vector<uint64_t> numbers = Numbers();
    ASSERT_EQ(numbers, UpTo(numbers.size())) << cut;
    ASSERT_EQ(Holes(), 0u) << "the newest was being written: " << cut;
    ASSERT_GE(numbers.size(), std::max<size_t>(most, 3)) << "a longer rest holds no less: " << cut;
    most = numbers.size();
    ASSERT_FALSE(Exists(PathOf(2)));
  }
  EXPECT_EQ(most, 7u) << "all but the last block";
}

TEST_F(JoinSegmentsTest, EmptyOnes) {
  WriteTrace();
  WriteBytes(PathOf(1), {});
  WriteSegment(2, 1, 0);
  WriteSegment(3, 1, 4);
  WriteBytes(PathOf(4), {});
  Join();
  EXPECT_EQ(Numbers(), UpTo(4));
  for (const uint32_t number : {1u, 2u, 3u, 4u}) EXPECT_FALSE(Exists(PathOf(number)));
}

TEST_F(JoinSegmentsTest, ATornHeaderTakesNoBlocksAlong) {
  WriteTrace();
  WriteSegment(1, 1, 4);
  WriteSegment(2, 5, 4);
  for (const uint32_t number : {1u, 2u}) {
    std::vector<uint8_t> bytes = ReadBytes(PathOf(number));
    bytes[0] ^= 0xff;
    bytes[sizeof(proto::SkippableHeader)] ^= 0xff;
    WriteBytes(PathOf(number), bytes);
  }
  Join();
  EXPECT_EQ(Numbers(), UpTo(8));
}

TEST_F(JoinSegmentsTest, ADamagedBlockTakesNoOthersAlong) {
  WriteTrace();
  WriteSegment(1, 1, 6);
  std::vector<uint8_t> bytes = ReadBytes(PathOf(1));
  TraceScan scan;
  ASSERT_TRUE(Scan(bytes.data(), bytes.size(), &scan));
  ASSERT_EQ(scan.blocks.size(), 3u);
  bytes[scan.blocks[1].offset - sizeof(proto::BlockHeader)] ^= 0xff;
  WriteBytes(PathOf(1), bytes);
  WriteSegment(2, 7, 2);
  Join();
  EXPECT_EQ(Numbers(), (std::vector<uint64_t>{1, 2, 5, 6, 7, 8}));
  EXPECT_GE(Holes(), 1u);
}

// What the recording process asks of a segment before it removes it.
TEST_F(JoinSegmentsTest, AnEndIsToldFromAStop) {
  WriteSegment(1, 1, 6);
  const std::vector<uint8_t> whole = ReadBytes(PathOf(1));
  TraceScan scan;
  ASSERT_TRUE(Scan(whole.data(), whole.size(), &scan));
  ASSERT_EQ(scan.blocks.size(), 3u);
  const auto copy = [&](const std::vector<uint8_t>& bytes, uint64_t limit, uint64_t* rows) {
    WriteBytes(PathOf(1), bytes);
    unlink(trace_.c_str());
    TraceWriter writer;
    EXPECT_TRUE(writer.Create(trace_.c_str(), TestHeader()));
    const int fd = open(PathOf(1).c_str(), O_RDONLY | O_CLOEXEC);
    const CopyResult result = CopyBlocks(fd, limit, 0, &writer);
    close(fd);
    *rows = writer.rows_in_file();
    return result;
  };
  uint64_t rows = 0;
  EXPECT_EQ(copy(whole, kWholeFile, &rows), CopyResult::kWhole);
  EXPECT_EQ(rows, 6u);
  EXPECT_EQ(copy(whole, whole.size(), &rows), CopyResult::kWhole);
  EXPECT_EQ(rows, 6u);
  const uint64_t second = scan.blocks[1].offset - sizeof(proto::BlockHeader) - 8;
  EXPECT_EQ(copy(whole, second, &rows), CopyResult::kWhole) << "the rest is not asked for";
  EXPECT_EQ(rows, 2u);
  std::vector<uint8_t> grown = whole;
  grown.insert(grown.end(), 30, 0x5a);
  EXPECT_EQ(copy(grown, whole.size(), &rows), CopyResult::kWhole)
      << "a write that stopped half-way";
  EXPECT_EQ(copy(grown, kWholeFile, &rows), CopyResult::kCutShort);
  EXPECT_EQ(rows, 6u);
  for (uint64_t cut = second + 1; cut < whole.size(); ++cut) {
    const std::vector<uint8_t> bytes(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(cut));
    ASSERT_EQ(copy(bytes, whole.size(), &rows), CopyResult::kCutShort) << cut;
    ASSERT_LT(rows, 6u) << cut;
  }
  std::vector<uint8_t> damaged = whole;
  damaged[second + 20] ^= 0xff;
  EXPECT_EQ(copy(damaged, kWholeFile, &rows), CopyResult::kCutShort);
  EXPECT_EQ(rows, 2u);
  TraceWriter writer;
  EXPECT_EQ(CopyBlocks(-1, kWholeFile, 0, &writer), CopyResult::kCutShort) << "cannot be read";
  WriteBytes(PathOf(1), whole);
  const int fd = open(PathOf(1).c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(CopyBlocks(fd, kWholeFile, 0, &writer), CopyResult::kNotWritten) << "it has no file";
  close(fd);
}

TEST_F(JoinSegmentsTest, FilesOfOtherNamesAreLeftAlone) {
  WriteTrace();
  WriteSegment(1, 1, 2);
  const std::vector<uint8_t> segment = ReadBytes(PathOf(1));
  const std::string others[] = {stem_ + "0.00000001.seg", stem_ + ".0000001.seg",
                                stem_ + ".000000001.seg", stem_ + ".0000000A.seg",
                                stem_ + ".00000001.seg~", folder_ / "p4711-6a11c0d.00000001.seg",
                                stem_ + ".-0000001.seg",  stem_ + "00000001.seg"};
  for (const std::string& path : others) WriteBytes(path, segment);
  Join();
  EXPECT_EQ(Numbers(), UpTo(2));
  for (const std::string& path : others) EXPECT_EQ(ReadBytes(path), segment) << path;
}

// A segment tells again what the trace tells already, as each begins with whole tables.
TEST_F(JoinSegmentsTest, TablesToldTwice) {
  WriteTrace();
  TraceWriter writer;
  for (const uint32_t number : {1u, 2u}) {
    ASSERT_TRUE(writer.Create(PathOf(number).c_str(), TestHeader()));
    WriteStrings(&writer, 2, "aten::add");
    WriteNumbers(&writer, number, 1);
  }
  writer.Close();
  Join();
  EXPECT_EQ(Numbers(), UpTo(2));
  const proto::Trace trace = ParseAll(ReadBytes(trace_));
  for (const proto::Chunk& chunk : trace.chunk()) {
    if (chunk.strings().id_size() == 0) continue;
    EXPECT_EQ(chunk.strings().id(0), 2u);
    EXPECT_EQ(chunk.strings().text(0), "aten::add");
  }
  TraceState state;
  std::string error;
  ASSERT_TRUE(ReadTraceState(trace_, &state, &error)) << error;
  EXPECT_EQ(state.next_sequence, state.blocks) << "numbered on from the trace's own";
}

TEST_F(JoinSegmentsTest, TheNewestTellsWhatIsComplete) {
  WriteTrace();
  WriteSegment(4, 1, 2, 1200);
  WriteSegment(5, 3, 2, 1700);
  Join();
  EXPECT_EQ(Meta().kept_from(), 1700u);
}

TEST_F(JoinSegmentsTest, NothingLetGoIsNothingTold) {
  WriteTrace();
  WriteSegment(0, 1, 2);
  WriteSegment(1, 3, 2);
  Join();
  EXPECT_EQ(Meta().kept_from(), 0u);
}

TEST_F(JoinSegmentsTest, AFinishedTraceHasThemAlready) {
  WriteTrace(/*is_finished=*/true);
  WriteSegment(1, 1, 2);
  const std::vector<uint8_t> before = ReadBytes(trace_);
  Join();
  EXPECT_EQ(ReadBytes(trace_), before);
  EXPECT_FALSE(Exists(PathOf(1)));
}

TEST_F(JoinSegmentsTest, WithoutTheTraceTheEventsAreKept) {
  WriteSegment(1, 1, 3);
  WriteSegment(2, 4, 3);
  Join();
  EXPECT_EQ(Numbers(), UpTo(6));
  EXPECT_EQ(Holes(), 1u) << "of the trace, which is missing";
}

// Whatever block a first run came to, the segments from there on are still there.
TEST_F(JoinSegmentsTest, KilledAnywhereAndRunAgain) {
  const int kSegments = 3;
  std::vector<std::vector<uint8_t>> segments;
  for (uint32_t i = 0; i < kSegments; ++i) {
    WriteSegment(i, 1 + 5 * i, 5);
    segments.push_back(ReadBytes(PathOf(i)));
  }
  WriteTrace();
  const size_t names = ReadBytes(trace_).size();
  Join();
  const std::vector<uint8_t> joined = ReadBytes(trace_);
  TraceScan scan;
  ASSERT_TRUE(Scan(joined.data(), joined.size(), &scan));
  for (size_t cut = names; cut <= joined.size(); cut += 7) {
    size_t whole = 0;  // blocks of segments that are in the trace
    for (const BlockRef& block : scan.blocks) {
      const uint64_t end = block.offset + block.header.compressed_bytes;
      if (block.header.kind == static_cast<uint16_t>(ChunkKind::kHeap) && end <= cut) ++whole;
    }
    // With the last block of a segment there, it may be gone or not.
    for (const bool is_removed : {false, true}) {
      constexpr size_t kBlocks = 3;  // in each
      const size_t gone = is_removed || whole == 0 ? whole / kBlocks : (whole - 1) / kBlocks;
      WriteBytes(trace_, {joined.begin(), joined.begin() + static_cast<std::ptrdiff_t>(cut)});
      for (size_t i = gone; i < kSegments; ++i) {
        WriteBytes(PathOf(static_cast<uint32_t>(i)), segments[i]);
      }
      Join();
      ASSERT_EQ(Holes(), 0u) << cut << ", " << gone << " segments gone";
      ASSERT_EQ(Numbers(), UpTo(15)) << cut << ", " << gone << " segments gone";
    }
  }
}

TEST_F(JoinSegmentsTest, OneThatCannotBeReadIsKept) {
  WriteTrace();
  WriteSegment(1, 1, 2);
  ASSERT_EQ(symlink("/dev/null", PathOf(2).c_str()), 0);
  std::string error;
  EXPECT_FALSE(JoinSegments(stem_, 0, &error));
  EXPECT_EQ(error, PathOf(2) + ": not a regular file; remove it and run `gpuprof recover`");
  struct stat status;
  EXPECT_EQ(lstat(PathOf(2).c_str(), &status), 0);
  unlink(PathOf(2).c_str());
  Join();
  EXPECT_EQ(Numbers(), UpTo(2));
}

// Only a cut leaves a ring file without a header beside a trace that has not ended.
TEST_F(JoinSegmentsTest, AnEmptyRingFileDoesNotCostThem) {
  const std::string ring = stem_ + proto::kRingSuffix;
  for (const std::vector<uint8_t>& bytes : {std::vector<uint8_t>{}, std::vector<uint8_t>(99, 7)}) {
    WriteBytes(ring, bytes);
    WriteTrace();
    WriteSegment(4, 1, 3);
    EXPECT_NE(CheckRingFile(ring), "");
    for (int i = 0; i < 2; ++i) {
      const RecoverResult result = Recover(stem_, -1);
      EXPECT_FALSE(result.ok);
      EXPECT_NE(result.error.find("cannot be read"), std::string::npos) << result.error;
      EXPECT_EQ(Numbers(), UpTo(3));
      EXPECT_EQ(access(ring.c_str(), F_OK), 0) << "every reader tells it";
      EXPECT_NE(access(PathOf(4).c_str(), F_OK), 0);
    }
    unlink(trace_.c_str());
  }
}

}  // namespace
}  // namespace gpuprof::codec
