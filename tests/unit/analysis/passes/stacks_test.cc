// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Folded stacks: names that would break a line, equal stacks, no stack, and weights that add up to
// what the passes heap and locks say.

#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/analysis.h"
#include "analysis/passes/host/folded_name.h"
#include "analysis/passes/host/stack_weights.h"
#include "proto/results/heap.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/stacks.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;
using test::TrackBuilder;
using testing::HasSubstr;
using testing::Not;

results::Stacks Fold(const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  return RunPass<results::Stacks>("stacks", trace, options);
}

std::string TextOf(const results::Stacks& stacks, const PassOptions& options = {}) {
  return Render(stacks, Format::kText, options, 80);
}

uint64_t SumOf(const results::Stacks& stacks) {
  uint64_t sum = 0;
  for (const results::FoldedStack& stack : stacks.stacks()) sum += stack.value();
  return sum;
}

TEST(FoldedName, HoldsNothingThatEndsAFrameOrALine) {
  EXPECT_EQ(FoldedName("std::map<int, char>::at(int const&) const"),
            "std::map<int, char>::at(int const&) const");
  EXPECT_EQ(FoldedName("a;b"), "a:b");
  EXPECT_EQ(FoldedName("one\ntwo\tthree\x7f!"), "one two three !");
  EXPECT_EQ(FoldedName(""), "?");
  EXPECT_EQ(FoldedName("\n"), "?");
  EXPECT_EQ(FoldedName(" padded "), "padded");
  EXPECT_EQ(FoldedName("größe"), "größe");
  EXPECT_EQ(FoldedName("\xf0\x9f\x94\xa5"), "\xf0\x9f\x94\xa5");
  EXPECT_EQ(FoldedName("\xe0\x80\xaf"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(FoldedName("gr\xf6\xdf"), "gr\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(FoldedName("cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(FoldedName, KeepsANumberAtItsEndFromBeingACount) {
  EXPECT_EQ(FoldedName("worker 12"), "worker_12");
  EXPECT_EQ(FoldedName("worker 1.5"), "worker_1.5");
  EXPECT_EQ(FoldedName("worker12"), "worker12");
  EXPECT_EQ(FoldedName("12"), "12");
  EXPECT_EQ(FoldedName("worker (pid 12)"), "worker (pid 12)");
}

TEST(WholeParts, AddUpAndStayNear) {
  const std::vector<double> parts = {0.4, 0.4, 0, 0.4, 17, 2.5, 1e9 + 0.3};
  const uint64_t total = 1'000'000'021;
  const std::vector<uint64_t> whole = WholeParts(parts, total);
  EXPECT_EQ(std::accumulate(whole.begin(), whole.end(), uint64_t{0}), total);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(whole[i]), parts[i], 1) << i;
  }
  EXPECT_EQ(whole[2], 0u);
  EXPECT_EQ(WholeParts({3, 4}, 7), (std::vector<uint64_t>{3, 4}));
  // A total that the same sum in another order rounded down.
  EXPECT_EQ(WholeParts({1.5, 1}, 2), (std::vector<uint64_t>{2, 0}));
  EXPECT_TRUE(WholeParts({}, 0).empty());
}

TEST(Stacks, EveryMeasureOfTheHeap) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 2;
  const uint32_t load = builder.Stack({0x1111, 0x9999});
  const uint32_t keep = builder.Stack({0x2222, 0x9999});
  builder.Thread(1).Alloc(0, 0x10, 1000, load).Alloc(1 * kMs, 0x20, 200, keep);
  builder.Thread(2).Free(2 * kMs, 0x10).Alloc(6 * kMs, 0x10, 300).Alloc(7 * kMs, 0x30, 30, 1);
  const Trace trace = MakeTrace({&builder});
  EXPECT_EQ(TextOf(Fold(trace)),
            "train.py;0x9999;0x1111 1000\n"
            "train.py;0x9999;0x2222 200\n"
            "train.py;[no stack] 330\n");
  EXPECT_EQ(TextOf(Fold(trace, "heap_allocs")),
            "train.py;0x9999;0x1111 1\n"
            "train.py;0x9999;0x2222 1\n"
            "train.py;[no stack] 2\n");
  EXPECT_EQ(TextOf(Fold(trace, "heap_live")),
            "train.py;0x9999;0x2222 200\n"
            "train.py;[no stack] 330\n");
  EXPECT_EQ(TextOf(Fold(trace, "heap_peak")),
            "train.py;0x9999;0x1111 1000\n"
            "train.py;0x9999;0x2222 200\n");
  EXPECT_FALSE(Fold(trace).estimated());
}

TEST(Stacks, EstimatesAddUpToThoseOfThePassHeap) {
  ProcessBuilder a(10), b(20, 10);
  for (ProcessBuilder* builder : {&a, &b}) {
    builder->process().heap_mode = 1;
    builder->process().heap_period = 4096;
    TrackBuilder& track = builder->Thread(builder->process().pid);
    for (uint64_t i = 0; i < 700; ++i) {
      const uint32_t stack = i % 7 == 0 ? 0 : builder->Stack({0x1000 + i % 90, 0x5000});
      const auto time = static_cast<int64_t>(i) * kMs;
      track.Alloc(time, 0x10000 + i, 1 + i * i % 6007, stack, true);
      if (i % 3 == 0) track.Free(time + 1, 0x10000 + i, true);
    }
  }
  const Trace trace = MakeTrace({&a, &b});
  const auto heap = RunPass<results::Heap>("heap", trace);
  uint64_t allocated = 0, count = 0, end = 0, peak = 0;
  for (const results::HeapProcess& process : heap.processes()) {
    allocated += process.allocated_bytes();
    count += process.count();
    end += process.end_bytes();
    peak += process.peak_bytes();
  }
  const std::pair<const char*, uint64_t> totals[] = {
      {"heap_alloc", allocated}, {"heap_allocs", count}, {"heap_live", end}, {"heap_peak", peak}};
  for (const auto& [by, total] : totals) {
    const results::Stacks stacks = Fold(trace, by);
    EXPECT_GT(total, 0u) << by;
    EXPECT_EQ(stacks.total(), total) << by;
    EXPECT_EQ(SumOf(stacks), total) << by;
    EXPECT_TRUE(stacks.estimated());
    EXPECT_LT(stacks.total_low(), total) << by;
    EXPECT_GT(stacks.total_high(), total) << by;
    EXPECT_LE(stacks.stacks_size(), 2 * 91) << "equal stacks are one line";
  }
}

TEST(Stacks, OfOneProcessTheBoundsAreThoseOfThePassHeap) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 1;
  builder.process().heap_period = 1 << 20;
  TrackBuilder& track = builder.Thread(builder.process().pid);
  // A small block weighs as much as thousands that were not seen.
  for (uint64_t i = 0; i < 3; ++i)
    track.Alloc(static_cast<int64_t>(i) * kMs, 0x10000 + i, 16, builder.Stack({0x1000 + i}), true);
  const Trace trace = MakeTrace({&builder});
  const auto heap = RunPass<results::Heap>("heap", trace);
  const results::Stacks stacks = Fold(trace, "heap_allocs");
  EXPECT_EQ(stacks.total_low(), heap.processes(0).count_low());
  EXPECT_EQ(stacks.total_high(), heap.processes(0).count_high());
}

TEST(Stacks, WaitsAddUpToThoseOfThePassLocks) {
  ProcessBuilder builder(1);
  const uint32_t stack = builder.Stack({0x1111, 0x9999});
  builder.Thread(1)
      .Wait(proto::WaitKind::kMutex, 1, 0x1111, 0, 5, 0, stack)
      .Wait(proto::WaitKind::kRwlockRead, 2, 0x1111, 10, 17, 0, stack)
      .Wait(proto::WaitKind::kCondition, 3, 0x1111, 20, 40, 0, stack)
      .Wait(proto::WaitKind::kJoin, 4, 0x1111, 50, 100)
      .Wait(proto::WaitKind::kMutex, 1, 0x1111, 110, 111);
  const Trace trace = MakeTrace({&builder});
  EXPECT_EQ(TextOf(Fold(trace)),
            "train.py;0x9999;0x1111 12\n"
            "train.py;[no stack] 1\n");
  EXPECT_EQ(TextOf(Fold(trace, "waits")),
            "train.py;0x9999;0x1111 2\n"
            "train.py;[no stack] 1\n");
  EXPECT_EQ(TextOf(Fold(trace, "wait_all")),
            "train.py;0x9999;0x1111;[condition] 20\n"
            "train.py;0x9999;0x1111;[mutex] 5\n"
            "train.py;0x9999;0x1111;[rwlock_read] 7\n"
            "train.py;[no stack] 51\n");
  const auto locks = RunPass<results::Locks>("locks", trace);
  EXPECT_EQ(SumOf(Fold(trace, "wait")), static_cast<uint64_t>(locks.contended_ns()));
  EXPECT_EQ(SumOf(Fold(trace, "waits")), locks.contended_count());
  int64_t all = 0;
  for (const results::LockKind& kind : locks.kinds()) all += kind.total_ns();
  EXPECT_EQ(SumOf(Fold(trace, "wait_all")), static_cast<uint64_t>(all));
}

TEST(Stacks, KernelsByWhatLaunchedThem) {
  ProcessBuilder builder(1);
  const uint32_t stack = builder.Stack({0x7100, 0x7200, 0x1111, 0x9999});
  for (const auto& [path, start] :
       {std::pair{"/usr/lib/libcupti.so.13", 0x7000u},
        std::pair{"/usr/lib/libcudart.so.13", 0x7180u}, std::pair{"/usr/bin/train", 0x1000u}}) {
    proto::Module module;
    module.set_path(path);
    module.set_start(start);
    module.set_end(start + 0x180);
    builder.process().modules.push_back(module);
  }
  const uint32_t add = builder.Signature("_Z3addPf", 64, 256);
  const uint32_t norm = builder.Signature("norm", 1, 32);
  builder.Thread(1).Launch(5, 11, stack).Launch(6, 12, stack);
  builder.Stream(0, 1, 7).Kernel(add, 10, 50, 11).Kernel(norm, 60, 61, 12).Kernel(add, 70, 75, 13);
  PassOptions options;
  options.by = "kernel";
  options.symbolize = false;
  EXPECT_EQ(TextOf(RunPass<results::Stacks>("stacks", MakeTrace({&builder}), options)),
            "train.py;0x9999;0x1111;add(float*) 40\n"
            "train.py;0x9999;0x1111;norm 1\n"
            "train.py;[no stack];add(float*) 5\n");
}

TEST(Stacks, ProcessesOfOneNameAreToldApart) {
  ProcessBuilder a(10), b(20, 10), other(30, 10);
  other.process().argv = {"tool;x"};
  other.process().executable = "/bin/tool;x";
  for (ProcessBuilder* builder : {&a, &b, &other}) {
    builder->Thread(builder->process().pid).Alloc(0, 0x10, 8, builder->Stack({0x1111}));
  }
  const Trace trace = MakeTrace({&a, &b, &other});
  EXPECT_EQ(TextOf(Fold(trace)),
            "tool:x;0x1111 8\n"
            "train.py (pid 10);0x1111 8\n"
            "train.py (pid 20);0x1111 8\n");
  EXPECT_EQ(Fold(trace).stacks(1).pid(), 10);
  PassOptions options;
  options.pid = 20;
  EXPECT_EQ(TextOf(RunPass<results::Stacks>("stacks", trace, options)), "train.py;0x1111 8\n");
  b.process().host = "other";
  EXPECT_THAT(TextOf(Fold(MakeTrace({&a, &b}))), HasSubstr("train.py (other pid 20);0x1111 8\n"));
}

TEST(Stacks, AreCompleteUnlessALimitIsGiven) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 2;
  for (uint64_t i = 1; i <= 50; ++i) {
    builder.Thread(1).Alloc(static_cast<int64_t>(i), i * 64, i, builder.Stack({0x1000 + i}));
  }
  const results::Stacks stacks = Fold(MakeTrace({&builder}), "heap_alloc");
  const std::string all = TextOf(stacks);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 50);
  EXPECT_EQ(Remarks(stacks, {}), "") << "asked for, exact, nothing lost";
  PassOptions options;
  options.limit = 2;
  EXPECT_EQ(TextOf(stacks, options), "train.py;0x1031 49\ntrain.py;0x1032 50\n");
  EXPECT_EQ(Remarks(stacks, options), "--limit leaves out 48 stacks of 1,176 bytes");
}

TEST(Stacks, WhatIsChosenEstimatedOrLostIsSaidBesideThem) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 1;
  builder.process().heap_period = 100;
  auto* loss = builder.process().health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(7);
  builder.Thread(1).Alloc(0, 0x10, 50, 0, true);
  const results::Stacks stacks = Fold(MakeTrace({&builder}));
  const std::string remarks = Remarks(stacks, {});
  EXPECT_THAT(remarks, HasSubstr("heap_alloc"));
  EXPECT_THAT(remarks, HasSubstr("estimated from samples: 127 bytes"));
  EXPECT_THAT(remarks, HasSubstr("7 records (ring_full 7)"));
  EXPECT_THAT(remarks, Not(HasSubstr("\n")));
  EXPECT_EQ(stacks.meta().confidence().level(), results::LEVEL_LOW);
  EXPECT_TRUE(stacks.by_default());
}

TEST(Stacks, CutAtTheRecordersDepthTheySaySo) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 2;
  builder.process().stack_depth = 3;
  builder.Thread(1).Alloc(0, 0x10, 30, builder.Stack({0x1111, 0x2222}));
  builder.Thread(1).Alloc(1, 0x20, 10, builder.Stack({0x1111, 0x2222, 0x3333}));
  const results::Stacks stacks = Fold(MakeTrace({&builder}), "heap_alloc");
  EXPECT_EQ(TextOf(stacks),
            "train.py;0x2222;0x1111 30\n"
            "train.py;[truncated];0x3333;0x2222;0x1111 10\n");
  EXPECT_EQ(stacks.truncated(), 10u);
  EXPECT_THAT(Remarks(stacks, {}), HasSubstr("25.0 % in stacks that are deeper"));
}

TEST(Stacks, NothingToFoldIsNoLine) {
  ProcessBuilder builder(1);
  const results::Stacks stacks = Fold(MakeTrace({&builder}));
  EXPECT_EQ(TextOf(stacks), "");
  EXPECT_EQ(stacks.by(), "wait");
  EXPECT_THAT(Remarks(stacks, {}), HasSubstr("nothing to fold by wait"));
}

TEST(Stacks, AWrongKeyNamesTheRightOnes) {
  ProcessBuilder builder(1);
  const Trace trace = MakeTrace({&builder});
  PassOptions options;
  options.by = "heap_lives";
  std::unique_ptr<google::protobuf::Message> result;
  const Error error = analysis::Run("stacks", trace, options, &result);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  for (const char* key : {"heap_lives", "heap_alloc", "heap_allocs", "heap_live", "heap_peak",
                          "mmap", "wait", "wait_all", "waits"}) {
    EXPECT_THAT(error.message, HasSubstr(key));
  }
  EXPECT_EQ(analysis::Run("steps", trace, options, &result).kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace gpuprof::analysis
