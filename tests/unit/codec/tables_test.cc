// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables as libprotobuf sees them: strings and stacks with their limits, and messages built field
// by field.

#include "proto/codec/tables.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

template <typename Message>
Message Parse(const std::vector<uint8_t>& bytes) {
  Message message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message;
}

// Frames of a stack id, innermost first, from all the Stacks messages given.
struct StackReader {
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> nodes;

  void Add(const proto::Stacks& stacks) {
    ASSERT_EQ(stacks.parent_back_size(), stacks.pc_delta_size());
    uint64_t pc = 0;
    for (int i = 0; i < stacks.parent_back_size(); ++i) {
      const uint32_t id = stacks.first_id() + static_cast<uint32_t>(i);
      pc += static_cast<uint64_t>(stacks.pc_delta(i));
      const uint64_t back = stacks.parent_back(i);
      ASSERT_EQ(nodes.count(id), 0u) << "an id is given out once";
      nodes[id] = {back == 0 ? 0 : id - static_cast<uint32_t>(back), pc};
    }
  }
  std::vector<uint64_t> Frames(uint32_t id) const {
    std::vector<uint64_t> frames;
    while (id != 0) {
      frames.push_back(nodes.at(id).second);
      id = nodes.at(id).first;
    }
    return frames;
  }
};

TEST(InternTables, StacksComeBackWhole) {
  InternTables tables(100'000, 10, 1000);
  StackReader reader;
  std::mt19937_64 random(3);
  std::map<uint32_t, std::vector<uint64_t>> known;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint64_t> frames(random() % 20 + 1);
    // Few different callers outside, many inside, as real programs have.
    for (size_t f = 0; f < frames.size(); ++f) {
      frames[f] = 0x7f0000000000 + random() % (frames.size() - f < 5 ? 2 : 8) * 16;
    }
    const uint32_t id = tables.InternStack(frames.data(), static_cast<uint32_t>(frames.size()));
    ASSERT_GE(id, 2u);
    const auto found = known.emplace(id, frames).first;
    EXPECT_EQ(found->second, frames) << "one id, one stack";
    if (i % 700 != 699) continue;
    std::vector<uint8_t> bytes;
    ASSERT_GT(tables.TakeStacks(&bytes), 0u);
    reader.Add(Parse<proto::Stacks>(bytes));
    for (const auto& [stack, expected] : known) ASSERT_EQ(reader.Frames(stack), expected);
  }
  // Asked again, the same ids.
  for (const auto& [id, frames] : known) {
    EXPECT_EQ(tables.InternStack(frames.data(), static_cast<uint32_t>(frames.size())), id);
  }
}

TEST(InternTables, AShorterStackOnTheSamePathIsItsOwnNode) {
  InternTables tables(100, 10, 1000);
  const uint64_t deep[] = {1, 2, 3};  // 3 is the outermost
  const uint32_t deep_id = tables.InternStack(deep, 3);
  const uint32_t caller_id = tables.InternStack(deep + 1, 2);
  EXPECT_NE(deep_id, caller_id);
  EXPECT_EQ(tables.InternStack(deep, 3), deep_id);
  const uint64_t other[] = {9, 2, 3};
  EXPECT_NE(tables.InternStack(other, 3), deep_id);
  EXPECT_EQ(tables.InternStack(deep, 3), deep_id);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(tables.TakeStacks(&bytes), 4u);
  EXPECT_EQ(tables.InternStack(deep, 0), 0u);
}

TEST(InternTables, AFullStackTableCountsAndGoesOn) {
  InternTables tables(3, 10, 1000);
  const uint64_t first[] = {1, 2, 3};
  const uint64_t second[] = {4, 2, 3};
  const uint32_t id = tables.InternStack(first, 3);
  EXPECT_EQ(tables.InternStack(second, 3), 1u);
  EXPECT_EQ(tables.InternStack(second, 3), 1u);
  EXPECT_EQ(tables.stacks_refused(), 2u);
  EXPECT_EQ(tables.InternStack(first, 3), id);
}

TEST(InternTables, ForgottenStacksComeAgainUnderNewIds) {
  InternTables tables(100, 10, 1000);
  StackReader reader;
  std::map<uint32_t, std::vector<uint64_t>> known;
  std::set<std::vector<uint64_t>> different;
  for (uint64_t i = 0; i < 4000; ++i) {
    const std::vector<uint64_t> frames = {1000 + i % 900, 7, 3, 1};
    const uint32_t id = tables.InternStack(frames.data(), 4);
    ASSERT_GE(id, 2u);
    const auto found = known.emplace(id, frames).first;
    ASSERT_EQ(found->second, frames) << "one id, one stack";
    different.insert(frames);
    if (i % 10 != 9) continue;
    std::vector<uint8_t> bytes;
    if (tables.TakeStacks(&bytes) != 0) reader.Add(Parse<proto::Stacks>(bytes));
    tables.ForgetStacksIfMany(50);
    for (const auto& [stack, expected] : known) ASSERT_EQ(reader.Frames(stack), expected);
  }
  EXPECT_EQ(tables.stacks_refused(), 0u);
  EXPECT_GT(known.size(), different.size()) << "some have several";
  EXPECT_LT(tables.memory_bytes(), 20'000u);
}

TEST(InternTables, WhatCouldNotBeWrittenComesAgain) {
  InternTables tables(100, 100, 1000);
  const uint64_t frames[] = {1, 2};
  const uint32_t stack = tables.InternStack(frames, 2);
  tables.DefineString(2, "one", 3);
  std::vector<uint8_t> lost;
  EXPECT_EQ(tables.TakeStacks(&lost), 2u);
  lost.clear();
  EXPECT_EQ(tables.TakeStrings(&lost), 1u);
  tables.ReturnStacks();
  tables.ReturnStrings();
  tables.DefineString(3, "two", 3);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(tables.TakeStacks(&bytes), 2u);
  StackReader reader;
  reader.Add(Parse<proto::Stacks>(bytes));
  EXPECT_EQ(reader.Frames(stack), (std::vector<uint64_t>{1, 2}));
  bytes.clear();
  EXPECT_EQ(tables.TakeStrings(&bytes), 2u);
  const auto strings = Parse<proto::Strings>(bytes);
  EXPECT_EQ(strings.text(0), "one");
  EXPECT_EQ(strings.text(1), "two");
  bytes.clear();
  EXPECT_EQ(tables.TakeStrings(&bytes), 0u);
  EXPECT_EQ(tables.TakeStacks(&bytes), 0u);
  EXPECT_TRUE(bytes.empty());
}

TEST(InternTables, StringsAndTexts) {
  InternTables tables(10, 5, 40);
  tables.DefineString(2, "aten::add", 9);
  tables.DefineString(3, "", 0);
  const std::string zeros("a\0b", 3);
  const uint32_t text = tables.InternText(zeros.data(), 3);
  EXPECT_EQ(text, 0x40000000u);
  EXPECT_EQ(tables.InternText(zeros.data(), 3), text) << "one text, one id";
  EXPECT_EQ(tables.InternText("/bin/x", 6), 0x40000001u);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(tables.TakeStrings(&bytes), 4u);
  const auto strings = Parse<proto::Strings>(bytes);
  ASSERT_EQ(strings.id_size(), 4);
  EXPECT_EQ(strings.id(0), 2u);
  EXPECT_EQ(strings.text(0), "aten::add");
  EXPECT_EQ(strings.text(1), "");
  EXPECT_EQ(strings.id(2), text);
  EXPECT_EQ(strings.text(2), zeros);
  // One more entry fits, but not so many bytes; then no entry.
  EXPECT_EQ(tables.InternText("01234567890123456789012", 23), 1u);
  EXPECT_EQ(tables.InternText("x", 1), 0x40000002u);
  EXPECT_EQ(tables.InternText("y", 1), 1u);
  EXPECT_EQ(tables.strings_refused(), 2u);
}

TEST(InternTables, ManyTextsKeepTheirIds) {
  InternTables tables(10, 10'000, 1 << 20);
  std::map<std::string, uint32_t> ids;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "/usr/bin/tool" + std::to_string(i % 2500);
    const uint32_t id = tables.InternText(text.data(), static_cast<uint32_t>(text.size()));
    EXPECT_EQ(ids.emplace(text, id).first->second, id);
  }
  EXPECT_EQ(ids.size(), 2500u);
}

TEST(InternTables, RecoveryGoesOnBehindWhatAFileHolds) {
  InternTables tables(100, 100, 1000);
  tables.SetNextStackNode(500);
  tables.SetNextTextId(0x40000007u);
  const uint64_t frames[] = {1, 2};
  EXPECT_EQ(tables.InternStack(frames, 2), 501u);
  EXPECT_EQ(tables.InternText("x", 1), 0x40000007u);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(tables.TakeStacks(&bytes), 2u);
  EXPECT_EQ(Parse<proto::Stacks>(bytes).first_id(), 500u);
}

// The rest of the tables are written by their owners field by field: what PbWriter makes must be
// what libprotobuf reads.
TEST(PbWriter, EveryTableKindParses) {
  const TempFolder folder;
  const std::string path = folder / "p1-1.gpt";
  TraceWriter writer;
  ASSERT_TRUE(writer.Create(path.c_str(), TestHeader()));
  const auto write = [&](ChunkKind kind, int field, const google::protobuf::Message& message) {
    const std::string bytes = message.SerializeAsString();
    ASSERT_TRUE(writer.WriteTable(kind, 1, field, reinterpret_cast<const uint8_t*>(bytes.data()),
                                  bytes.size(), 1));
  };
  std::vector<uint8_t> bytes;
  PbWriter out(&bytes);
  const std::string long_path(300, 'x');
  const uint64_t module = out.Begin(1);
  out.Bytes(1, long_path.data(), long_path.size());
  out.Fixed64(2, 0x7f0000001000);
  out.Fixed64(4, ~uint64_t{0});
  out.Varint(6, 0);
  out.Varint(7, ~uint64_t{0});
  out.End(module);
  ASSERT_TRUE(writer.WriteTable(ChunkKind::kModules, 1, chunk_field::kModules, bytes.data(),
                                bytes.size(), 1));
  proto::Clocks clocks;
  clocks.add_snapshot()->set_ticks(5);
  write(ChunkKind::kClocks, chunk_field::kClocks, clocks);
  proto::Threads threads;
  threads.add_thread()->set_tid(-1);
  write(ChunkKind::kThreads, chunk_field::kThreads, threads);
  proto::Meta meta;
  meta.set_pid(77);
  write(ChunkKind::kMeta, chunk_field::kMeta, meta);
  proto::Health health;
  health.add_loss()->set_count(9);
  write(ChunkKind::kHealth, chunk_field::kHealth, health);
  proto::Strings strings;
  strings.add_id(2);
  write(ChunkKind::kStrings, chunk_field::kStrings, strings);
  proto::Stacks stacks;
  stacks.set_first_id(2);
  write(ChunkKind::kStacks, chunk_field::kStacks, stacks);
  writer.Close();

  const proto::Trace trace = ParseAll(ReadBytes(path));
  ASSERT_EQ(trace.chunk_size(), 7);
  const proto::Module& parsed = trace.chunk(0).modules().module(0);
  EXPECT_EQ(parsed.path(), long_path);
  EXPECT_EQ(parsed.start(), 0x7f0000001000u);
  EXPECT_EQ(parsed.bias(), ~uint64_t{0});
  EXPECT_EQ(parsed.last_seen(), ~uint64_t{0});
  EXPECT_EQ(trace.chunk(0).kind(), static_cast<uint32_t>(ChunkKind::kModules));
  EXPECT_EQ(trace.chunk(1).clocks().snapshot(0).ticks(), 5u);
  EXPECT_EQ(trace.chunk(2).threads().thread(0).tid(), -1);
  EXPECT_EQ(trace.chunk(3).meta().pid(), 77);
  EXPECT_EQ(trace.chunk(4).health().loss(0).count(), 9u);
  EXPECT_EQ(trace.chunk(5).strings().id(0), 2u);
  EXPECT_EQ(trace.chunk(6).stacks().first_id(), 2u);
}

TEST(PbWriter, NestedLengthsOfEverySize) {
  for (const size_t size : {0u, 1u, 126u, 127u, 128u, 16'383u, 16'384u, 300'000u}) {
    std::vector<uint8_t> bytes;
    PbWriter out(&bytes);
    const uint64_t chunk = out.Begin(1);
    const uint64_t strings = out.Begin(chunk_field::kStrings);
    const std::string text(size, 'z');
    out.Bytes(2, text.data(), text.size());
    out.End(strings);
    out.End(chunk);
    const auto trace = Parse<proto::Trace>(bytes);
    ASSERT_EQ(trace.chunk(0).strings().text_size(), 1) << size;
    EXPECT_EQ(trace.chunk(0).strings().text(0), text);
  }
}

TEST(PbWriter, NegativeNumbers) {
  std::vector<uint8_t> bytes;
  PbWriter out(&bytes);
  out.Varint(1, static_cast<uint64_t>(int64_t{-5}));
  EXPECT_EQ(Parse<proto::Meta>(bytes).pid(), -5);
  bytes.clear();
  const uint64_t deltas = out.Begin(3);
  out.RawVarint(1);
  out.End(deltas);
  out.Signed(3, -300);
  const auto stacks = Parse<proto::Stacks>(bytes);
  EXPECT_EQ(stacks.pc_delta(0), -1);
  EXPECT_EQ(stacks.pc_delta(1), -300);
}

}  // namespace
}  // namespace gpuprof::codec
