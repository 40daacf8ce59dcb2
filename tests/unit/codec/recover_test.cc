// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Processes that died at every awkward moment: no row twice, no row missing, and nothing of a
// living process touched.

#include "proto/codec/recover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/record_sorter.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

class RecoverTest : public testing::Test {
 protected:
  RecoverTest() : stem_(folder_ / DeadStem()), trace_path_(stem_ + proto::kTraceSuffix) {
    process_ = std::make_unique<FakeProcess>(stem_, 3, 1024);
  }

  // Heap and op events in turn, as one thread would.
  void Record(uint32_t ring, int count) {
    for (int i = 0; i < count; ++i) {
      ++time_;
      proto::RingHeader* to = process_->ring(ring);
      ASSERT_TRUE(WriteGroup(
          to, WithStack(i == 0 ? std::vector<uint64_t>{time_, 500} : std::vector<uint64_t>{time_},
                        i == 0 ? 0 : 1, HeapRecord(time_, 16, time_))));
      ASSERT_TRUE(proto::RingWrite(to, OpRecord(time_, 1, 2, 0)));
    }
  }

  // What a drain thread does, up to a point of death: 0 nothing written, 1 tables and heap written,
  // 2 all written but the ring not freed, 3 freed.
  void Drain(uint32_t index, int death) {
    if (!writer_.is_open()) {
      ASSERT_TRUE(writer_.Create(trace_path_.c_str(), TestHeader()));
    }
    proto::RingHeader* ring = process_->ring(index);
    auto& sorter = sorters_[index];
    if (sorter == nullptr) sorter = std::make_unique<RecordSorter>(ring->track, 5, &tables_);
    const uint64_t head = ring->head.load();
    uint64_t& position = positions_[index];
    position = sorter->Consume(ring, position, head, nullptr);
    ASSERT_EQ(position, head);
    if (death == 0) return;
    std::vector<uint8_t> message;
    const uint32_t nodes = tables_.TakeStacks(&message);
    if (nodes != 0) {
      ASSERT_TRUE(writer_.WriteTable(ChunkKind::kStacks, 1, chunk_field::kStacks, message.data(),
                                     message.size(), nodes));
    }
    for (const auto& builder : sorter->builders()) {
      if (builder->count() != 0) {
        ASSERT_TRUE(writer_.WriteEvents(builder.get(), 1, position));
      }
      if (death == 1) return;
    }
    if (death == 3) sorter->Release(ring, position);
  }

  // As the drain, which tells the ring file how many blocks it has written.
  void DrainTwice() {
    for (int i = 0; i < 2; ++i) {
      Record(0, 10);
      Drain(0, 3);
    }
    process_->header().trace_blocks.store(writer_.next_sequence());
  }

  // Numbers left out between the finished trace's blocks.
  uint32_t MissingBlocks() {
    const std::vector<uint8_t> file = ReadBytes(trace_path_);
    TraceScan scan;
    EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
    EXPECT_TRUE(scan.has_end);
    const uint32_t numbers = scan.blocks.back().header.sequence + 1;
    return numbers - static_cast<uint32_t>(scan.blocks.size());
  }

  RecoverResult Die(int exit_status = -1) {
    writer_.Close();
    process_.reset();
    return Recover(stem_, exit_status);
  }

  proto::Trace Trace() { return ParseAll(ReadBytes(trace_path_)); }

  std::vector<uint64_t> Sizes(uint32_t track) {
    std::vector<uint64_t> sizes;
    for (const Row& row : ReadRows(ReadBytes(trace_path_), track, ChunkKind::kHeap))
      sizes.push_back(row[proto::heap_column::kSize]);
    return sizes;
  }

  // Every event once, on all rings, and each stack as it was.
  void CheckAll(const std::vector<uint32_t>& tracks) {
    std::vector<uint64_t> sizes;
    size_t ops = 0;
    for (const uint32_t track : tracks) {
      for (const uint64_t size : Sizes(track)) sizes.push_back(size);
      ops += ReadRows(ReadBytes(trace_path_), track, ChunkKind::kOp).size();
    }
    std::sort(sizes.begin(), sizes.end());
    std::vector<uint64_t> expected(time_ - 1000);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = 1001 + i;
    EXPECT_EQ(sizes, expected);
    EXPECT_EQ(ops, expected.size());
    CheckStacks();
    TraceScan scan;
    const std::vector<uint8_t> file = ReadBytes(trace_path_);
    ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
    EXPECT_TRUE(scan.has_end);
    EXPECT_EQ(scan.end.recovered, 1u);
    EXPECT_EQ(scan.end.rows, 2 * expected.size());
    EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
  }

  // Each allocation's stack is {its time, 500}.
  void CheckStacks() {
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> nodes;
    const proto::Trace trace = Trace();
    for (const proto::Chunk& chunk : trace.chunk()) {
      uint64_t pc = 0;
      for (int i = 0; i < chunk.stacks().parent_back_size(); ++i) {
        const uint64_t id = chunk.stacks().first_id() + static_cast<uint64_t>(i);
        const uint64_t back = chunk.stacks().parent_back(i);
        pc += static_cast<uint64_t>(chunk.stacks().pc_delta(i));
        ASSERT_TRUE(nodes.emplace(id, std::make_pair(back == 0 ? 0 : id - back, pc)).second);
      }
    }
    for (uint32_t track = 1; track <= 3; ++track) {
      for (const Row& row : ReadRows(ReadBytes(trace_path_), track, ChunkKind::kHeap)) {
        const auto inner = nodes.find(row[proto::heap_column::kStack]);
        ASSERT_NE(inner, nodes.end());
        EXPECT_EQ(inner->second.second, row[proto::heap_column::kSize]);
        const auto outer = nodes.find(inner->second.first);
        ASSERT_NE(outer, nodes.end());
        EXPECT_EQ(outer->second, (std::pair<uint64_t, uint64_t>{0, 500}));
      }
    }
  }

  TempFolder folder_;
  std::string stem_;
  std::string trace_path_;
  std::unique_ptr<FakeProcess> process_;
  TraceWriter writer_;
  InternTables tables_{1000, 1000, 100'000};
  std::map<uint32_t, std::unique_ptr<RecordSorter>> sorters_;
  std::map<uint32_t, uint64_t> positions_;
  uint64_t time_ = 1000;
};

TEST_F(RecoverTest, ARingAloneBecomesATrace) {
  Record(0, 20);
  ASSERT_TRUE(WriteGroup(process_->ring(1), StringRecord(2, "aten::add")));
  Record(1, 10);
  process_->header().latest_ticks = process_->header().latest_monotonic_ns = 5'000'000;
  process_->header().latest_realtime_ns = process_->header().snapshot_realtime_ns + 4'999'000;
  process_->header().heap_mode = 2;
  const RecoverResult result = Die(0);
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_FALSE(result.nothing_to_do);
  EXPECT_EQ(result.rows_added, 60u);
  CheckAll({1, 2});

  proto::Meta meta;
  proto::Threads threads;
  proto::Clocks clocks;
  std::string text;
  const proto::Trace trace = Trace();
  for (const proto::Chunk& chunk : trace.chunk()) {
    meta.MergeFrom(chunk.meta());
    threads.MergeFrom(chunk.threads());
    clocks.MergeFrom(chunk.clocks());
    if (chunk.strings().id_size() != 0) text = chunk.strings().text(0);
    EXPECT_EQ(chunk.capture(), 1u);
  }
  EXPECT_EQ(meta.executable(), "/usr/bin/victim");
  EXPECT_EQ(meta.pid(), 4711);
  EXPECT_EQ(meta.heap_mode(), 2u);
  EXPECT_EQ(meta.exit_status(), 0);
  ASSERT_EQ(threads.thread_size(), 3);
  EXPECT_EQ(threads.thread(1).name(), "thread1");
  EXPECT_EQ(threads.thread(1).tid(), 4712);
  ASSERT_EQ(clocks.snapshot_size(), 2);
  EXPECT_EQ(clocks.snapshot(0).ticks(), 1000u);
  EXPECT_EQ(clocks.snapshot(1).realtime_ns() - clocks.snapshot(0).realtime_ns(), 4'999'000u);
  EXPECT_EQ(text, "aten::add");
}

TEST_F(RecoverTest, DeathAtEveryPointOfADrain) {
  for (int death = 0; death <= 3; ++death) {
    stem_ = folder_ / DeadStem();
    trace_path_ = stem_ + proto::kTraceSuffix;
    process_ = std::make_unique<FakeProcess>(stem_, 3, 1024);
    tables_.SetNextStackNode(2);
    sorters_.clear();
    positions_.clear();
    time_ = 1000;
    // Two rounds: stacks of the second lean on those of the first, which the ring has lost.
    Record(0, 30);
    Record(1, 30);
    Drain(0, 3);
    Drain(1, 3);
    Record(0, 20);
    Drain(0, death);
    Record(0, 5);
    Record(1, 10);
    const RecoverResult result = Die();
    ASSERT_TRUE(result.ok) << result.error;
    CheckAll({1, 2});
    EXPECT_EQ(result.corrupt_records, 0u);
  }
}

TEST_F(RecoverTest, ATornLastBlockIsReplaced) {
  Record(0, 30);
  Drain(0, 3);
  Record(0, 30);
  const uint64_t whole = writer_.bytes_written();
  Drain(0, 2);
  writer_.Close();
  std::vector<uint8_t> file = ReadBytes(trace_path_);
  for (const uint64_t cut :
       {whole + 1, whole + 8, whole + 40, whole + 80, uint64_t{file.size()} - 1}) {
    // The ring file is put back for each round.
    const std::vector<uint8_t> ring = ReadBytes(stem_ + proto::kRingSuffix);
    std::vector<uint8_t> torn(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
    WriteBytes(trace_path_, torn);
    const RecoverResult result = Recover(stem_, -1);
    ASSERT_TRUE(result.ok) << result.error;
    CheckAll({1});
    WriteBytes(stem_ + proto::kRingSuffix, ring);
  }
}

TEST_F(RecoverTest, ATraceCutInsideItsHeaderBeginsAnew) {
  Record(0, 5);
  WriteBytes(trace_path_, {0x50, 0x2a, 0x4d, 0x18, 48});
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok) << result.error;
  CheckAll({1});
}

TEST_F(RecoverTest, KilledWhileRecoveringAndRunAgain) {
  Record(0, 50);
  Record(1, 50);
  process_->ring(0)->open_op[0] = {1010, 7, 0, 0};
  process_->ring(0)->open_ops.store(1);
  process_->ring(0)->open_range[0] = {1011, 8, 0, 0, 0};
  process_->ring(0)->open_ranges.store(1);
  const std::vector<uint8_t> ring = ReadBytes(stem_ + proto::kRingSuffix);
  ASSERT_TRUE(Die().ok);
  const std::vector<uint8_t> whole = ReadBytes(trace_path_);
  // At every byte that the first run may have come to.
  for (size_t cut = 0; cut < whole.size(); cut += 37) {
    WriteBytes(stem_ + proto::kRingSuffix, ring);
    WriteBytes(trace_path_, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)});
    const RecoverResult result = Recover(stem_, -1);
    ASSERT_TRUE(result.ok) << result.error;
    EXPECT_EQ(Sizes(1).size() + Sizes(2).size(), 100u) << cut;
    const std::vector<Row> ops = ReadRows(ReadBytes(trace_path_), 1, ChunkKind::kOp);
    EXPECT_EQ(ops.size(), 51u) << "the open span once: " << cut;
    EXPECT_EQ(ReadRows(ReadBytes(trace_path_), 1, ChunkKind::kRange).size(), 1u) << cut;
    CheckStacks();
  }
}

TEST_F(RecoverTest, OpenSpansEndAtTheProcessesLastMoment) {
  Record(0, 3);
  process_->ring(0)->open_op[0] = {1001, 9, 0, 0};
  process_->ring(0)->open_ops.store(1);
  process_->ring(1)->open_wait_kind = static_cast<uint32_t>(proto::WaitKind::kMutex);
  process_->ring(1)->open_wait_object = 0x1234560;
  process_->ring(1)->open_wait_start.store(1002);
  process_->ring(2)->last_time = 9000;
  ASSERT_TRUE(Die().ok);
  const std::vector<Row> ops = ReadRows(ReadBytes(trace_path_), 1, ChunkKind::kOp);
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(ops[3], (Row{9000, 7999, 9, uint64_t{proto::kFlagIncomplete} << 8, 0}));
  const std::vector<Row> waits = ReadRows(ReadBytes(trace_path_), 2, ChunkKind::kWait);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0][0], 9000u);
  EXPECT_EQ(waits[0][3], 0x1234560u);
}

TEST_F(RecoverTest, OpenRangesAreAllThatThereIs) {
  process_->ring(0)->open_range[0] = {1001, 9, 10, 0, 0};
  process_->ring(0)->open_range[1] = {1005, 11, 10, 1, 0};
  process_->ring(0)->open_ranges.store(2);
  process_->header().ranges_unpaired.store(3);
  process_->header().ranges_refused.store(4);
  process_->header().range_values_lost.store(5);
  ASSERT_TRUE(Die().ok);
  const uint64_t incomplete = 1 | uint64_t{proto::kFlagIncomplete} << 8;
  EXPECT_EQ(ReadRows(ReadBytes(trace_path_), 1, ChunkKind::kRange),
            (std::vector<Row>{{1005, 0, 11, incomplete | 1u << 16, 10, 0, 0, 0},
                              {1005, 4, 9, incomplete, 10, 0, 0, 0}}))
      << "they end at the newest moment that is known";
  std::map<int, uint64_t> losses;
  const proto::Trace trace = Trace();
  for (const proto::Chunk& chunk : trace.chunk()) {
    for (const proto::Loss& loss : chunk.health().loss()) losses[loss.kind()] = loss.count();
  }
  EXPECT_EQ(losses[proto::LOSS_UNPAIRED_SPAN], 3u);
  EXPECT_EQ(losses[proto::LOSS_SPAN], 4u);
  EXPECT_EQ(losses[proto::LOSS_RANGE_VALUE], 5u);
}

TEST_F(RecoverTest, WhatTheDiskOrCuptiKeptIsTold) {
  Record(0, 3);
  process_->header().rows_unwritten.store(70'000);
  process_->header().dropped_elsewhere.store(300);
  process_->header().reentered_elsewhere.store(20);
  process_->header().ticks_per_second = 1'000'000'000;
  process_->header().pass_ticks.store(5'000'000'000);
  process_->header().activity_until.store(4'250'000'000);
  ASSERT_TRUE(Die().ok);
  std::map<int, uint64_t> losses;
  uint64_t missing = 0;
  const proto::Trace trace = Trace();
  for (const proto::Chunk& chunk : trace.chunk()) {
    missing = std::max<uint64_t>(missing, chunk.health().activity_missing_ns());
    for (const proto::Loss& loss : chunk.health().loss()) losses[loss.kind()] = loss.count();
  }
  EXPECT_EQ(losses[proto::LOSS_WRITE_ERROR], 70'000u);
  EXPECT_EQ(losses[proto::LOSS_RING_FULL], 300u) << "of rings that are not in the file";
  EXPECT_EQ(losses[proto::LOSS_REENTERED], 20u);
  EXPECT_EQ(missing, 750'000'000u);
}

// Where a trace ends is no damage of a process that was killed; that it had been longer is.
TEST_F(RecoverTest, BlocksThatWereCutOffLeaveAHole) {
  DrainTwice();
  TraceScan before;
  const std::vector<uint8_t> file = ReadBytes(trace_path_);
  ASSERT_TRUE(Scan(file.data(), file.size(), &before));
  ASSERT_GT(before.blocks.size(), 3u);
  const BlockRef& last = before.blocks[before.blocks.size() - 3];
  std::filesystem::resize_file(trace_path_, last.offset + last.header.compressed_bytes);
  ASSERT_TRUE(Die().ok);
  EXPECT_EQ(MissingBlocks(), 2u);
}

TEST_F(RecoverTest, WhereNoBlockIsMissingThereIsNoHole) {
  DrainTwice();
  ASSERT_TRUE(Die().ok);
  EXPECT_EQ(MissingBlocks(), 0u);
}

TEST_F(RecoverTest, ARingThatChangesHandsNamesNobody) {
  Record(0, 1);
  process_->ring(1)->tid = 9999;
  process_->ring(1)->state.store(static_cast<uint32_t>(proto::RingState::kClaimed));
  ASSERT_TRUE(Die().ok);
  const proto::Trace trace = Trace();
  std::vector<uint32_t> tracks;
  for (const proto::Chunk& chunk : trace.chunk()) {
    for (const proto::Thread& thread : chunk.threads().thread()) tracks.push_back(thread.track());
  }
  EXPECT_EQ(tracks, (std::vector<uint32_t>{1, 3}));
}

TEST_F(RecoverTest, LossesAreToldOnce) {
  Record(0, 3);
  process_->ring(0)->dropped.store(12);
  process_->ring(1)->dropped.store(5);
  process_->ring(1)->reentered.store(2);
  process_->header().no_ring.store(7);
  process_->header().table_full.store(8);
  process_->header().thread_edges.store(9);
  strcpy(process_->header().trouble, "cannot record: no tracer");
  Drain(0, 3);
  // What the recorder itself had told a moment before.
  proto::Health health;
  auto* loss = health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(10);
  loss = health.add_loss();
  loss->set_kind(proto::LOSS_WRITE_ERROR);
  loss->set_count(4);
  health.set_drain_cpu_ns(123);
  health.add_note()->set_text("kept");
  const std::string bytes = health.SerializeAsString();
  ASSERT_TRUE(writer_.WriteTable(ChunkKind::kHealth, 1, chunk_field::kHealth,
                                 reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), 1));
  ASSERT_TRUE(Die().ok);
  proto::Health last;
  const proto::Trace trace = Trace();
  for (const proto::Chunk& chunk : trace.chunk()) {
    if (chunk.has_health()) last = chunk.health();
  }
  std::map<int, uint64_t> losses;
  for (const proto::Loss& entry : last.loss()) {
    EXPECT_TRUE(losses.emplace(entry.kind(), entry.count()).second) << "each kind once";
  }
  EXPECT_EQ(losses, (std::map<int, uint64_t>{{proto::LOSS_RING_FULL, 17},
                                             {proto::LOSS_REENTERED, 2},
                                             {proto::LOSS_NO_RING, 7},
                                             {proto::LOSS_SAMPLE_TABLE_FULL, 8},
                                             {proto::LOSS_WRITE_ERROR, 4},
                                             {proto::LOSS_THREAD_EDGE, 9}}));
  EXPECT_EQ(last.drain_cpu_ns(), 123u);
  ASSERT_EQ(last.note_size(), 2);
  EXPECT_EQ(last.note(0).text(), "kept");
  EXPECT_EQ(last.note(1).text(),
            "recording ended before the process did: cannot record: no tracer");
}

TEST_F(RecoverTest, TheWayOut) {
  const struct {
    proto::ExitWay way;
    int32_t noted;
    int wait_status;
    int32_t expected;
  } cases[] = {{proto::ExitWay::kReturn, 3, -1, 3},
               {proto::ExitWay::kUnknown, 0, -1, -1},
               {proto::ExitWay::kUnknown, 0, 9, 128 + 9},
               {proto::ExitWay::kUnknown, 0, 5 << 8, 5}};
  for (const auto& c : cases) {
    stem_ = folder_ / DeadStem();
    trace_path_ = stem_ + proto::kTraceSuffix;
    process_ = std::make_unique<FakeProcess>(stem_, 1, 64);
    process_->header().exit_way.store(static_cast<uint32_t>(c.way));
    process_->header().exit_status.store(c.noted);
    Record(0, 1);
    ASSERT_TRUE(Die(c.wait_status).ok);
    const std::vector<uint8_t> file = ReadBytes(trace_path_);
    TraceScan scan;
    ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
    EXPECT_EQ(scan.end.exit_way, static_cast<uint32_t>(c.way));
    EXPECT_EQ(scan.end.exit_status, c.expected);
  }
}

TEST_F(RecoverTest, AnEmptyRingWithoutATraceLeavesNothing) {
  const RecoverResult result = Die();
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_TRUE(result.nothing_to_do);
  EXPECT_FALSE(Exists(trace_path_));
  EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
}

TEST_F(RecoverTest, AnEmptyRingBesideATraceEndsTheTrace) {
  Record(0, 10);
  Drain(0, 3);
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.rows_added, 0u);
  EXPECT_FALSE(result.nothing_to_do);
  CheckAll({1});
}

TEST_F(RecoverTest, AFinishedTraceIsLeftAsItIs) {
  Record(0, 10);
  Drain(0, 3);
  ASSERT_TRUE(writer_.WriteEnd({}));
  writer_.Close();
  const std::vector<uint8_t> before = ReadBytes(trace_path_);
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(ReadBytes(trace_path_), before);
  EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
}

TEST_F(RecoverTest, OneDamagedRingDoesNotCostTheOthers) {
  Record(0, 10);
  Record(1, 10);
  Record(2, 10);
  process_->ring(1)->capacity = 1023;
  process_->header().directory[7].offset.store(~uint64_t{0} - 5);
  process_->header().directory[7].bytes = 4096;
  process_->header().directory[8].offset.store(process_->header().directory[0].offset.load());
  process_->header().directory[8].bytes = process_->header().directory[0].bytes;
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(Sizes(1).size(), 10u);
  EXPECT_EQ(Sizes(2).size(), 0u);
  EXPECT_EQ(Sizes(3).size(), 10u);
  bool is_told = false;
  const proto::Trace trace = Trace();
  for (const proto::Chunk& chunk : trace.chunk()) {
    for (const proto::Note& note : chunk.health().note())
      is_told |= note.text().find("damaged") != std::string::npos;
  }
  EXPECT_TRUE(is_told);
}

TEST_F(RecoverTest, CorruptRecordsAreCounted) {
  Record(0, 10);
  const proto::Record nonsense = {1, 0, 77, 0, 0, 0, 0};
  ASSERT_TRUE(proto::RingWrite(process_->ring(0), nonsense));
  Record(0, 1);
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok);
  EXPECT_EQ(result.corrupt_records, 5u) << "it, and a stack of two slots, its event and an op";
  EXPECT_EQ(Sizes(1).size(), 10u);
}

TEST_F(RecoverTest, ManyRowsBecomeManyBlocks) {
  process_.reset();
  ASSERT_EQ(unlink((stem_ + proto::kRingSuffix).c_str()), 0);
  process_ = std::make_unique<FakeProcess>(stem_, 1, 1 << 18);
  const uint64_t total = 200'000;
  for (uint64_t i = 0; i < total; ++i) {
    ASSERT_TRUE(proto::RingWrite(process_->ring(0), HeapRecord(2000 + i, i * 16, i)));
  }
  const RecoverResult result = Die();
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.rows_added, total);
  const std::vector<uint64_t> sizes = Sizes(1);
  ASSERT_EQ(sizes.size(), total);
  for (uint64_t i = 0; i < total; ++i) ASSERT_EQ(sizes[i], i);
}

TEST_F(RecoverTest, AFullDiskLosesNothing) {
  Record(0, 200);
  Record(1, 200);
  writer_.Close();
  process_.reset();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  int failures = 0;
  for (rlim_t limit = 10; limit < 4000; limit += 300) {
    rlimit tight = before;
    tight.rlim_cur = limit;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const RecoverResult result = Recover(stem_, -1);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    if (result.ok) break;
    ++failures;
    EXPECT_TRUE(Exists(stem_ + proto::kRingSuffix));
    EXPECT_NE(result.error.find("is still in"), std::string::npos) << result.error;
  }
  EXPECT_GT(failures, 2);
  if (Exists(stem_ + proto::kRingSuffix)) {
    const RecoverResult result = Recover(stem_, -1);
    ASSERT_TRUE(result.ok) << result.error;
  }
  CheckAll({1, 2});
}

TEST_F(RecoverTest, SeveralAtOnceMakeOneTrace) {
  Record(0, 200);
  Record(1, 200);
  process_.reset();
  std::vector<std::thread> threads;
  std::vector<RecoverResult> results(4);
  threads.reserve(results.size());
  for (RecoverResult& result : results) {
    threads.emplace_back([&] { result = Recover(stem_, -1); });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t added = 0;
  for (const RecoverResult& result : results) {
    EXPECT_TRUE(result.ok) << result.error;
    added += result.rows_added;
  }
  EXPECT_EQ(added, 800u);
  CheckAll({1, 2});
}

TEST_F(RecoverTest, SymbolicLinksAreNotFollowed) {
  Record(0, 3);
  process_.reset();
  const std::string victim = folder_ / "precious";
  WriteBytes(victim, {1, 2, 3});
  ASSERT_EQ(symlink(victim.c_str(), trace_path_.c_str()), 0);
  EXPECT_FALSE(Recover(stem_, -1).ok);
  EXPECT_EQ(ReadBytes(victim).size(), 3u);
}

}  // namespace
}  // namespace gpuprof::codec
