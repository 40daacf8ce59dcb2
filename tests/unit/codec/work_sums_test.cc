// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of work in a file: what the writer sums is what the rows amount to, the sums are short
// beside their rows, and a reader refuses sums that cannot be true.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/trace_writer.h"
#include "proto/codec/work_sums_reader.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

constexpr uint64_t kUnknown = SpanSums::kUnknownValue;

// Rows of several tables on several tracks, in blocks.
class WorkSumsTest : public testing::Test {
 protected:
  struct Of {
    std::unique_ptr<ChunkBuilder> builder;
    uint64_t at = 1'000'000;
  };

  void Begin() { ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader())); }

  // Spans mostly follow each other. Some overlap the ones before.
  void AddRows(ChunkKind kind, uint32_t track, uint32_t rows, uint32_t keys) {
    Of& of = tables_[{kind, track}];
    if (of.builder == nullptr) of.builder = std::make_unique<ChunkBuilder>(kind, track, 0);
    for (uint32_t i = 0; i < rows; ++i) {
      of.at += random_() % 300;
      const uint64_t reach = random_() % 50 == 0 ? 5'000 : 200;
      uint64_t row[proto::kWidestTable] = {of.at, random_() % reach, random_() % keys, random_()};
      const int bytes = proto::SummedColumn(*proto::FindTable(kind));
      if (bytes != 0) row[bytes] = random_() % 9 == 0 ? unknown_ : random_() % 100'000;
      of.builder->Append(row, row[0] - row[1]);
    }
  }
  void WriteBlocks(uint32_t sampled_one_in = 1) {
    for (auto& [name, of] : tables_) {
      if (of.builder->count() == 0) continue;
      of.builder->SetSampledOneIn(sampled_one_in);
      ASSERT_TRUE(writer_.WriteEvents(of.builder.get(), 1, 0));
    }
  }
  void End() {
    ASSERT_TRUE(writer_.WriteEnd({}));
    writer_.Close();
    Read();
  }
  void Read() {
    file_ = ReadBytes(path_);
    ASSERT_TRUE(Scan(file_.data(), file_.size(), &scan_));
    ASSERT_TRUE(scan_.faults.empty()) << scan_.faults[0].what;
  }

  std::vector<BlockRef> Tables() const {
    std::vector<BlockRef> tables;
    for (const BlockRef& block : scan_.blocks) {
      if (static_cast<ChunkKind>(block.header.kind) == ChunkKind::kWorkSums)
        tables.push_back(block);
    }
    return tables;
  }
  std::vector<WorkGroup> Groups(const BlockRef& table) {
    const uint8_t* message = nullptr;
    uint64_t bytes = 0;
    Fault fault;
    std::vector<WorkGroup> groups;
    EXPECT_TRUE(decoder_.Decompress(file_.data(), table, &message, &bytes, &fault)) << fault.what;
    EXPECT_STREQ(ReadWorkSums(message, bytes, &groups), nullptr);
    EXPECT_EQ(groups.size(), table.header.count);
    return groups;
  }
  const BlockRef* Find(uint64_t sequence) const {
    for (const BlockRef& block : scan_.blocks) {
      if (block.header.sequence == sequence) return &block;
    }
    return nullptr;
  }
  // Fails the test if the group is not what the rows of its blocks amount to.
  void CheckGroup(const WorkGroup& group, uint32_t sequence);
  // Returns how many blocks the tables sum.
  uint64_t CheckAll() {
    uint64_t blocks = 0;
    for (const BlockRef& table : Tables()) {
      for (const WorkGroup& group : Groups(table)) {
        CheckGroup(group, table.header.sequence);
        blocks += group.busy.size();
      }
    }
    return blocks;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "p1-1.gpt";
  TraceWriter writer_;
  std::mt19937 random_{17};
  uint64_t unknown_ = 12;
  std::map<std::pair<ChunkKind, uint32_t>, Of> tables_;
  std::vector<uint8_t> file_;
  TraceScan scan_;
  BlockDecoder decoder_;
};

void WorkSumsTest::CheckGroup(const WorkGroup& group, uint32_t sequence) {
  std::map<uint64_t, KeyedSums::Key> plain;
  bool lacks_bytes = false;
  for (size_t i = 0; i < group.busy.size(); ++i) {
    const BlockRef* const block = Find(sequence - group.blocks_back[i]);
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(block->header.kind, group.kind);
    ASSERT_EQ(block->header.track, group.track);
    EventColumns columns;
    Fault fault;
    ASSERT_TRUE(decoder_.DecodeEvents(file_.data(), *block, &columns, &fault)) << fault.what;
    EXPECT_EQ(columns.sampled_one_in, group.sampled_one_in);
    const int bytes = proto::SummedColumn(*proto::FindTable(columns.kind));
    SpanSums busy;
    for (const Row& row : RowsOf(columns)) {
      const uint64_t start = row[0] - row[1];
      busy.Add(1, &row[2], &start, &row[0], nullptr);
      const bool is_known = bytes == 0 || row[static_cast<size_t>(bytes)] != kUnknown;
      lacks_bytes |= !is_known;
      KeyedSums::Key key = {row[2], 1, row[1], row[1], row[1], 0};
      if (bytes != 0 && is_known) key.value = row[static_cast<size_t>(bytes)];
      plain[row[2]].Join(key);
    }
    EXPECT_EQ(group.busy[i], busy.busy());
  }
  EXPECT_EQ(group.lacks_bytes, lacks_bytes);
  ASSERT_EQ(group.keys.size(), plain.size());
  for (const KeyedSums::Key& key : group.keys) {
    const KeyedSums::Key& wanted = plain.at(key.key);
    EXPECT_EQ(std::tie(key.rows, key.total, key.least, key.most, key.value),
              std::tie(wanted.rows, wanted.total, wanted.least, wanted.most, wanted.value));
  }
}

TEST_F(WorkSumsTest, AreWhatTheRowsAmountTo) {
  Begin();
  constexpr int kBlocks = 12;
  for (int block = 0; block < kBlocks; ++block) {
    for (const uint32_t track : {2, 3, 9}) AddRows(ChunkKind::kKernel, track, 3'000, 20);
    AddRows(ChunkKind::kMemcpy, 2, 2'000, 3);
    AddRows(ChunkKind::kMemset, 2, 2'000, 2);
    AddRows(ChunkKind::kGraphLaunch, 3, 2'000, 4);
    AddRows(ChunkKind::kApi, 1, 2'000, 4);
    WriteBlocks();
  }
  End();
  EXPECT_EQ(Tables().size(), 1u);
  EXPECT_EQ(CheckAll(), 6u * kBlocks) << "work of GPUs, and no calls";
}

TEST_F(WorkSumsTest, SayThatSomeBytesAreNotKnown) {
  Begin();
  unknown_ = kUnknown;
  for (int block = 0; block < 8; ++block) {
    AddRows(ChunkKind::kMemcpy, 2, 5'000, 3);
    WriteBlocks();
  }
  End();
  EXPECT_EQ(CheckAll(), 8u);
  EXPECT_TRUE(Groups(Tables()[0])[0].lacks_bytes);
}

TEST_F(WorkSumsTest, BlocksOfOneSamplingFactorAreAGroup) {
  Begin();
  for (const uint32_t one_in : {1u, 16u, 1u, 16u}) {
    AddRows(ChunkKind::kKernel, 2, 20'000, 5);
    WriteBlocks(one_in);
  }
  End();
  ASSERT_EQ(CheckAll(), 4u);
  const std::vector<WorkGroup> groups = Groups(Tables()[0]);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1].sampled_one_in, 16u);
}

TEST_F(WorkSumsTest, AreWrittenEveryFewBlocks) {
  Begin();
  // In full groups, long before the file ends.
  constexpr uint32_t kBlocks = 2 * proto::kMostBlocksOfSums + 10;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    AddRows(ChunkKind::kKernel, 2, 1'000, 20);
    WriteBlocks();
  }
  writer_.Close();
  Read();
  ASSERT_EQ(Tables().size(), 2u);
  EXPECT_EQ(Tables()[0].header.sequence, proto::kMostBlocksOfSums);
  EXPECT_EQ(CheckAll(), 2 * proto::kMostBlocksOfSums);
  EXPECT_LT(writer_.memory_bytes(), 4u << 20);
}

TEST_F(WorkSumsTest, AreShortBesideTheirBlocks) {
  Begin();
  for (int block = 0; block < 40; ++block) {
    for (uint32_t track = 2; track < 40; ++track) {
      AddRows(ChunkKind::kKernel, track, track * track, 1 + track * 7);
    }
    WriteBlocks();
  }
  End();
  EXPECT_GT(CheckAll(), 0u);
  uint64_t bytes = 0;
  for (const BlockRef& table : Tables())
    bytes += table.header.compressed_bytes + proto::kBlockFrontBytes;
  EXPECT_LT(bytes * 100, file_.size());
}

TEST_F(WorkSumsTest, FewRowsHaveNone) {
  Begin();
  AddRows(ChunkKind::kKernel, 2, 500, 100);
  WriteBlocks();
  End();
  EXPECT_TRUE(Tables().empty());
}

TEST_F(WorkSumsTest, MoreKeysThanFitHaveNone) {
  Begin();
  for (int block = 0; block < 3; ++block) {
    AddRows(ChunkKind::kKernel, 2, 60'000, 10'000);
    AddRows(ChunkKind::kKernel, 3, 60'000, 10);
    WriteBlocks();
  }
  End();
  EXPECT_EQ(CheckAll(), 3u);
  EXPECT_EQ(Groups(Tables()[0])[0].track, 3u);
}

TEST_F(WorkSumsTest, ManyTracksNeedBoundedMemory) {
  Begin();
  uint64_t most = 0;
  for (uint32_t track = 2; track < 3000; ++track) {
    ChunkBuilder builder(ChunkKind::kKernel, track, 0);
    for (uint64_t i = 0; i < 500; ++i) AppendRow(&builder, {1000 + i * 20, 10, i % 100, i, 0, 0});
    ASSERT_TRUE(writer_.WriteEvents(&builder, 1, 0));
    most = std::max(most, writer_.memory_bytes());
  }
  EXPECT_LT(most, 4u << 20);
}

TEST_F(WorkSumsTest, RoundedTimesAreNotSummed) {
  Begin();
  ChunkBuilder builder(ChunkKind::kKernel, 2, 5);
  for (uint64_t i = 0; i < 50'000; ++i) AppendRow(&builder, {1000 + i * 200, 70, i % 2, i, 0, 0});
  ASSERT_TRUE(writer_.WriteEvents(&builder, 1, 0));
  End();
  EXPECT_TRUE(Tables().empty());
}

TEST_F(WorkSumsTest, StayRightInACopyOfTheirBlocks) {
  Begin();
  for (int block = 0; block < 8; ++block) {
    AddRows(ChunkKind::kKernel, 2, 5'000, 10);
    WriteBlocks();
  }
  End();
  TraceWriter copy;
  path_ = folder_ / "p2-1.gpt";
  ASSERT_TRUE(copy.Create(path_.c_str(), TestHeader()));
  const uint8_t name[] = {10, 0};
  ASSERT_TRUE(copy.WriteTable(ChunkKind::kStrings, 1, 8, name, sizeof name, 0));
  for (const BlockRef& block : scan_.blocks)
    ASSERT_TRUE(copy.CopyBlock(block.header, &file_[block.offset]));
  ASSERT_TRUE(copy.WriteEnd({}));
  copy.Close();
  Read();
  EXPECT_EQ(CheckAll(), 8u);
}

// A message that is right, to be made wrong.
proto::Trace RightTable() {
  proto::Trace trace;
  proto::Chunk* chunk = trace.add_chunk();
  chunk->set_kind(static_cast<uint32_t>(ChunkKind::kWorkSums));
  proto::WorkGroup* group = chunk->mutable_work_sums()->add_group();
  group->set_kind(static_cast<uint32_t>(ChunkKind::kKernel));
  group->set_track(2);
  for (const uint32_t back : {2, 1}) {
    group->add_blocks_back(back);
    group->add_busy(40);
  }
  for (const uint64_t key : {5, 3}) {
    group->add_key(key);
    group->add_rows(4);
    group->add_total(40);
    group->add_least(8);
    group->add_most(7);
  }
  return trace;
}

const char* FaultOf(const proto::Trace& trace) {
  const std::string bytes = trace.SerializeAsString();
  std::vector<WorkGroup> groups;
  const char* fault =
      ReadWorkSums(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &groups);
  EXPECT_EQ(groups.empty(), fault != nullptr);
  return fault;
}

TEST(ReadWorkSumsTest, RefusesWhatCannotBeTrue) {
  ASSERT_STREQ(FaultOf(RightTable()), nullptr);
  const std::pair<const char*, std::function<void(proto::WorkGroup*)>> lies[] = {
      {"no blocks", [](auto* g) { g->clear_blocks_back(), g->clear_busy(); }},
      {"no keys",
       [](auto* g) {
         g->clear_key(), g->clear_rows(), g->clear_total(), g->clear_least(), g->clear_most();
       }},
      {"a block without its busy time", [](auto* g) { g->add_blocks_back(3); }},
      {"a key without rows", [](auto* g) { g->set_rows(0, 0); }},
      {"a column that is too long", [](auto* g) { g->add_total(1); }},
      {"bytes of one key alone", [](auto* g) { g->add_bytes(1); }},
      {"more rows than blocks can have", [](auto* g) { g->set_rows(0, uint64_t{1} << 60); }},
      {"a total below its rows'", [](auto* g) { g->set_total(0, 31); }},
      {"a total above its rows'", [](auto* g) { g->set_total(0, 61); }},
      {"a greatest that wraps", [](auto* g) { g->set_most(0, ~uint64_t{0}); }},
      {"a key twice", [](auto* g) { g->set_key(0, 3); }},
      {"too many blocks",
       [](auto* g) {
         for (int i = 0; i < 513; ++i) g->add_blocks_back(1), g->add_busy(1);
       }},
      {"too many keys",
       [](auto* g) {
         for (uint64_t i = 0; i < 4097; ++i) g->add_key(10 + i);
       }},
      {"a sampling factor beyond the limit", [](auto* g) { g->set_sampled_one_in(1 << 21); }},
  };
  for (const auto& [name, lie] : lies) {
    proto::Trace trace = RightTable();
    lie(trace.mutable_chunk(0)->mutable_work_sums()->mutable_group(0));
    EXPECT_NE(FaultOf(trace), nullptr) << name;
  }
}

TEST(ReadWorkSumsTest, RefusesBytesThatAreNoMessage) {
  const std::string right = RightTable().SerializeAsString();
  for (size_t cut = 1; cut < right.size(); ++cut) {
    std::vector<WorkGroup> groups;
    const char* fault = ReadWorkSums(reinterpret_cast<const uint8_t*>(right.data()), cut, &groups);
    EXPECT_NE(fault, nullptr) << cut;
    EXPECT_TRUE(groups.empty());
  }
  const std::vector<uint8_t> long_one(proto::kMaxRawSumsBytes + 1);
  std::vector<WorkGroup> groups;
  EXPECT_NE(ReadWorkSums(long_one.data(), long_one.size(), &groups), nullptr);
}

}  // namespace
}  // namespace gpuprof::codec
