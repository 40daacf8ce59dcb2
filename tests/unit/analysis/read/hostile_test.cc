// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Cut, damaged and lying files: everything before the fault is read, the fault is named, nothing
// grows without bound.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr uint64_t kRowsPerBlock = 50;
constexpr uint64_t kBlocks = 4;

std::shared_ptr<const Trace> OpenOrNull(const std::string& path, const OpenOptions& options = {}) {
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_EQ(trace == nullptr, static_cast<bool>(error));
  EXPECT_EQ(trace == nullptr, !error.message.empty());
  return trace;
}

class HostileTest : public testing::Test {
 protected:
  HostileTest() {
    TraceMaker maker(directory_.path(), 100, kWall / 1000);
    maker.Meta(maker.Identity(1));
    maker.Clock(0, kSecond, kWall);
    maker.Clock(2'000'000'000, 2 * kSecond, kWall + kSecond);
    maker.Strings({{2, "op"}});
    for (uint64_t block = 0; block < kBlocks; ++block) {
      for (uint64_t row = 0; row < kRowsPerBlock; ++row) {
        maker.Op(1, 1000 * (block * kRowsPerBlock + row + 1), 100, 2);
      }
      maker.Flush();
    }
    maker.End();
    maker.Close();
    path_ = maker.path();
    bytes_ = ReadText(path_);
    codec::Scan(reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size(), &scan_);
    EXPECT_THAT(scan_.faults, IsEmpty());
  }

  // The event blocks, in order.
  std::vector<codec::BlockRef> Events() const {
    std::vector<codec::BlockRef> events;
    for (const codec::BlockRef& block : scan_.blocks) {
      if (block.header.kind == static_cast<uint16_t>(ChunkKind::kOp)) events.push_back(block);
    }
    return events;
  }

  TemporaryDirectory directory_;
  std::string path_;
  std::string bytes_;
  codec::TraceScan scan_;
};

TEST_F(HostileTest, CutAnywhereKeepsEveryWholeBlockBefore) {
  const std::vector<codec::BlockRef> events = Events();
  ASSERT_THAT(events, SizeIs(kBlocks));
  for (size_t length = 0; length < bytes_.size(); ++length) {
    WriteText(path_, bytes_.substr(0, length));
    const auto trace = OpenOrNull(path_);
    uint64_t whole = 0;
    for (const codec::BlockRef& block : events) {
      if (block.offset + block.header.compressed_bytes <= length) whole += kRowsPerBlock;
    }
    if (trace == nullptr) {
      EXPECT_EQ(whole, 0u) << "cut at " << length;
      continue;
    }
    const Process& process = trace->processes[0];
    const size_t rows = process.tracks.empty() ? 0 : process.tracks[0].op.rows();
    ASSERT_EQ(rows, whole) << "cut at " << length;
    for (const InputFault& fault : trace->faults) {
      EXPECT_LE(fault.offset, length);
      EXPECT_EQ(fault.file, process.file);
    }
  }
}

TEST_F(HostileTest, DamagedBlockLosesItsOwnRowsOnly) {
  const codec::BlockRef block = Events()[1];
  std::string damaged = bytes_;
  damaged[block.offset + block.header.compressed_bytes / 2] ^= 0x40;
  WriteText(path_, damaged);
  const auto trace = OpenOrNull(path_);
  ASSERT_NE(trace, nullptr);
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].offset,
              AllOf(Ge(block.offset), Le(block.offset + block.header.compressed_bytes)));
  const OpTable& op = trace->processes[0].tracks[0].op;
  ASSERT_EQ(op.rows(), kRowsPerBlock * (kBlocks - 1));
  ASSERT_THAT(op.duration_ns, SizeIs(op.rows()));
  // Origin: start of the first op, tick 900.
  EXPECT_EQ(op.end_ns[kRowsPerBlock - 1], static_cast<int64_t>((1000 * kRowsPerBlock - 900) / 2));
  EXPECT_EQ(op.end_ns[kRowsPerBlock],
            static_cast<int64_t>((1000 * (2 * kRowsPerBlock + 1) - 900) / 2));
}

TEST_F(HostileTest, RandomDamageNeverCrashes) {
  std::mt19937_64 random(3);
  const int rounds = 400;
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes_;
    for (uint64_t i = 0; i <= random() % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    WriteText(path_, damaged);
    const auto trace = OpenOrNull(path_);
    if (trace == nullptr) continue;
    for (const Process& process : trace->processes) {
      for (const Track& track : process.tracks) {
        EXPECT_EQ(track.op.end_ns.size(), track.op.name.size());
        EXPECT_LE(track.op.rows(), kBlocks * kRowsPerBlock);
      }
    }
  }
}

TEST_F(HostileTest, OtherFilesOfTheBundleAreReadBesideGarbage) {
  WriteText(directory_.File("p7-1.gpt"), "garbage");
  const auto trace = OpenOrNull(directory_.path());
  ASSERT_NE(trace, nullptr);
  EXPECT_THAT(trace->processes, SizeIs(1));
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_EQ(trace->faults[0].file, "p7-1.gpt");
}

TEST_F(HostileTest, MemoryLimitKeepsWhatComesFirst) {
  OpenOptions options;
  options.threads = 1;
  options.memory_limit_bytes = 1;  // the first block is read before it is known to be too large
  const auto trace = OpenOrNull(path_, options);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->processes[0].tracks[0].op.rows(), kRowsPerBlock);
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("memory"));
  EXPECT_EQ(trace->faults[0].offset, Events()[1].offset);
}

// A thousand rows that are all alike take a few bytes; a file of such blocks must not take memory
// without end.
TEST(HostileRows, MoreThanAFileOfItsSizeCanHoldAreLeftOut) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 100, kWall / 1000);
  maker.Clock(0, kSecond, kWall);
  for (int block = 0; block < 8; ++block) {
    for (uint32_t row = 0; row < proto::kMaxRowsPerChunk; ++row) {
      maker.Row(ChunkKind::kThreadEvent, 1, {1000, 0, 0, 0});
    }
    maker.Flush();
  }
  maker.Close();
  const uint64_t bytes = ReadText(maker.path()).size();
  ASSERT_LT(bytes, 5000u);
  const auto trace = OpenOrNull(directory.path());
  ASSERT_NE(trace, nullptr);
  EXPECT_LE(trace->processes[0].tracks[0].thread_event.rows(), (1u << 20) + 1024 * bytes);
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("more rows than a file of this size can hold"));
}

TEST(HostileTables, StackParentsAlwaysEnd) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 100, kWall / 1000);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, kSecond, kWall);
  proto::Stacks stacks;
  stacks.set_first_id(10);
  for (const uint64_t back :
       {uint64_t{9999}, uint64_t{10}, uint64_t{1}, uint64_t{5}, ~uint64_t{0}}) {
    stacks.add_parent_back(back);
    stacks.add_pc_delta(1);
  }
  maker.Table(ChunkKind::kStacks, 9, stacks, 5);
  maker.Op(1, 1000, 10, 2);
  maker.End();
  maker.Close();
  const auto trace = OpenOrNull(directory.path());
  ASSERT_NE(trace, nullptr);
  EXPECT_THAT(trace->faults, SizeIs(1));
  const StackTree& tree = trace->processes[0].stacks;
  EXPECT_EQ(tree.size(), 5u);
  StackNode node;
  for (uint32_t id = 10; id < 15; ++id) {
    ASSERT_TRUE(tree.Find(id, &node)) << id;
    EXPECT_LT(node.parent, id);
  }
  ASSERT_TRUE(tree.Find(12, &node));
  EXPECT_EQ(node.parent, 11u);
}

TEST(HostileTables, TablesThatLieGiveFaultsAndTheRest) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 100, kWall / 1000);
  maker.Meta(maker.Identity(1));
  maker.Clock(5000, ~uint64_t{0}, ~uint64_t{0});
  maker.Clock(0, kSecond, kWall);
  proto::Strings uneven;
  uneven.add_id(2);
  uneven.add_id(3);
  uneven.add_text("two");
  maker.Table(ChunkKind::kStrings, 8, uneven, 2);
  // A Meta that says it is a table of stacks: no stacks in it, no harm.
  maker.Table(ChunkKind::kStacks, 13, maker.Identity(1), 1);
  proto::Modules modules;
  modules.add_module()->set_start(10);  // ends before it starts
  maker.Table(ChunkKind::kModules, 10, modules, 1);
  maker.Op(1, 1000, 10, 2);
  maker.Op(1, 900, 5000, 2);  // begins before tick 0
  maker.End();
  maker.Close();
  const auto trace = OpenOrNull(directory.path());
  ASSERT_NE(trace, nullptr);
  const Process& process = trace->processes[0];
  EXPECT_EQ(process.String(2), "two");
  EXPECT_THAT(process.modules, IsEmpty());
  EXPECT_EQ(process.tracks[0].op.rows(), 2u);
  EXPECT_THAT(trace->faults, SizeIs(1));
}

}  // namespace
}  // namespace gpuprof::analysis
