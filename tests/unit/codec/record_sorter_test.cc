// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records of a ring to rows: every kind, prefixes, gaps, the ring's seam, and rings that lie.

#include "proto/codec/record_sorter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/unit/codec/codec_test_util.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;
using proto::Record;
using proto::RecordKind;

class PlainInterner final : public Interner {
 public:
  uint32_t InternStack(const uint64_t* frames, uint32_t count) override {
    if (count == 0) return 0;
    stacks.emplace_back(frames, frames + count);
    return static_cast<uint32_t>(stacks.size()) + 1;
  }
  void DefineString(uint32_t id, const char* text, uint32_t bytes) override {
    strings[id].assign(text, bytes);
  }
  uint32_t InternText(const char* text, uint32_t bytes) override {
    texts.emplace_back(text, bytes);
    return 0x40000000u + static_cast<uint32_t>(texts.size()) - 1;
  }
  const std::vector<uint64_t>& Stack(uint64_t id) const { return stacks.at(id - 2); }

  std::vector<std::vector<uint64_t>> stacks;
  std::vector<std::string> texts;
  std::map<uint32_t, std::string> strings;
};

class RecordSorterTest : public testing::Test {
 protected:
  explicit RecordSorterTest(uint32_t capacity = 256)
      : process_(folder_ / "p1-1", 1, capacity), ring_(process_.ring(0)) {}

  uint64_t head() const { return ring_->head.load(); }

  // What stands in the ring, through the sorter; then the ring is freed.
  uint64_t Drain() {
    const uint64_t position = sorter_.Consume(ring_, ring_->tail.load(), head(), nullptr);
    sorter_.Release(ring_, position);
    return position;
  }

  // Rows of a kind so far; empties the builder.
  std::vector<Row> Take(ChunkKind kind, uint64_t* dropped = nullptr) {
    for (const auto& builder : sorter_.builders()) {
      if (builder->kind() != kind) continue;
      std::vector<uint8_t> bytes;
      builder->Finish(1, &bytes);
      proto::Trace trace;
      EXPECT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      if (dropped != nullptr) *dropped = trace.chunk(0).dropped_before();
      return RowsOf(trace.chunk(0));
    }
    return {};
  }

  TempFolder folder_;
  FakeProcess process_;
  proto::RingHeader* ring_;
  PlainInterner interner_;
  RecordSorter sorter_{1, 0, &interner_};
};

Record Simple(RecordKind kind, uint64_t time, uint16_t detail, uint64_t a, uint64_t b) {
  return {time, 0, static_cast<uint8_t>(kind), 0, detail, a, b};
}

TEST_F(RecordSorterTest, EveryKindOfEvent) {
  Record alloc = HeapRecord(10, 0x1000, 64);
  alloc.flags = proto::kFlagSampled;
  Record wait = Simple(RecordKind::kWait, 30, static_cast<uint16_t>(proto::WaitKind::kMutex),
                       0x2000, 0x400123);
  wait.duration = 7;
  wait.flags = proto::kFlagTimedOut;
  Record op = OpRecord(40, 5, 17, 3);
  op.detail = static_cast<uint16_t>(proto::OpScope::kBackward);
  for (const Record& record :
       {alloc, HeapRecord(20, 0x1000, 999, true), wait, op,
        Simple(RecordKind::kTensorTotals, 50, 0, 1000, 2000),
        Simple(RecordKind::kTensor, 50, 0x0102, 0x3000, static_cast<uint64_t>(int64_t{-512})),
        Simple(RecordKind::kTensor, 55, 0x0102, 0x3000, 512),
        Simple(RecordKind::kThread, 60, static_cast<uint16_t>(proto::ThreadEvent::kStart), 8, 9)}) {
    ASSERT_TRUE(proto::RingWrite(ring_, record));
  }
  EXPECT_EQ(Drain(), head());
  const uint32_t malloc_code = static_cast<uint32_t>(proto::HeapFunction::kMalloc);
  EXPECT_EQ(
      Take(ChunkKind::kHeap),
      (std::vector<Row>{{10, malloc_code << 1 | uint64_t{proto::kFlagSampled} << 8, 0x1000, 64, 0},
                        {20, 4 << 1 | 1, 0x1000, 0, 0}}));
  EXPECT_EQ(
      Take(ChunkKind::kWait),
      (std::vector<Row>{{30, 7, 1 | uint64_t{proto::kFlagTimedOut} << 8, 0x2000, 0x400123, 0, 0}}));
  EXPECT_EQ(Take(ChunkKind::kOp), (std::vector<Row>{{40, 5, 17, 1 | 3u << 16, 0}}));
  EXPECT_EQ(
      Take(ChunkKind::kTensor),
      (std::vector<Row>{{50, 0x0102, 0x3000, static_cast<uint64_t>(int64_t{-512}), 1000, 2000},
                        {55, 0x0102, 0x3000, 512, 0, 0}}));
  EXPECT_EQ(Take(ChunkKind::kThreadEvent), (std::vector<Row>{{60, 1, 8, 9}}));
  EXPECT_EQ(sorter_.rows(), 7u);
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
  EXPECT_EQ(sorter_.last_time(), 60u);
}

TEST_F(RecordSorterTest, TextsGoWithTheirEvent) {
  const std::string path = "/usr/bin/some-program-with-a-name-of-more-than-one-slot";
  std::vector<Record> group = StringRecord(0, path);
  group[0].kind = static_cast<uint8_t>(RecordKind::kText);
  group.push_back(
      Simple(RecordKind::kProcess, 5, static_cast<uint16_t>(proto::ProcessEvent::kSpawn), 99, 0));
  ASSERT_TRUE(WriteGroup(ring_, group));
  ASSERT_TRUE(proto::RingWrite(
      ring_,
      Simple(RecordKind::kProcess, 6, static_cast<uint16_t>(proto::ProcessEvent::kFork), 1, 0)));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kProcessEvent),
            (std::vector<Row>{{5, 3, 99, 0, 0x40000000u}, {6, 1, 1, 0, 0}}));
  EXPECT_EQ(interner_.texts, std::vector<std::string>{path});
}

TEST_F(RecordSorterTest, StringsAreDefined) {
  ASSERT_TRUE(WriteGroup(ring_, StringRecord(2, "aten::add")));
  ASSERT_TRUE(WriteGroup(ring_, StringRecord(3, "")));
  ASSERT_TRUE(WriteGroup(ring_, StringRecord(4, std::string(4096, 'x'))));
  Drain();
  EXPECT_EQ(interner_.strings[2], "aten::add");
  EXPECT_EQ(interner_.strings.count(3), 1u);
  EXPECT_EQ(interner_.strings[4], std::string(4096, 'x'));
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
}

TEST_F(RecordSorterTest, LongDurations) {
  Record wait = Simple(RecordKind::kWait, 1'000'000'000'000, 1, 1, 2);
  wait.duration = proto::kLongDuration;
  ASSERT_TRUE(
      WriteGroup(ring_, {Simple(RecordKind::kDuration, wait.time, 0, 0, 900'000'000'000), wait}));
  Record op = OpRecord(1'000'000'000'001, 3, 2, 0);
  ASSERT_TRUE(proto::RingWrite(ring_, op));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kWait)[0][1], 900'000'000'000u);
  EXPECT_EQ(Take(ChunkKind::kOp)[0][1], 3u);
}

TEST_F(RecordSorterTest, StacksShareTheirOuterFrames) {
  ASSERT_TRUE(WriteGroup(ring_, WithStack({1, 2, 3, 4}, 0, HeapRecord(1, 0x10, 1))));
  ASSERT_TRUE(WriteGroup(ring_, WithStack({7, 8}, 2, HeapRecord(2, 0x20, 1))));
  ASSERT_TRUE(WriteGroup(ring_, WithStack({}, 4, HeapRecord(3, 0x30, 1))));
  ASSERT_TRUE(WriteGroup(ring_, WithStack({}, 2, HeapRecord(4, 0x40, 1))));
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(5, 0x50, 1)));
  Drain();
  const std::vector<Row> rows = Take(ChunkKind::kHeap);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(interner_.Stack(rows[0][4]), (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(interner_.Stack(rows[1][4]), (std::vector<uint64_t>{7, 8, 3, 4}));
  EXPECT_EQ(interner_.Stack(rows[2][4]), (std::vector<uint64_t>{7, 8, 3, 4}));
  EXPECT_EQ(interner_.Stack(rows[3][4]), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(rows[4][4], 0u) << "no prefix, no stack";
}

TEST_F(RecordSorterTest, AnotherSorterGoesOnWithTheStackThatReleaseLeft) {
  ASSERT_TRUE(WriteGroup(ring_, WithStack({1, 2, 3, 4}, 0, HeapRecord(1, 0x10, 1))));
  Drain();
  ASSERT_TRUE(WriteGroup(ring_, WithStack({9}, 3, HeapRecord(2, 0x20, 1))));
  RecordSorter after_death(1, 0, &interner_);
  after_death.Resume(ring_);
  after_death.Consume(ring_, ring_->tail.load(), head(), nullptr);
  EXPECT_EQ(interner_.stacks.back(), (std::vector<uint64_t>{9, 2, 3, 4}));
  EXPECT_EQ(after_death.cut_stacks(), 0u);

  // Without it, the frames that the record holds are all that is known, and that is counted.
  ring_->freed_stack.position = ~uint64_t{0};
  RecordSorter without(1, 0, &interner_);
  without.Resume(ring_);
  without.Consume(ring_, ring_->tail.load(), head(), nullptr);
  EXPECT_EQ(interner_.stacks.back(), (std::vector<uint64_t>{9}));
  EXPECT_EQ(without.cut_stacks(), 1u);
}

TEST_F(RecordSorterTest, DropsAreToldWithTheNextRow) {
  uint64_t time = 1;
  while (proto::RingWrite(ring_, HeapRecord(time, time * 16, 1))) ++time;
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(proto::RingWrite(ring_, HeapRecord(time, 16, 1)));
  Drain();
  uint64_t dropped = 99;
  EXPECT_EQ(Take(ChunkKind::kHeap, &dropped).size(), 256u);
  EXPECT_EQ(dropped, 0u);
  ASSERT_TRUE(proto::RingWrite(ring_, OpRecord(time, 1, 2, 0)));
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(time, 16, 1)));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kHeap, &dropped).size(), 1u);
  EXPECT_EQ(dropped, 0u);
  EXPECT_EQ(Take(ChunkKind::kOp, &dropped).size(), 1u);
  EXPECT_EQ(dropped, 5u);
}

// Groups of every length start at every place of the ring, so that each kind of payload crosses its
// end.
TEST_F(RecordSorterTest, PayloadsCrossTheSeam) {
  std::mt19937_64 random(11);
  std::vector<std::vector<uint64_t>> expected;
  std::vector<uint64_t> stack;
  std::vector<Row> rows;
  uint64_t time = 100;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t shared = stack.empty() ? 0 : random() % (stack.size() + 1);
    std::vector<uint64_t> fresh(random() % 30 + (shared == 0 ? 1 : 0));
    for (uint64_t& pc : fresh) pc = random() | 1;
    std::vector<uint64_t> next = fresh;
    next.insert(next.end(), stack.end() - static_cast<std::ptrdiff_t>(shared), stack.end());
    ASSERT_TRUE(WriteGroup(ring_, WithStack(fresh, shared, HeapRecord(++time, 16, 1))));
    ASSERT_TRUE(WriteGroup(
        ring_, StringRecord(static_cast<uint32_t>(i) + 2, std::string(random() % 100, 's'))));
    stack = next;
    expected.push_back(next);
    Drain();
  }
  EXPECT_GT(head(), 256u * 50);
  rows = Take(ChunkKind::kHeap);
  ASSERT_EQ(rows.size(), 2000u);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(interner_.Stack(rows[i][4]), expected[i]) << "row " << i;
  }
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
}

TEST_F(RecordSorterTest, RowsBelowTheSkipPositionAreInTheFileAlready) {
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(100 + i, 16, i)));
    ASSERT_TRUE(proto::RingWrite(ring_, OpRecord(100 + i, 1, 2, 0)));
  }
  uint64_t skip[proto::kRingKinds] = {};
  skip[0] = 7;  // heap rows at 0, 2, 4, 6 are done
  sorter_.Consume(ring_, 0, head(), skip);
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), 6u);
  EXPECT_EQ(Take(ChunkKind::kOp).size(), 10u);
}

TEST_F(RecordSorterTest, ADropThatWasToldWithASkippedRowIsNotToldAgain) {
  ASSERT_TRUE(proto::RingWrite(ring_, Simple(RecordKind::kDropped, 1, 0, 5, 0)));
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(2, 16, 1)));
  ASSERT_TRUE(proto::RingWrite(ring_, OpRecord(3, 1, 2, 0)));
  uint64_t skip[proto::kRingKinds] = {2};
  sorter_.Consume(ring_, 0, head(), skip);
  uint64_t dropped = 99;
  EXPECT_EQ(Take(ChunkKind::kOp, &dropped).size(), 1u);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(RecordSorterTest, OpenSpansEndNowInnerFirst) {
  ring_->open_op[0] = {100, 5, 0, 0};
  ring_->open_op[1] = {200, 6, static_cast<uint32_t>(proto::OpScope::kUser), 8};
  ring_->open_op[2] = {900, 7, 0, 0};  // begins after `now`: torn, left out
  ring_->open_ops.store(3);
  ring_->open_wait_kind = static_cast<uint32_t>(proto::WaitKind::kCondition);
  ring_->open_wait_object = 0xabc;
  ring_->open_wait_caller = 0xdef;
  ring_->open_wait_start.store(450);
  sorter_.AddOpenSpans(ring_, 500);
  const uint64_t incomplete = uint64_t{proto::kFlagIncomplete} << 8;
  EXPECT_EQ(Take(ChunkKind::kOp), (std::vector<Row>{{500, 300, 6, 7 | incomplete | 1u << 16, 8},
                                                    {500, 400, 5, incomplete, 0}}));
  EXPECT_EQ(Take(ChunkKind::kWait),
            (std::vector<Row>{{500, 50, 4 | incomplete, 0xabc, 0xdef, 0, 0}}));
  const uint64_t all = ~uint64_t{0};
  const uint64_t done[proto::kRingKinds] = {0, all, all, 0, 0, 0, 0, all};
  sorter_.AddOpenSpans(ring_, 500, done);
  EXPECT_TRUE(Take(ChunkKind::kOp).empty());
  EXPECT_TRUE(Take(ChunkKind::kWait).empty());
  ring_->open_ops.store(1'000'000);  // a lie, or deeper than is kept
  sorter_.AddOpenSpans(ring_, 500);
  EXPECT_LE(Take(ChunkKind::kOp).size(), proto::kMaxOpenOps);
}

TEST_F(RecordSorterTest, RangesWithTheirAttributes) {
  constexpr auto kStarted = static_cast<uint16_t>(proto::RangeKind::kStartEnd);
  constexpr uint16_t kWithDouble = kStarted | static_cast<int>(proto::NvtxPayload::kDouble) << 4;
  Record bare = Simple(RecordKind::kRange, 40, static_cast<uint16_t>(proto::RangeKind::kPushPop),
                       17 | uint64_t{18} << 32, uint64_t{3} << 32);
  bare.duration = 5;
  Record started = Simple(RecordKind::kRange, 50, kWithDouble, 19, 4711);
  started.duration = proto::kLongDuration;
  for (const Record& record :
       {bare, Simple(RecordKind::kRangeAttributes, 50, 0, 7 | uint64_t{0xff0000ff} << 32, 0x3fd),
        Simple(RecordKind::kDuration, 50, 0, 0, 45), started, bare}) {
    ASSERT_TRUE(proto::RingWrite(ring_, record));
  }
  Drain();
  EXPECT_EQ(
      Take(ChunkKind::kRange),
      (std::vector<Row>{{40, 5, 17, 1 | 3u << 16, 18, 0, 0, 0},
                        {50, 45, 19, kWithDouble, 0, 7 | uint64_t{0xff0000ff} << 32, 0x3fd, 4711},
                        {40, 5, 17, 1 | 3u << 16, 18, 0, 0, 0}}))
      << "attributes are the next range's alone";
}

// A record of `bytes` bytes, 1, 2, 3 and so on.
std::vector<Record> PayloadGroup(uint64_t time, uint16_t detail, uint64_t bytes) {
  std::vector<Record> group(1 + proto::PayloadSlots(bytes));
  group[0] = {time, 3,      static_cast<uint8_t>(RecordKind::kRangePayload),
              0,    detail, 20 | uint64_t{18} << 32,
              bytes};
  auto* payload = reinterpret_cast<uint8_t*>(group.data() + 1);
  for (uint64_t i = 0; i < bytes; ++i) payload[i] = static_cast<uint8_t>(i + 1);
  return group;
}

TEST_F(RecordSorterTest, PayloadsOfARangeAreRowsOfEightBytes) {
  constexpr auto kMark = static_cast<uint16_t>(proto::RangeKind::kMark);
  const std::vector<Record> payload = PayloadGroup(50, kMark | 1 << 15, 40);
  const std::vector<Record> empty = PayloadGroup(50, kMark, 0);
  ASSERT_TRUE(proto::RingWriteGroup(ring_, payload.data(), 3, 1));
  ASSERT_TRUE(proto::RingWriteGroup(ring_, empty.data(), 1, 1));
  ASSERT_TRUE(proto::RingWrite(
      ring_, Simple(RecordKind::kRange, 50, kMark, 19 | uint64_t{18} << 32, uint64_t{3} << 32)));
  Drain();
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
  EXPECT_EQ(Take(ChunkKind::kRangePayload),
            (std::vector<Row>{{50, uint64_t{kMark} | 1 << 15 | 3u << 16, 18, 20, 40},
                              {50, 0, 0, 0, 0x0807060504030201},
                              {50, 0, 0, 0, 0x100f0e0d0c0b0a09},
                              {50, 0, 0, 0, 0x1817161514131211},
                              {50, 0, 0, 0, 0x201f1e1d1c1b1a19},
                              {50, 0, 0, 0, 0x2827262524232221},
                              {50, uint64_t{kMark} | 3u << 16, 18, 20, 0}}));
  EXPECT_EQ(Take(ChunkKind::kRange),
            (std::vector<Row>{{50, 0, 19, uint64_t{kMark} | 3u << 16, 18, 0, 0, 0}}));
}

TEST_F(RecordSorterTest, PayloadsThatAreInTheFileAlready) {
  const std::vector<Record> first = PayloadGroup(50, 3, 8), second = PayloadGroup(60, 3, 8);
  ASSERT_TRUE(proto::RingWriteGroup(ring_, first.data(), 2, 1));
  ASSERT_TRUE(proto::RingWriteGroup(ring_, second.data(), 2, 1));
  uint64_t skip[proto::kRingKinds] = {};
  skip[proto::RingKindIndex(ChunkKind::kRangePayload)] = 2;
  EXPECT_EQ(sorter_.Consume(ring_, 0, 4, skip), 4u);
  EXPECT_EQ(Take(ChunkKind::kRangePayload).size(), 2u);
}

TEST_F(RecordSorterTest, PayloadsThatDoNotEndAreCorrupt) {
  std::vector<Record> group = PayloadGroup(50, 3, 8);
  group[0].b = 4096;
  ASSERT_TRUE(proto::RingWriteGroup(ring_, group.data(), 2, 1));
  Drain();
  EXPECT_EQ(sorter_.corrupt_records(), 2u);
  group[0].b = 4097;
  ASSERT_TRUE(proto::RingWriteGroup(ring_, group.data(), 2, 1));
  Drain();
  EXPECT_EQ(sorter_.corrupt_records(), 4u);
  EXPECT_TRUE(Take(ChunkKind::kRangePayload).empty());
}

TEST_F(RecordSorterTest, LaunchesWithTheirStacks) {
  const uint32_t function = proto::ApiFunction(2, 211);
  for (const Record& record : {Simple(RecordKind::kLaunch, 40, 0, 71, function),
                               Simple(RecordKind::kLaunch, 50, 0, 72, function)}) {
    ASSERT_TRUE(proto::RingWrite(ring_, record));
  }
  Drain();
  EXPECT_EQ(Take(ChunkKind::kLaunch),
            (std::vector<Row>{{40, 71, function, 0}, {50, 72, function, 0}}));
}

TEST_F(RecordSorterTest, ReadsOfFiles) {
  const uint64_t failed = static_cast<uint64_t>(int64_t{-5});
  Record read = Simple(RecordKind::kFileRead, 40, 0, 17 | uint64_t{3} << 32, 4096);
  read.duration = 9;
  for (const Record& record :
       {read, Simple(RecordKind::kFileRead, 50, 0, uint64_t{7} << 32, failed),
        Simple(RecordKind::kDuration, 60, 0, 0, uint64_t{1} << 40)}) {
    ASSERT_TRUE(proto::RingWrite(ring_, record));
  }
  read.time = uint64_t{1} << 41;
  read.duration = proto::kLongDuration;
  ASSERT_TRUE(proto::RingWrite(ring_, read));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kFileRead),
            (std::vector<Row>{{40, 9, 17, 4096, 3},
                              {50, 0, 0, failed, 7},
                              {uint64_t{1} << 41, uint64_t{1} << 40, 17, 4096, 3}}));
}

TEST_F(RecordSorterTest, SamplesWithTheirStacks) {
  constexpr uint64_t kFrame = uint64_t{1} << 63 | 0x10000000;
  std::vector<Record> group(3);
  group[0] = Simple(RecordKind::kStack, 40, 1, 0, 8);
  std::memcpy(static_cast<void*>(&group[1]), &kFrame, sizeof(kFrame));
  group[2] = Simple(RecordKind::kSample, 40, proto::kSampleRuns | proto::kSamplePython,
                    71 | uint64_t{72} << 32, 0);
  group[2].duration = 10;
  ASSERT_TRUE(proto::RingWriteGroup(ring_, group.data(), 3, 1));
  ASSERT_TRUE(proto::RingWrite(ring_, Simple(RecordKind::kSample, 50, 0, 71, 0)));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kSample),
            (std::vector<Row>{{40, 10, 71, 9, 2, 72}, {50, 0, 71, 0, 0, 0}}));
  EXPECT_EQ(interner_.Stack(2), (std::vector<uint64_t>{kFrame}));
}

TEST_F(RecordSorterTest, CallsOfPythonAndPausesOfItsCollector) {
  Record call = Simple(RecordKind::kPythonCall, 40, 0, 7, 3);
  call.duration = 10;
  Record pause = Simple(RecordKind::kGcPause, 60, 2, 500, 1);
  pause.duration = 5;
  ASSERT_TRUE(proto::RingWrite(ring_, call));
  ASSERT_TRUE(proto::RingWrite(ring_, pause));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kPython), (std::vector<Row>{{40, 10, 7, 0, 0, 0, 3u << 16}}));
  EXPECT_EQ(Take(ChunkKind::kGcPause), (std::vector<Row>{{60, 5, 2, 500, 1}}));
}

TEST_F(RecordSorterTest, OpenCallsEndNowInnerFirst) {
  ring_->open_call[0] = {100, 5, 0, 0};
  ring_->open_call[1] = {200, 7, 0, 0};
  ring_->open_call[2] = {900, 8, 0, 0};  // begins after `now`: torn, left out
  ring_->open_calls.store(3);
  sorter_.AddOpenSpans(ring_, 500);
  const uint64_t incomplete = uint64_t{proto::kFlagIncomplete} << 8;
  EXPECT_EQ(Take(ChunkKind::kPython),
            (std::vector<Row>{{500, 300, 7, 0, 0, 0, incomplete | 1u << 16},
                              {500, 400, 5, 0, 0, 0, incomplete}}));
  uint64_t done[proto::kRingKinds] = {};
  done[proto::RingKindIndex(ChunkKind::kPython)] = ~uint64_t{0};
  sorter_.AddOpenSpans(ring_, 500, done);
  EXPECT_TRUE(Take(ChunkKind::kPython).empty());
  ring_->open_calls.store(1'000'000);  // a lie, or deeper than is kept
  sorter_.AddOpenSpans(ring_, 500);
  EXPECT_LE(Take(ChunkKind::kPython).size(), proto::kMaxOpenCalls);
}

TEST_F(RecordSorterTest, ValuesOfAnOpAreRows) {
  const std::string text = "id=-7,shapes=[8,784] [8],name=a=b,long=99999999999999999999";
  std::vector<Record> group(1 + proto::PayloadSlots(text.size()));
  group[0] = Simple(RecordKind::kOpValues, 50, 0, 0, text.size());
  std::memcpy(static_cast<void*>(&group[1]), text.data(), text.size());
  ASSERT_TRUE(proto::RingWriteGroup(ring_, group.data(), static_cast<uint32_t>(group.size()), 1));
  ASSERT_TRUE(proto::RingWrite(ring_, Simple(RecordKind::kOp, 50, 128, 9, 0)));
  Drain();
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
  const std::vector<Row> rows = Take(ChunkKind::kOpValue);
  ASSERT_EQ(rows.size(), 4u);
  const auto text_of = [this](uint64_t id) { return interner_.texts.at(id - 0x40000000u); };
  EXPECT_EQ(text_of(rows[0][1]), "id");
  EXPECT_EQ(static_cast<int64_t>(rows[0][2]), -7);
  EXPECT_EQ(rows[0][3], 0u);
  EXPECT_EQ(text_of(rows[1][1]), "shapes");
  EXPECT_EQ(text_of(rows[1][3]), "[8,784] [8]");
  EXPECT_EQ(text_of(rows[2][3]), "a=b");
  EXPECT_EQ(text_of(rows[3][3]), "99999999999999999999");
  EXPECT_EQ(rows[3][0], 50u);
  EXPECT_EQ(Take(ChunkKind::kOp), (std::vector<Row>{{50, 0, 9, 128, 0}}));
}

TEST_F(RecordSorterTest, AnOpHasItsDepthAndItsNumberOfAutograd) {
  constexpr uint64_t kSequence = uint64_t{1} << 40;
  ASSERT_TRUE(
      proto::RingWrite(ring_, Simple(RecordKind::kOp, 50, 1, 9, proto::OpPlace(3, kSequence + 1))));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kOp), (std::vector<Row>{{50, 0, 9, 1 | 3 << 16, kSequence + 1}}));
}

TEST_F(RecordSorterTest, ValuesWithoutKeysAreNone) {
  for (const std::string text : {"", "no key", "=1", "a b=1", "#!?=2"}) {
    std::vector<Record> group(1 + proto::PayloadSlots(text.size()));
    group[0] = Simple(RecordKind::kOpValues, 50, 0, 0, text.size());
    std::memcpy(static_cast<void*>(group.data() + 1), text.data(), text.size());
    ASSERT_TRUE(proto::RingWriteGroup(ring_, group.data(), static_cast<uint32_t>(group.size()), 1));
  }
  Drain();
  EXPECT_EQ(sorter_.corrupt_records(), 0u);
  EXPECT_TRUE(Take(ChunkKind::kOpValue).empty());
}

TEST_F(RecordSorterTest, OpenRangesEndNowInnerFirst) {
  ring_->open_range[0] = {100, 5, 6, 0, 0};
  ring_->open_range[1] = {200, 7, 6, 1, 0};
  ring_->open_range[2] = {900, 8, 6, 2, 0};  // begins after `now`: torn, left out
  ring_->open_ranges.store(3);
  sorter_.AddOpenSpans(ring_, 500);
  const uint64_t incomplete = 1 | uint64_t{proto::kFlagIncomplete} << 8;
  EXPECT_EQ(Take(ChunkKind::kRange),
            (std::vector<Row>{{500, 300, 7, incomplete | 1u << 16, 6, 0, 0, 0},
                              {500, 400, 5, incomplete, 6, 0, 0, 0}}));
  uint64_t done[proto::kRingKinds] = {};
  done[proto::RingKindIndex(ChunkKind::kRange)] = ~uint64_t{0};
  sorter_.AddOpenSpans(ring_, 500, done);
  EXPECT_TRUE(Take(ChunkKind::kRange).empty());
  ring_->open_ranges.store(1'000'000);  // a lie, or deeper than is kept
  sorter_.AddOpenSpans(ring_, 500);
  EXPECT_LE(Take(ChunkKind::kRange).size(), proto::kMaxOpenRanges);
}

class LargeRingTest : public RecordSorterTest {
 protected:
  LargeRingTest() : RecordSorterTest(1 << 18) {}
};

TEST_F(LargeRingTest, StopsWhenABuilderIsFull) {
  const uint64_t total = proto::kRowsPerChunk * 2 + 100;
  for (uint64_t i = 0; i < total; ++i) {
    ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(i + 1, i * 16, 1)));
  }
  uint64_t position = sorter_.Consume(ring_, 0, head(), nullptr);
  EXPECT_EQ(position, proto::kRowsPerChunk);
  EXPECT_TRUE(sorter_.full());
  EXPECT_EQ(sorter_.Consume(ring_, position, head(), nullptr), position) << "until it is emptied";
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), proto::kRowsPerChunk);
  position = sorter_.Consume(ring_, position, head(), nullptr);
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), proto::kRowsPerChunk);
  position = sorter_.Consume(ring_, position, head(), nullptr);
  EXPECT_EQ(position, head());
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), 100u);
}

struct Lie {
  const char* name;
  Record record;
};

class LyingRing : public RecordSorterTest, public testing::WithParamInterface<Lie> {};

TEST_P(LyingRing, EndsTheRangeAndIsCounted) {
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(1, 16, 1)));
  ASSERT_TRUE(proto::RingWrite(ring_, GetParam().record));
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(2, 16, 1)));
  EXPECT_EQ(Drain(), head());
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), 1u);
  EXPECT_EQ(sorter_.corrupt_records(), 2u);
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(3, 16, 1)));
  Drain();
  EXPECT_EQ(Take(ChunkKind::kHeap).size(), 1u) << "what comes after the range is read again";
}

const Lie kLies[] = {
    {"kind_zero", Simple(RecordKind::kNone, 1, 0, 0, 0)},
    {"unknown_kind", Simple(static_cast<RecordKind>(200), 1, 0, 0, 0)},
    {"payload_too_long", Simple(RecordKind::kText, 1, 0, 0, 4097)},
    {"payload_enormous", Simple(RecordKind::kText, 1, 0, 0, ~uint64_t{0})},
    {"payload_past_the_head", Simple(RecordKind::kString, 1, 0, 2, 33)},
    {"string_id_too_large", Simple(RecordKind::kString, 1, 0, uint64_t{1} << 32, 0)},
    {"stack_bytes_differ", Simple(RecordKind::kStack, 1, 2, 0, 8)},
    {"stack_too_deep", Simple(RecordKind::kStack, 1, 0, 128, 0)},
    {"stack_shares_enormously", Simple(RecordKind::kStack, 1, 0, ~uint64_t{0}, 0)},
};
std::string LieName(const testing::TestParamInfo<Lie>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Lies, LyingRing, testing::ValuesIn(kLies), LieName);

TEST_F(RecordSorterTest, ACapacityThatLiesIsNotFollowed) {
  ASSERT_TRUE(proto::RingWrite(ring_, HeapRecord(1, 16, 1)));
  for (const uint32_t capacity : {0u, 3u, 255u, 1u << 31, ~0u}) {
    ring_->capacity = capacity;
    EXPECT_EQ(sorter_.Consume(ring_, 0, 1, nullptr), 1u);
  }
  ring_->capacity = 256;
  EXPECT_EQ(sorter_.Consume(ring_, 0, 257, nullptr), 257u) << "more than the ring can hold";
  EXPECT_EQ(sorter_.corrupt_records(), 5u + 257);
  EXPECT_EQ(sorter_.rows(), 0u);
}

}  // namespace
}  // namespace gpuprof::codec
