// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What Open makes of whole files: every table and column, processes on one axis, captures, threads,
// words for what is wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr uint64_t kStart = kWall / 1000;  // of the first process, microseconds

std::shared_ptr<const Trace> MustOpen(const std::string& path, const OpenOptions& options = {}) {
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_FALSE(error) << error.message;
  return trace;
}

// A second of 2 GHz ticks whose tick 0 is at `monotonic_ns`.
void ClockOf(TraceMaker* maker, uint64_t monotonic_ns, uint64_t realtime_ns) {
  maker->Clock(0, monotonic_ns, realtime_ns);
  maker->Clock(2'000'000'000, monotonic_ns + kSecond, realtime_ns + kSecond);
}

class OpenTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(OpenTest, EveryColumnOfEveryKind) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Strings({{2, "aten::mm"}, {0x40000000, "/bin/ls"}});
  maker.Thread(0, 1, 101, "main");
  maker.Row(ChunkKind::kHeap, 1, {2000, proto::HeapOperation(false, 1, 3), 0x7f001230, 64, 5});
  maker.Row(ChunkKind::kHeap, 1, {4000, proto::HeapOperation(true, 4, 1), 0x7f001230, 0, 0});
  maker.Row(ChunkKind::kWait, 1, {6000, 1000, 1 | 2 << 8, 0xabc0, 0x401000, 6, 12});
  maker.Row(ChunkKind::kOp, 1, {8000, 2000, 2, 7 | 3u << 16});
  maker.Row(ChunkKind::kTensor, 1,
            {9000, 0x00ff, 0x5000, static_cast<uint64_t>(-4096), 12345, 1 << 20});
  maker.Row(ChunkKind::kThreadEvent, 1, {2200, 1, 0x402000, 99});
  maker.Row(ChunkKind::kProcessEvent, 1, {9900, 4, 0, 2, 0x40000000});
  maker.End(proto::ExitWay::kUnderscore, 3);
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  ASSERT_THAT(trace->processes, SizeIs(1));
  EXPECT_THAT(trace->faults, IsEmpty());
  // The earliest event is the heap row at tick 2000, a microsecond after the first snapshot.
  EXPECT_EQ(trace->origin_realtime_ns, static_cast<int64_t>(kWall + 1000));
  const Process& process = trace->processes[0];
  EXPECT_EQ(process.pid, 100);
  EXPECT_EQ(process.ppid, 1);
  EXPECT_EQ(process.start_id, kStart);
  EXPECT_THAT(process.argv, ElementsAre("python3", "train.py"));
  EXPECT_TRUE(process.has_end);
  EXPECT_FALSE(process.recovered);
  EXPECT_EQ(process.exit_way, static_cast<uint32_t>(proto::ExitWay::kUnderscore));
  EXPECT_EQ(process.exit_status, 3);
  EXPECT_EQ(process.rows, 7u);
  EXPECT_EQ(process.first_ns, 0);
  EXPECT_EQ(process.last_ns, 3950);
  EXPECT_EQ(process.String(2), "aten::mm");
  EXPECT_EQ(process.String(0), "");
  EXPECT_THAT(process.String(1), HasSubstr("full"));
  EXPECT_THAT(process.String(77), HasSubstr("77"));
  ASSERT_THAT(process.tracks, SizeIs(1));
  const Track& track = process.tracks[0];
  EXPECT_EQ(track.id, 1u);
  EXPECT_EQ(track.tid, 101);
  EXPECT_EQ(track.name, "main");

  EXPECT_THAT(track.heap.time_ns, ElementsAre(0, 1000));
  EXPECT_THAT(track.heap.operation,
              ElementsAre(proto::HeapOperation(false, 1, 3), proto::HeapOperation(true, 4, 1)));
  EXPECT_THAT(track.heap.address, ElementsAre(0x7f001230, 0x7f001230));
  EXPECT_THAT(track.heap.size, ElementsAre(64, 0));
  EXPECT_THAT(track.heap.stack, ElementsAre(5, 0));
  EXPECT_THAT(track.heap.capture, ElementsAre(1, 1));
  EXPECT_THAT(track.wait.end_ns, ElementsAre(2000));
  EXPECT_THAT(track.wait.duration_ns, ElementsAre(500));
  EXPECT_THAT(track.wait.operation, ElementsAre(1 | 2 << 8));
  EXPECT_THAT(track.wait.object, ElementsAre(0xabc0));
  EXPECT_THAT(track.wait.caller, ElementsAre(0x401000));
  EXPECT_THAT(track.wait.stack, ElementsAre(6));
  EXPECT_THAT(track.wait.owner, ElementsAre(12));
  EXPECT_THAT(track.op.end_ns, ElementsAre(3000));
  EXPECT_THAT(track.op.duration_ns, ElementsAre(1000));
  EXPECT_THAT(track.op.name, ElementsAre(2));
  EXPECT_THAT(track.op.operation, ElementsAre(7 | 3u << 16));
  EXPECT_THAT(track.tensor.time_ns, ElementsAre(3500));
  EXPECT_THAT(track.tensor.device, ElementsAre(0x00ff));
  EXPECT_THAT(track.tensor.address, ElementsAre(0x5000));
  EXPECT_THAT(track.tensor.bytes, ElementsAre(-4096));
  EXPECT_THAT(track.tensor.total_allocated, ElementsAre(12345));
  EXPECT_THAT(track.tensor.total_reserved, ElementsAre(1 << 20));
  EXPECT_THAT(track.tensor.capture, ElementsAre(1));
  EXPECT_THAT(track.thread_event.time_ns, ElementsAre(100));
  EXPECT_THAT(track.thread_event.event, ElementsAre(1));
  EXPECT_THAT(track.thread_event.a, ElementsAre(0x402000));
  EXPECT_THAT(track.thread_event.b, ElementsAre(99));
  EXPECT_THAT(track.process_event.time_ns, ElementsAre(3950));
  EXPECT_THAT(track.process_event.event, ElementsAre(4));
  EXPECT_THAT(track.process_event.b, ElementsAre(2));
  EXPECT_THAT(track.process_event.text, ElementsAre(0x40000000));
}

// As they are written where a signal handler comes between an unmapping's time and its record, and
// where CUPTI hands over a later buffer first.
TEST_F(OpenTest, RowsThatStandInAnyOrderAreSortedByTime) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Row(ChunkKind::kMapping, 1, {6000, 1, 0xb000, 4096, 0});
  maker.Row(ChunkKind::kMapping, 1, {4000, 3, 0xa000, 8192, 0});
  maker.Flush();
  maker.Row(ChunkKind::kMapping, 1, {4000, 1, 0xc000, 4096, 0});
  maker.Row(ChunkKind::kHeap, 1, {9000, 2, 0x20, 16, 0});
  maker.Row(ChunkKind::kHeap, 1, {8000, 1, 0x10, 0, 0});
  maker.Row(ChunkKind::kDeviceMemory, 2, {kWall + 900, 1, 0x200, 64, 5, 0, 0, 0});
  maker.Flush();
  maker.Row(ChunkKind::kDeviceMemory, 2, {kWall + 800, 1, 0x100, 32, 4, 0, 0, 0});
  maker.Row(ChunkKind::kCudaEvent, 2, {kWall + 700, 3, 1, 2});
  maker.Row(ChunkKind::kCudaEvent, 2, {kWall + 600, 2, 1, 1});
  maker.End();
  maker.Close();
  const auto trace = MustOpen(directory_.path());
  ASSERT_THAT(trace->processes, SizeIs(1));
  const std::vector<Track>& tracks = trace->processes[0].tracks;
  ASSERT_THAT(tracks, SizeIs(2));
  EXPECT_THAT(tracks[0].mapping.address, ElementsAre(0xa000u, 0xc000u, 0xb000u));
  EXPECT_THAT(tracks[0].mapping.size, ElementsAre(8192u, 4096u, 4096u));
  EXPECT_THAT(tracks[0].heap.address, ElementsAre(0x10u, 0x20u));
  EXPECT_THAT(tracks[1].device_memory.address, ElementsAre(0x100u, 0x200u));
  EXPECT_THAT(tracks[1].cuda_event.correlation, ElementsAre(2u, 3u));
}

TEST_F(OpenTest, ProcessesAreOrderedAndOnOneAxis) {
  // Written in an order that is neither of names nor of starts; clocks count from different ticks.
  TraceMaker child(directory_.path(), 50, kStart);  // the same microsecond as its parent
  child.Meta(child.Identity(200));
  ClockOf(&child, 11 * kSecond, kWall + kSecond);
  child.Op(1, 2000, 1000, 2);
  child.End();
  child.Close();
  TraceMaker later(directory_.path(), 20, kStart + 5'000'000);
  later.Meta(later.Identity(200));
  ClockOf(&later, 15 * kSecond, kWall + 5 * kSecond);
  later.Op(1, 4000, 1000, 2);
  later.End();
  later.Close();
  TraceMaker parent(directory_.path(), 200, kStart);
  parent.Meta(parent.Identity(1));
  ClockOf(&parent, 10 * kSecond, kWall);
  parent.Op(1, 3000, 1000, 2);
  parent.End();
  parent.Close();

  const auto trace = MustOpen(directory_.path());
  ASSERT_THAT(trace->processes, SizeIs(3));
  EXPECT_EQ(trace->processes[0].pid, 200);
  EXPECT_EQ(trace->processes[1].pid, 50);
  EXPECT_EQ(trace->processes[2].pid, 20);
  // Zero is the start of the parent's op, tick 2000 of its clock.
  EXPECT_THAT(trace->processes[0].tracks[0].op.end_ns, ElementsAre(500));
  EXPECT_THAT(trace->processes[1].tracks[0].op.end_ns, ElementsAre(kSecond));
  EXPECT_THAT(trace->processes[2].tracks[0].op.end_ns, ElementsAre(5 * kSecond + 1000));
}

TEST_F(OpenTest, WallClockSetBetweenStartsMovesNoChild) {
  TraceMaker parent(directory_.path(), 100, kStart);
  parent.Meta(parent.Identity(1));
  ClockOf(&parent, 10 * kSecond, kWall);
  parent.Op(1, 2000, 2000, 2);
  parent.End();
  parent.Close();
  // A second later by the steady clock, an hour and a second later by the wall clock.
  TraceMaker child(directory_.path(), 101, kStart + 3601'000'000);
  child.Meta(child.Identity(100));
  ClockOf(&child, 11 * kSecond, kWall + 3601 * kSecond);
  child.Op(1, 2000, 1000, 2);
  child.End();
  child.Close();

  const auto trace = MustOpen(directory_.path());
  ASSERT_THAT(trace->processes, SizeIs(2));
  EXPECT_THAT(trace->processes[1].tracks[0].op.end_ns, ElementsAre(kSecond + 1000));
}

TEST_F(OpenTest, CapturesTakeTheirEndFromEventsWhenTheStopIsMissing) {
  TraceMaker maker(directory_.path(), 100, kStart);
  proto::Meta meta = maker.Identity(1);
  const auto mark = [&](uint32_t capture, bool start, uint64_t ticks, const char* trigger) {
    proto::CaptureMark* added = meta.add_capture_mark();
    added->set_capture(capture);
    added->set_start(start);
    added->set_ticks(ticks);
    added->set_trigger(trigger);
  };
  mark(1, true, 1000, "now");
  mark(1, false, 5000, "signal");
  mark(2, true, 9000, "control");
  maker.Meta(meta);
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Op(1, 3000, 500, 2);
  maker.Row(ChunkKind::kTensor, 1, {3500, 0x0100, 0x5000, 64, 0, 0});
  maker.Flush(1);
  maker.Op(1, 11000, 500, 2);
  maker.Row(ChunkKind::kTensor, 1, {11500, 0x0100, 0x5000, 64, 0, 0});
  maker.Row(ChunkKind::kHeap, 1, {12000, 2, 0x10, 8, 0});
  maker.Flush(2);
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  EXPECT_THAT(trace->faults, IsEmpty()) << "a missing end marker is no fault";
  const Process& process = trace->processes[0];
  EXPECT_FALSE(process.has_end);
  ASSERT_THAT(process.captures, SizeIs(2));
  EXPECT_EQ(process.captures[0].start_ns, 0);
  EXPECT_EQ(process.captures[0].end_ns, 2000);
  EXPECT_TRUE(process.captures[0].has_stop);
  EXPECT_EQ(process.captures[0].start_trigger, "now");
  EXPECT_EQ(process.captures[0].stop_trigger, "signal");
  EXPECT_EQ(process.captures[1].number, 2u);
  EXPECT_EQ(process.captures[1].start_ns, 4000);
  EXPECT_EQ(process.captures[1].end_ns, 5500);
  EXPECT_FALSE(process.captures[1].has_stop);
  EXPECT_THAT(process.tracks[0].heap.capture, ElementsAre(2));
  EXPECT_THAT(process.tracks[0].tensor.capture, ElementsAre(1, 2));
}

TEST_F(OpenTest, ThreadsAddUpOverTheirTables) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Thread(2000, 1, 101, "python3", 500);
  maker.Thread(4000, 0, 150, "gpuprof-drain");  // without events
  maker.Thread(6000, 1, 101, "trainer", 900, 7);
  maker.Op(1, 3000, 1000, 2);
  maker.Dropped(ChunkKind::kOp, 1, 4);
  // A thread that no table names named itself: "worker" and zeros.
  uint64_t name[2] = {};
  std::memcpy(name, "worker", 6);
  maker.Row(ChunkKind::kThreadEvent, 2,
            {3000, static_cast<uint64_t>(proto::ThreadEvent::kName), name[0], name[1]});
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  const Process& process = trace->processes[0];
  ASSERT_THAT(process.tracks, SizeIs(3));
  EXPECT_EQ(process.tracks[0].name, "trainer");
  EXPECT_EQ(process.tracks[0].dropped, 7u) << "the table's count includes the blocks' four";
  ASSERT_THAT(process.tracks[0].samples, SizeIs(2));
  EXPECT_EQ(process.tracks[0].samples[1].cpu_ns, 900u);
  EXPECT_EQ(process.tracks[0].samples[1].time_ns - process.tracks[0].samples[0].time_ns, 2000);
  EXPECT_EQ(process.tracks[1].name, "worker");
  EXPECT_EQ(process.tracks[2].id, 0u) << "threads without events come last";
  EXPECT_EQ(process.tracks[2].tid, 150);
  EXPECT_EQ(process.dropped, 7u);
}

TEST_F(OpenTest, AThreadSeenBeforeItsFirstEventIsOneThread) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Thread(1000, 0, 101, "main", 300);
  maker.Thread(1000, 0, 102, "idle", 10);
  maker.Thread(1000, 0, 103, "reused", 20);
  maker.Thread(5000, 7, 101, "main", 500);
  maker.Thread(5000, 0, 102, "idle", 11);
  maker.Thread(5000, 3, 103, "reused", 30);
  maker.Thread(6000, 4, 103, "reused", 5);
  maker.Op(3, 3000, 1000, 2);
  maker.Op(4, 3000, 1000, 2);
  maker.Op(7, 3000, 1000, 2);
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  std::map<std::pair<int32_t, uint32_t>, const Track*> tracks;
  for (const Track& track : trace->processes[0].tracks) tracks[{track.tid, track.id}] = &track;
  ASSERT_THAT(tracks, SizeIs(5));
  const Track& main = *tracks.at({101, 7u});
  EXPECT_EQ(main.op.rows(), 1u);
  ASSERT_THAT(main.samples, SizeIs(2));
  EXPECT_EQ(main.samples[0].cpu_ns, 300u) << "the sighting without a track comes first";
  EXPECT_EQ(main.samples[1].cpu_ns, 500u);
  EXPECT_THAT(tracks.at({102, 0u})->samples, SizeIs(2));
  EXPECT_THAT(tracks.at({103, 0u})->samples, SizeIs(1)) << "whose it was cannot be told";
  EXPECT_THAT(tracks.at({103, 3u})->samples, SizeIs(1));
}

TEST_F(OpenTest, ModulesAndLaterSettingsReplaceEarlierOnes) {
  TraceMaker maker(directory_.path(), 100, kStart);
  proto::Meta first = maker.Identity(1);
  first.add_framework("torch 2.13.0");
  first.set_heap_period(1000);
  maker.Meta(first);
  proto::Meta second;
  second.set_heap_period(2000);
  second.add_framework("torch 2.13.0");
  second.add_argv("other");
  maker.Meta(second);
  ClockOf(&maker, 10 * kSecond, kWall);
  proto::Modules modules;
  proto::Module* module = modules.add_module();
  module->set_path("/lib/libc.so.6");
  module->set_start(0x1000);
  module->set_end(0x2000);
  maker.Table(ChunkKind::kModules, 10, modules, 1);
  module->set_last_seen(77);
  maker.Table(ChunkKind::kModules, 10, modules, 1);
  proto::Health health;
  health.set_records(5);
  maker.Table(ChunkKind::kHealth, 14, health, 1);
  health.set_records(9);
  maker.Table(ChunkKind::kHealth, 14, health, 1);
  maker.Op(1, 3000, 1000, 2);
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  const Process& process = trace->processes[0];
  EXPECT_EQ(process.heap_period, 2000u);
  EXPECT_THAT(process.frameworks, ElementsAre("torch 2.13.0"));
  EXPECT_THAT(process.argv, ElementsAre("other"));
  ASSERT_THAT(process.modules, SizeIs(1));
  EXPECT_EQ(process.modules[0].last_seen(), 77u);
  EXPECT_EQ(process.health.records(), 9u);
}

// Recovery writes what the rings hold: no host, no modules.
TEST_F(OpenTest, AForkedChildThatNotedNoModulesHasItsParents) {
  proto::Bundle manifest;
  manifest.set_host("node7");
  WriteManifest(directory_.path(), manifest);
  TraceMaker parent(directory_.path(), 200, kStart);
  proto::Meta parents = parent.Identity(1);
  parents.set_host("node7");
  parents.set_executable("/bin/one");
  parent.Meta(parents);
  proto::Modules modules;
  proto::Module* module = modules.add_module();
  module->set_path("/lib/a.so");
  module->set_start(0x1000);
  module->set_end(0x2000);
  parent.Table(ChunkKind::kModules, 10, modules, 1);
  parent.End();
  parent.Close();
  for (const bool forked : {true, false}) {
    for (const char* executable : {"/bin/one", "/bin/other"}) {
      const int32_t pid = 300 + (forked ? 10 : 0) + (executable[5] == 'o' && executable[6] == 'n');
      TraceMaker child(directory_.path(), pid, kStart + 10);
      proto::Meta meta;
      meta.set_pid(pid);
      meta.set_ppid(200);
      meta.set_start_id(kStart + 10);
      meta.set_executable(executable);
      meta.set_forked(forked);
      child.Meta(meta);
      child.End();
      child.Close();
    }
  }
  const auto trace = MustOpen(directory_.path());
  ASSERT_THAT(trace->processes, SizeIs(5));
  for (size_t i = 1; i < 5; ++i) {
    const Process& process = trace->processes[i];
    EXPECT_EQ(process.host, "node7");
    const bool inherits = process.pid == 311;
    ASSERT_THAT(process.modules, SizeIs(inherits ? 1 : 0)) << process.pid;
    EXPECT_THAT(process.argv, SizeIs(inherits ? 2 : 0)) << process.pid;
    if (inherits) {
      EXPECT_EQ(process.modules[0].path(), "/lib/a.so");
    }
  }
}

TEST_F(OpenTest, StacksKeepTheirParents) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  proto::Stacks stacks;
  stacks.set_first_id(2);
  for (const auto& [back, delta] :
       std::vector<std::pair<uint64_t, int64_t>>{{0, 0x1000}, {1, 16}, {2, -8}}) {
    stacks.add_parent_back(back);
    stacks.add_pc_delta(delta);
  }
  maker.Table(ChunkKind::kStacks, 9, stacks, 3);
  maker.Row(ChunkKind::kHeap, 1, {1000, 2, 0x10, 8, 4});
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  const Process& process = trace->processes[0];
  const auto node_of = [&process](uint32_t id) {
    StackNode node = {~0u, 0};
    EXPECT_TRUE(process.stacks.Find(id, &node)) << id;
    return node;
  };
  EXPECT_EQ(node_of(2).parent, 0u);
  EXPECT_EQ(node_of(2).pc, 0x1000u);
  EXPECT_EQ(node_of(3).parent, 2u);
  EXPECT_EQ(node_of(3).pc, 0x1010u);
  EXPECT_EQ(node_of(4).parent, 2u);
  EXPECT_EQ(node_of(4).pc, 0x1008u);
}

TEST_F(OpenTest, UnknownKindsAreSkippedAndCounted) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Table(static_cast<ChunkKind>(99), 13, maker.Identity(1), 12);
  maker.Op(1, 3000, 1000, 2);
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  EXPECT_THAT(trace->faults, IsEmpty());
  EXPECT_EQ(trace->processes[0].unknown_blocks, 1u);
  EXPECT_EQ(trace->processes[0].unknown_rows, 12u);
  EXPECT_EQ(trace->processes[0].rows, 1u);
  EXPECT_THAT(trace->processes[0].tracks[0].op.end_ns, SizeIs(1));
}

TEST_F(OpenTest, HeadersOnlyGivesCountsWithoutRows) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  for (uint64_t i = 1; i <= 5; ++i) maker.Op(1, i * 2000, 100, 2);
  maker.End();
  maker.Close();

  OpenOptions options;
  options.headers_only = true;
  const auto trace = MustOpen(directory_.path(), options);
  EXPECT_FALSE(trace->tables.Has(proto::ChunkKind::kOp));
  const Process& process = trace->processes[0];
  EXPECT_EQ(process.rows, 5u);
  EXPECT_THAT(process.tracks[0].op.end_ns, IsEmpty());
  EXPECT_EQ(process.last_ns - process.first_ns, 4050);
  const auto op = std::find_if(
      process.kinds.begin(), process.kinds.end(),
      [](const KindTotals& kind) { return kind.kind == static_cast<uint16_t>(ChunkKind::kOp); });
  ASSERT_NE(op, process.kinds.end());
  EXPECT_EQ(op->rows, 5u);
  EXPECT_EQ(op->blocks, 1u);
}

TEST_F(OpenTest, OneFileOfABundle) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Op(1, 2000, 100, 2);
  maker.End();
  maker.Close();
  TraceMaker other(directory_.path(), 101, kStart);
  other.End();
  other.Close();
  proto::Bundle manifest;
  manifest.set_host("testhost");
  WriteManifest(directory_.path(), manifest);

  const auto trace = MustOpen(maker.path());
  EXPECT_THAT(trace->processes, SizeIs(1));
  EXPECT_TRUE(trace->has_manifest);
  EXPECT_EQ(trace->manifest.host(), "testhost");
  EXPECT_THAT(MustOpen(directory_.path())->processes, SizeIs(2));
}

TEST_F(OpenTest, RoundedTimesNeverLieBeforeTheOrigin) {
  TraceMaker maker(directory_.path(), 100, kStart, proto::ClockKind::kTsc, 5);
  maker.Meta(maker.Identity(1));
  ClockOf(&maker, 10 * kSecond, kWall);
  maker.Op(1, 2015, 100, 2);  // ticks 1915 and 2015 become 1888 and 1984
  maker.Op(1, 2100, 10, 2);
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  const Process& process = trace->processes[0];
  EXPECT_EQ(trace->origin_realtime_ns, static_cast<int64_t>(kWall + 944));
  EXPECT_EQ(process.first_ns, 0);
  EXPECT_THAT(process.tracks[0].op.end_ns, ElementsAre(48, 96));
  EXPECT_THAT(process.tracks[0].op.duration_ns, ElementsAre(48, 0));
}

TEST_F(OpenTest, WithoutClocksTimesHoldWithinTheProcess) {
  TraceMaker maker(directory_.path(), 100, kStart);
  maker.Meta(maker.Identity(1));
  maker.Op(1, 4000, 2000, 2);
  maker.Op(1, 8000, 2000, 2);
  maker.End();
  maker.Close();

  const auto trace = MustOpen(directory_.path());
  EXPECT_THAT(trace->processes[0].tracks[0].op.end_ns, ElementsAre(1000, 3000));
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("clock"));
}

}  // namespace
}  // namespace gpuprof::analysis
