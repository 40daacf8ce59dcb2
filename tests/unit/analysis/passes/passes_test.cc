// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What passes must get right beyond their golden texts: recursion, workers, locks, ends, options.

#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "analysis/passes/context.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/passes/host/thread_usage.h"
#include "proto/results/heap.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"
#include "proto/results/threads.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;
using test::TrackBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const results::Op* Find(const results::Ops& ops, const std::string& name) {
  for (const results::Op& op : ops.ops()) {
    if (op.name() == name) return &op;
  }
  return nullptr;
}

// Trains for ten steps of 100 ms, of which `input` are spent waiting for data.
void Train(TrackBuilder& track, int64_t input) {
  for (int i = 0; i < 10; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Loader(at, at + input);
    track.Op("aten::conv2d", at + input, at + 60 * kMs);
    track.Backward("ConvolutionBackward0", at + 60 * kMs, at + 90 * kMs);
    track.Optimizer(at + 90 * kMs, at + 98 * kMs);
    track.Op("aten::_foreach_add_", at + 90 * kMs, at + 98 * kMs);
  }
}

TEST(Ops, RecursionIsCountedOnceInTotals) {
  ProcessBuilder builder(1);
  builder.Thread(1).Op("aten::to", 0, 100).Op("aten::to", 10, 60).Op("aten::copy_", 20, 30);
  const auto ops = RunPass<results::Ops>("ops", MakeTrace({&builder}));
  const results::Op* to = Find(ops, "aten::to");
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(to->count(), 2u);
  EXPECT_EQ(to->total_ns(), 100);
  EXPECT_EQ(to->self_ns(), 90);
  EXPECT_EQ(ops.self_ns(), 100);
  EXPECT_FALSE(ops.has_step_count());
  EXPECT_FALSE(to->has_step_ratio());
}

TEST(Ops, ProcessesAddUpAndAreSplit) {
  ProcessBuilder a(10), b(20, 10);
  a.Thread(10).Op("aten::mul", 0, 10);
  b.Thread(20).Op("aten::mul", 0, 30).Op("aten::mul", 40, 50);
  const Trace trace = MakeTrace({&a, &b});
  const auto ops = RunPass<results::Ops>("ops", trace);
  ASSERT_EQ(ops.ops_size(), 1);
  EXPECT_EQ(ops.ops(0).count(), 3u);
  EXPECT_EQ(ops.ops(0).process_count(), 2u);
  ASSERT_EQ(ops.ops(0).places_size(), 2);
  EXPECT_EQ(ops.ops(0).places(1).pid(), 20);
  EXPECT_EQ(ops.ops(0).places(1).self_ns(), 40);
  PassOptions options;
  options.by = "process";
  EXPECT_EQ(RunPass<results::Ops>("ops", trace, options).ops_size(), 2);
  options.by = "";
  options.pid = 20;
  EXPECT_EQ(RunPass<results::Ops>("ops", trace, options).ops(0).count(), 2u);
}

// Containers give the same pid on every host.
TEST(Ops, ProcessesOfOnePidOnTwoHostsAreTwo) {
  ProcessBuilder first(1), second(1);
  second.process().host = "other";
  first.Thread(1).Op("mm", 0, 3 * kMs);
  second.Thread(1).Op("mm", 0, 1 * kMs);
  const Trace trace = MakeTrace({&first, &second});
  const auto ops = RunPass<results::Ops>("ops", trace);
  ASSERT_EQ(ops.ops_size(), 1);
  EXPECT_EQ(ops.ops(0).process_count(), 2u);
  EXPECT_EQ(ops.ops(0).thread_count(), 2u);
  ASSERT_EQ(ops.ops(0).places_size(), 2);
  EXPECT_EQ(ops.ops(0).places(0).total_ns(), 3 * kMs);
  PassOptions options;
  options.by = "process";
  EXPECT_EQ(RunPass<results::Ops>("ops", trace, options).ops_size(), 2);
}

TEST(Ops, SharesOfStepTime) {
  ProcessBuilder builder(1);
  Train(builder.Thread(1), 20 * kMs);
  builder.Thread(2).Op("aten::elsewhere", 0, 500 * kMs);
  const auto ops = RunPass<results::Ops>("ops", MakeTrace({&builder}));
  EXPECT_EQ(ops.step_count(), 10u);
  const results::Op* conv = Find(ops, "aten::conv2d");
  EXPECT_DOUBLE_EQ(conv->count_per_step(), 1);
  // The last step ends with its optimizer.
  EXPECT_DOUBLE_EQ(conv->step_ratio(), 400.0 / 998);
  EXPECT_EQ(Find(ops, "aten::elsewhere")->step_self_ns(), 0);
}

TEST(Locks, ConditionsAreNotContention) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  Train(track, 10 * kMs);
  track.Wait(proto::WaitKind::kMutex, 0x100, 0x4000, 98 * kMs, 100 * kMs);
  track.Wait(proto::WaitKind::kCondition, 0x200, 0x4100, 0, 900 * kMs, proto::kFlagTimedOut);
  builder.Thread(2).Wait(proto::WaitKind::kMutex, 0x100, 0x4000, 0, 30 * kMs,
                         proto::kFlagIncomplete);
  const auto locks = RunPass<results::Locks>("locks", MakeTrace({&builder}));
  ASSERT_EQ(locks.locks_size(), 2);
  const results::Lock& mutex = locks.locks(0);
  EXPECT_TRUE(mutex.contended());
  EXPECT_EQ(mutex.count(), 2u);
  EXPECT_EQ(mutex.total_ns(), 32 * kMs);
  EXPECT_EQ(mutex.step_ns(), 2 * kMs);
  EXPECT_EQ(mutex.thread_count(), 2u);
  EXPECT_EQ(mutex.incomplete_count(), 1u);
  EXPECT_EQ(mutex.name(), "0x4000");
  EXPECT_FALSE(locks.locks(1).contended());
  EXPECT_EQ(locks.locks(1).timed_out_count(), 1u);
  EXPECT_EQ(locks.contended_ns(), 32 * kMs);
  EXPECT_EQ(locks.step_contended_ns(), 2 * kMs);
}

// Of three locks the one of the longest waits is told with the thread that held it, not with the
// one that held the most of all.
TEST(Locks, WhenMostWaitedALockIsToldWithWhoHeldIt) {
  ProcessBuilder builder(1);
  const auto wait = [&](int32_t waiter, uint64_t object, int64_t end, int32_t owner) {
    builder.Thread(waiter).Wait(proto::WaitKind::kMutex, object, 0x4000 + object, 0, end, 0, 0,
                                owner);
  };
  builder.Thread(10, "of_many");
  builder.Thread(11, "of_one");
  wait(1, 0x100, 60, 11);
  wait(2, 0x100, 60, 11);
  wait(3, 0x200, 60, 10);
  wait(4, 0x300, 60, 10);
  wait(5, 0x400, 60, 10);
  const auto locks = RunPass<results::Locks>("locks", MakeTrace({&builder}));
  ASSERT_GT(locks.intervals_size(), 0);
  EXPECT_EQ(locks.intervals(0).object(), 0x100u);
  EXPECT_EQ(locks.intervals(0).holder(), "of_one");
}

TEST(Locks, AHolderOfAnotherProcess) {
  ProcessBuilder waiter(1);
  ProcessBuilder holder(2);
  holder.Thread(20, "keeper").Wait(proto::WaitKind::kMutex, 0x500, 0x4000, 0, 10, 0, 0, 0);
  waiter.Thread(1).Wait(proto::WaitKind::kMutex, 0x100, 0x4000, 0, 60, 0, 0, 20);
  waiter.Thread(1).Wait(proto::WaitKind::kMutex, 0x200, 0x4000, 70, 80, 0, 0, 99);
  const auto locks = RunPass<results::Locks>("locks", MakeTrace({&waiter, &holder}));
  ASSERT_EQ(locks.edges_size(), 2);
  EXPECT_EQ(locks.edges(0).holder(), "keeper of pid 2");
  EXPECT_EQ(locks.edges(1).holder(), "a thread of another process");
  ASSERT_EQ(locks.holders_size(), 2);
  EXPECT_EQ(locks.holders(0).name(), "keeper");
  EXPECT_EQ(locks.holders(0).pid(), 2);
}

TEST(Heap, BlocksFreedByAnotherThread) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 2;
  const uint32_t stack = builder.Stack({0x1111, 0x2222});
  builder.Thread(1).Alloc(0, 0x10, 1000, stack).Alloc(5 * kMs, 0x20, 500, stack);
  builder.Thread(2).Free(2 * kMs, 0x10).Alloc(6 * kMs, 0x10, 300);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  ASSERT_EQ(heap.processes_size(), 1);
  EXPECT_EQ(heap.processes(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.processes(0).end_bytes(), 800u);
  EXPECT_EQ(heap.processes(0).short_lived_count(), 1u);
  EXPECT_EQ(heap.processes(0).count_low(), heap.processes(0).count_high());
  ASSERT_EQ(heap.stacks_size(), 2);
  EXPECT_EQ(FramesOf(heap.call_stacks(), heap.stacks(0).call_stack()).size(), 2u);
  EXPECT_EQ(heap.stacks(1).call_stack(), 0u);
  EXPECT_EQ(heap.stacks(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.stacks(1).name(), "(no stack)");
}

TEST(Heap, ALaterCaptureWithoutAnEventKnowsOfNoBlock) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = 2;
  builder.Capture(0, 10 * kMs).Capture(20 * kMs, 30 * kMs);
  builder.Thread(1).Alloc(0, 0x10, 1000);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  ASSERT_EQ(heap.processes_size(), 1);
  EXPECT_EQ(heap.processes(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.processes(0).end_bytes(), 0u) << "it may have been freed in between";
}

TEST(Heap, TellsOfSamplesFromBeforeStacks) {
  ProcessBuilder early(1);
  early.process().heap_mode = 1;
  early.process().heap_period = 512;
  early.Thread(1).AllocEarly(0, 0x10, 1000).Alloc(kMs, 0x20, 500, early.Stack({0x1111}), true);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&early}));
  ASSERT_EQ(heap.meta().notes_size(), 1);
  EXPECT_EQ(heap.meta().notes(0).find("pid 1: 1 of 2 samples have no stack"), 0u)
      << heap.meta().notes(0);
  EXPECT_NE(heap.meta().notes(0).find("--trace heap=exact"), std::string::npos);

  ProcessBuilder late(2);
  late.process().heap_mode = 1;
  late.process().heap_period = 512;
  TrackBuilder& track = late.Thread(1).AllocEarly(0, 0x10, 1000);
  const uint32_t stack = late.Stack({0x1111});
  for (int i = 1; i <= 20; ++i) track.Alloc(i, 0x100 * static_cast<uint64_t>(i), 8, stack, true);
  EXPECT_EQ(RunPass<results::Heap>("heap", MakeTrace({&late})).meta().notes_size(), 0);
}

TEST(Heap, OfAnExactOneThatLostRecordsIsNotSaidToBeExact) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = static_cast<uint32_t>(proto::HeapMode::kExact);
  builder.Thread(1).Alloc(0, 0x10, 64).Alloc(kMs, 0x20, 64);
  proto::Loss* loss = builder.process().health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(5);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  EXPECT_EQ(heap.processes(0).count_low(), 2u);
  EXPECT_EQ(heap.processes(0).count_high(), 7u);
  EXPECT_EQ(heap.processes(0).lost_count(), 5u);
  EXPECT_NE(Render(heap, Format::kText, {}, 0).find("with losses: 5 records"), std::string::npos);
}

TEST(Heap, TensorsBelongToTheInnermostOp) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Op("aten::conv2d", 10, 100).Op("aten::empty", 20, 30).Op("aten::empty", 40, 50);
  track.Tensor(5, 0x1, 100).Tensor(25, 0x2, 200).Tensor(35, 0x3, 400).Tensor(45, 0x4, 800);
  track.Tensor(60, 0x2, -200);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).name(), "cpu");
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 1500u);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 1300u);
  ASSERT_EQ(heap.tensor_ops_size(), 3);
  EXPECT_EQ(heap.tensor_ops(0).name(), "aten::empty");
  EXPECT_EQ(heap.tensor_ops(0).allocated_bytes(), 1000u);
  EXPECT_EQ(heap.tensor_ops(1).name(), "aten::conv2d");
  EXPECT_EQ(heap.tensor_ops(1).allocated_bytes(), 400u);
  EXPECT_EQ(heap.tensor_ops(2).name(), "");
}

TEST(Threads, UseLifeAndCreator) {
  ProcessBuilder builder(1);
  builder.Thread(1, "main")
      .Op("aten::mul", 0, 40 * kMs)
      .Sample(0, 5 * kMs)
      .Sample(100 * kMs, 85 * kMs, 10 * kMs);
  builder.Thread(2, "worker")
      .Event(20 * kMs, proto::ThreadEvent::kStart, 0x5000, 1)
      .Wait(proto::WaitKind::kCondition, 1, 2, 30 * kMs, 50 * kMs)
      .Wait(proto::WaitKind::kMutex, 1, 2, 50 * kMs, 55 * kMs)
      .Event(60 * kMs, proto::ThreadEvent::kExit)
      .Sample(60 * kMs, 10 * kMs);
  builder.Thread(3, "gpuprof-drain").Sample(0, 0).Sample(100 * kMs, kMs).Tool();
  const auto threads = RunPass<results::Threads>("threads", MakeTrace({&builder}));
  ASSERT_EQ(threads.threads_size(), 3);
  const results::Thread& main = threads.threads(0);
  EXPECT_EQ(main.cpu_ns(), 80 * kMs);
  EXPECT_DOUBLE_EQ(main.cpu_ratio(), 0.8);
  EXPECT_EQ(main.runqueue_wait_ns(), 10 * kMs);
  EXPECT_EQ(main.op_ns(), 40 * kMs);
  const results::Thread& worker = threads.threads(1);
  EXPECT_TRUE(worker.start_seen());
  EXPECT_TRUE(worker.exit_seen());
  EXPECT_EQ(worker.life_ns(), 40 * kMs);
  EXPECT_EQ(worker.cpu_ns(), 10 * kMs);
  EXPECT_DOUBLE_EQ(worker.cpu_ratio(), 0.25);
  EXPECT_EQ(worker.created_by(), "main");
  EXPECT_EQ(worker.contended_ns(), 5 * kMs);
  EXPECT_EQ(worker.waiting_ns(), 20 * kMs);
  EXPECT_TRUE(threads.threads(2).tool());
  EXPECT_EQ(threads.processes(0).thread_count(), 2u);
}

// Its first moment is read when its ring was made, which took most of the time that it ran.
TEST(Threads, NoneRunsForLongerThanItLives) {
  ProcessBuilder builder(1);
  builder.Thread(1).Sample(0, 0).Sample(100 * kMs, 10 * kMs);
  builder.Thread(2)
      .Event(20 * kMs, proto::ThreadEvent::kStart, 0x5000, 1)
      .Event(20 * kMs + 113 * test::kUs, proto::ThreadEvent::kExit, 2460 * test::kUs);
  const auto threads = RunPass<results::Threads>("threads", MakeTrace({&builder}));
  ASSERT_EQ(threads.threads_size(), 2);
  EXPECT_EQ(threads.threads(1).cpu_ns(), 2460 * test::kUs);
  EXPECT_EQ(threads.threads(1).life_ns(), 2460 * test::kUs);
  EXPECT_DOUBLE_EQ(threads.threads(1).cpu_ratio(), 1);
}

TEST(ThreadUsage, BetweenSamplesUseIsEven) {
  ProcessBuilder builder(1);
  builder.Thread(1).Sample(0, 0).Sample(100, 100).Sample(200, 120);
  const Process process = builder.Build();
  const Track& track = process.tracks[0];
  const auto usage = UsageWithin(track, LifeOf(track), {50, 150});
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->covered_ns, 100);
  EXPECT_EQ(usage->cpu_ns, 60);
  EXPECT_EQ(UsageWithin(track, LifeOf(track), {150, 900})->covered_ns, 50);
  EXPECT_FALSE(UsageWithin(track, LifeOf(track), {300, 400}));
}

const results::Finding* FindRule(const results::Overview& overview, const std::string& id) {
  for (const results::Finding& finding : overview.findings()) {
    if (finding.id() == id) return &finding;
  }
  return nullptr;
}

TEST(Overview, WorkersOfSuccessiveEpochsAreNotThereAtOnce) {
  ProcessBuilder main(1), a(2, 1), b(3, 1), c(4, 1), d(5, 1);
  Train(main.Thread(1), 40 * kMs);
  for (ProcessBuilder* worker : {&a, &b})
    worker->Thread(worker->process().pid, "pt_data_worker").Op("aten::mul", 0, 400 * kMs);
  for (ProcessBuilder* worker : {&c, &d})
    worker->Thread(worker->process().pid, "pt_data_worker").Op("aten::mul", 400 * kMs, 800 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main, &a, &b, &c, &d}));
  EXPECT_EQ(overview.input().worker_count(), 2u);
}

TEST(Overview, BusyWorkersOnFewProcessors) {
  ProcessBuilder main(1), a(2, 1), b(3, 1);
  Train(main.Thread(1), 40 * kMs);
  main.process().cores = 2;
  for (ProcessBuilder* worker : {&a, &b}) {
    worker->Thread(worker->process().pid, "pt_data_worker")
        .Op("aten::mul", 0, 900 * kMs)
        .Sample(0, 0)
        .Sample(1000 * kMs, 960 * kMs, 30 * kMs);
  }
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main, &a, &b}));
  EXPECT_EQ(overview.input().worker_count(), 2u);
  EXPECT_NEAR(overview.input().worker_busy_ratio(), 0.96, 1e-9);
  EXPECT_EQ(overview.processes(0).role(), results::PROCESS_ROLE_TRAINING);
  EXPECT_EQ(overview.processes(1).role(), results::PROCESS_ROLE_LOADER_WORKER);
  const results::Finding* finding = FindRule(overview, "IN-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_HIGH);
  EXPECT_EQ(finding->gain().high_ns(), 40 * kMs);
  EXPECT_THAT(finding->caveat(), HasSubstr("More workers alone do not help"));
  EXPECT_EQ(overview.findings(0).id(), "IN-002");
}

// Rows of workers that become one.
TEST(Overview, TheMeanOfAWorkersOperationIsThatOfThePassOps) {
  ProcessBuilder main(1), a(2, 1), b(3, 1);
  Train(main.Thread(1), 40 * kMs);
  a.Thread(2, "pt_data_worker").Op("aten::to", 0, 100).Op("aten::to", 10, 60);
  b.Thread(3, "pt_data_worker").Op("aten::to", 0, 60);
  const Trace trace = MakeTrace({&main, &a, &b});
  const results::Ops all = RunPass<results::Ops>("ops", trace);
  const auto overview = RunPass<results::Overview>("overview", trace);
  ASSERT_EQ(overview.worker_ops_size(), 1);
  EXPECT_EQ(overview.worker_ops(0).mean_ns(), 70);
  EXPECT_EQ(overview.worker_ops(0).mean_ns(), Find(all, "aten::to")->mean_ns());
  EXPECT_EQ(overview.worker_ops(0).total_ns(), 160);
}

// Operations of a damaged block are missing, and their time looks like time without an operation.
TEST(Overview, WhatIsMadeOfGapsIsDoubtfulWhereEventsAreMissing) {
  ProcessBuilder main(1);
  Train(main.Thread(1), 40 * kMs);
  Trace trace = MakeTrace({&main});
  ASSERT_EQ(RunPass<results::Overview>("overview", trace).steps().confidence().level(),
            results::LEVEL_HIGH);
  EXPECT_EQ(FindRule(RunPass<results::Overview>("overview", trace), "IN-001")->confidence().level(),
            results::LEVEL_HIGH);
  trace.faults.push_back({trace.processes[0].file, 4096, "a block's checksum is wrong"});
  const auto overview = RunPass<results::Overview>("overview", trace);
  const auto steps = RunPass<results::Steps>("steps", trace);
  for (const results::Confidence& confidence :
       {overview.steps().confidence(), FindRule(overview, "IN-001")->confidence(),
        steps.meta().confidence(), steps.series(0).confidence()}) {
    EXPECT_EQ(confidence.level(), results::LEVEL_LOW);
    EXPECT_THAT(confidence.reason(), HasSubstr("damaged"));
  }
  trace.faults.clear();
  proto::Loss* loss = trace.processes[0].health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(1);
  EXPECT_LT(RunPass<results::Steps>("steps", trace).meta().confidence().level(),
            results::LEVEL_HIGH);
  loss->set_kind(proto::LOSS_SAMPLE_TABLE_FULL);
  EXPECT_EQ(RunPass<results::Steps>("steps", trace).meta().confidence().level(),
            results::LEVEL_HIGH)
      << "no operation is among these";
}

TEST(Overview, WorkersThatWaitForAProcessorAreNotIdle) {
  ProcessBuilder main(1), a(2, 1);
  Train(main.Thread(1), 40 * kMs);
  a.Thread(2).Op("aten::mul", 0, 1).Sample(0, 0).Sample(1000 * kMs, 240 * kMs, 650 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main, &a}));
  const results::Finding* finding = FindRule(overview, "IN-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->name(), HasSubstr("no processors"));
}

TEST(Overview, IdleWorkersPointElsewhere) {
  ProcessBuilder main(1), a(2, 1);
  Train(main.Thread(1), 40 * kMs);
  a.Thread(2).Op("aten::mul", 0, 1).Sample(0, 0).Sample(1000 * kMs, 100 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main, &a}));
  const results::Finding* finding = FindRule(overview, "IN-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->name(), HasSubstr("not busy"));
}

TEST(Overview, ABalancedTrainingGetsNoAdvice) {
  ProcessBuilder main(1);
  Train(main.Thread(1), kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
  EXPECT_EQ(overview.findings_size(), 0) << overview.findings(0).name();
}

TEST(Overview, WaitingForAProcessorNamesWhoTakesIt) {
  for (const bool own : {true, false}) {
    ProcessBuilder main(1), other(2);
    Train(main.Thread(1), kMs);
    main.process().cores = 2;
    main.Thread(1).Sample(0, 0).Sample(1000 * kMs, 700 * kMs, 250 * kMs);
    other.Thread(2).Sample(0, 0).Sample(1000 * kMs, (own ? 980 : 20) * kMs);
    const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main, &other}));
    const results::Finding* finding = FindRule(overview, "TH-001");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->name().find("Other programs") != std::string::npos, !own);
    EXPECT_NEAR(finding->gain().high_ratio(), 0.25, 0.001);
  }
}

TEST(Overview, NoStepsSaysWhatToDo) {
  ProcessBuilder main(1);
  main.Thread(1).Op("aten::mul", 0, 10);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
  EXPECT_FALSE(overview.has_steps());
  EXPECT_THAT(overview.steps_advice(), HasSubstr("--step-marker"));
}

TEST(Overview, LocksThatOthersHoldAreAFindingWithoutStepsToo) {
  for (const bool much : {true, false}) {
    ProcessBuilder main(1);
    main.Thread(1).Wait(proto::WaitKind::kMutex, 0x10, 0x20, 0, much ? 60 * kMs : kMs);
    main.Thread(2).Wait(proto::WaitKind::kCondition, 0x30, 0x40, 0, 100 * kMs);
    const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
    const results::Finding* finding = FindRule(overview, "SY-005");
    ASSERT_EQ(finding != nullptr, much) << "waits for a condition are no contention";
    if (finding != nullptr) {
      EXPECT_EQ(finding->severity(), results::SEVERITY_MEDIUM);
      EXPECT_THAT(finding->evidence(0), HasSubstr("60.0 ms of waiting"));
    }
  }
}

TEST(Overview, LossesAreSaid) {
  ProcessBuilder main(1);
  Train(main.Thread(1), kMs);
  auto* loss = main.process().health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(7);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
  EXPECT_EQ(overview.meta().lost_count(), 7u);
  EXPECT_EQ(overview.meta().losses(0).name(), "ring_full");
  EXPECT_EQ(overview.processes(0).lost_count(), 7u);
  EXPECT_NE(FindRule(overview, "EN-002"), nullptr);
  EXPECT_LT(overview.meta().confidence().level(), results::LEVEL_HIGH);
}

TEST(Notes, WhatCuptiHadWhenAProcessDiedIsToldByEveryPass) {
  ProcessBuilder builder(7);
  Train(builder.Thread(1), kMs);
  builder.process().health.set_activity_missing_ns(730'000'000);
  const auto kernels = RunPass<results::Kernels>("kernels", MakeTrace({&builder}));
  ASSERT_GE(kernels.meta().notes_size(), 1);
  EXPECT_EQ(kernels.meta().notes(0).find("pid 7: cuda: the CUPTI records of the last 730 ms"), 0u)
      << kernels.meta().notes(0);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_NE(Render(overview, Format::kText, {}, 0)
                .find("lost: the CUPTI records of the last 730 ms before a process ended"),
            std::string::npos);
  const auto ops = RunPass<results::Ops>("ops", MakeTrace({&builder}));
  EXPECT_LE(ops.meta().confidence().level(), results::LEVEL_LOW);
}

TEST(Notes, AFlightRecordersWindowIsToldByEveryPass) {
  ProcessBuilder builder(7);
  builder.Thread(7).Alloc(50 * kMs, 0x10, 64).Op("aten::mm", 50 * kMs, 60 * kMs);
  Trace trace = MakeTrace({&builder});
  trace.processes[0].kept_from_ns = 50 * kMs;
  trace.processes[0].recorded_ns = 60 * kMs;
  for (const PassInfo& pass : Passes()) {
    std::unique_ptr<google::protobuf::Message> result;
    ASSERT_FALSE(analysis::Run(pass.name, trace, {}, &result));
    const auto& meta = dynamic_cast<const results::Meta&>(result->GetReflection()->GetMessage(
        *result, result->GetDescriptor()->FindFieldByName("meta")));
    EXPECT_THAT(meta.notes(), Contains(HasSubstr("kept only the newest part, 10.0 ms of 60.0 ms")))
        << pass.name;
    EXPECT_NE(meta.confidence().reason(), "every record is present") << pass.name;
  }
  const auto heap = RunPass<results::Heap>("heap", trace);
  EXPECT_EQ(heap.meta().confidence().level(), results::LEVEL_LOW);
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_EQ(overview.meta().confidence().level(), results::LEVEL_LOW);
}

TEST(Overview, OfAFlightRecordersWindowSaysSo) {
  ProcessBuilder builder(7);
  builder.Thread(7).Alloc(0, 0x10, 64);
  Trace trace = MakeTrace({&builder});
  EXPECT_THAT(RunPass<results::Overview>("overview", trace).steps_advice(),
              HasSubstr("for the whole recording"));
  trace.processes[0].kept_from_ns = 0;
  EXPECT_THAT(RunPass<results::Overview>("overview", trace).steps_advice(),
              HasSubstr("for the part that the flight recorder kept"));
}

TEST(Notes, NameTheReasonsOfStacksThatEndEarly) {
  ProcessBuilder builder(7);
  builder.Thread(7).Alloc(0, 0x10, 64);
  proto::Health& health = builder.process().health;
  health.set_stack_samples(100);
  health.mutable_stack_walks()->set_out_of_bounds(4);
  const auto one = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  EXPECT_THAT(one.meta().notes(),
              ElementsAre("pid 7: stacks: 4 of 100 end early: 4 at a frame outside the stack"));
  health.mutable_stack_walks()->set_no_rule(2);
  const auto many =
      RunPass<results::Heap>("heap", MakeTrace({&builder, &builder, &builder, &builder, &builder}));
  EXPECT_THAT(
      many.meta().notes(),
      ElementsAre("5 processes: stacks: 30 of 500 end early: 10 in code without unwind tables or "
                  "frame pointers, 20 at a frame outside the stack"));
}

TEST(Overview, AnEmptyTraceIsAnAnswerToo) {
  const Trace trace;
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_EQ(overview.meta().confidence().level(), results::LEVEL_NONE);
}

TEST(AllPasses, RunOnAnEmptyProcess) {
  ProcessBuilder builder(1);
  const Trace trace = MakeTrace({&builder});
  for (const PassInfo& info : Passes()) {
    std::unique_ptr<google::protobuf::Message> result;
    EXPECT_FALSE(analysis::Run(info.name, trace, {}, &result)) << info.name;
    EXPECT_NE(result, nullptr);
    for (const Format format : {Format::kText, Format::kJson, Format::kCsv}) {
      // Folded stacks of nothing are no line; what there is to say is beside them.
      if (format == Format::kText && !Remarks(*result, {}).empty()) continue;
      EXPECT_FALSE(Render(*result, format, {}, 80).empty()) << info.name;
    }
  }
}

TEST(Options, WrongOnesNameTheRightOnes) {
  ProcessBuilder builder(7);
  const Trace trace = MakeTrace({&builder});
  std::unique_ptr<google::protobuf::Message> result;
  auto message = [&](const std::string& pass, const PassOptions& options) {
    const Error error = analysis::Run(pass, trace, options, &result);
    EXPECT_EQ(error.kind, ErrorKind::kUsage);
    return error.message;
  };
  EXPECT_THAT(message("nothing", {}), HasSubstr("overview"));
  PassOptions options;
  options.pid = 3;
  EXPECT_THAT(message("ops", options), HasSubstr("7"));
  options = {};
  options.step_marker = "(";
  EXPECT_THAT(message("steps", options), HasSubstr("regular expression"));
  options = {};
  options.by = "colour";
  EXPECT_THAT(message("ops", options), HasSubstr("process"));
}

}  // namespace
}  // namespace gpuprof::analysis
