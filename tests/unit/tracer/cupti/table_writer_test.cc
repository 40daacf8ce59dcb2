// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/table_writer.h"

#include <gtest/gtest.h>

namespace gpuprof::tracer::cupti {
namespace {

using proto::ChunkKind;
using Message = std::vector<uint8_t>;

constexpr int kField = 16;

// A file on a disk with room for so many blocks.
class Disk : public BlockSink {
 public:
  bool WriteTableBlock(ChunkKind, int, const Message& message, uint32_t entries) override {
    if (room == 0) return false;
    --room;
    tables.push_back(message);
    entries_written += entries;
    return true;
  }
  void WriteStringsBlock() override {}
  void WriteRowBlock(codec::ChunkBuilder*) override {}
  void LoseRowBlock(codec::ChunkBuilder*) override {}

  int room = 0;
  std::vector<Message> tables;
  uint32_t entries_written = 0;
};

TEST(TableWriter, WhatIsWrittenIsForgotten) {
  TableWriter writer;
  Disk disk;
  disk.room = 2;
  writer.Write(ChunkKind::kSignatures, kField, {1}, 1, &disk);
  writer.Write(ChunkKind::kSignatures, kField, {2}, 1, &disk);
  EXPECT_TRUE(writer.is_whole());
  disk.room = 2;
  writer.WriteKept(&disk);
  EXPECT_EQ(disk.tables, (std::vector<Message>{{1}, {2}}));
}

TEST(TableWriter, WhatFoundNoRoomComesAgainInItsTurn) {
  TableWriter writer;
  Disk disk;
  for (uint8_t i = 1; i <= 3; ++i) {
    writer.Write(ChunkKind::kSignatures, kField, {i}, i, &disk);
    EXPECT_FALSE(writer.is_whole());
  }
  disk.room = 2;
  writer.WriteKept(&disk);
  EXPECT_FALSE(writer.is_whole()) << "rows would not find the third";
  disk.room = 1;
  writer.Write(ChunkKind::kSignatures, kField, {4}, 4, &disk);
  EXPECT_EQ(disk.tables.size(), 2u) << "not before the third";
  disk.room = 2;
  writer.WriteKept(&disk);
  EXPECT_TRUE(writer.is_whole());
  EXPECT_EQ(disk.tables, (std::vector<Message>{{1}, {2}, {3}, {4}}));
  EXPECT_EQ(disk.entries_written, 10u);
}

TEST(TableWriter, BeyondItsBoundNothingIsWholeAgain) {
  TableWriter writer;
  Disk disk;
  writer.Write(ChunkKind::kStreams, kField, Message(TableWriter::kMostKept), 1, &disk);
  writer.Write(ChunkKind::kStreams, kField, {1}, 1, &disk);
  disk.room = 10;
  writer.WriteKept(&disk);
  EXPECT_EQ(disk.tables.size(), 1u);
  EXPECT_FALSE(writer.is_whole());
  writer.Write(ChunkKind::kStreams, kField, {2}, 1, &disk);
  EXPECT_EQ(disk.tables.size(), 2u) << "others still find what they refer to";
  EXPECT_FALSE(writer.is_whole());
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
