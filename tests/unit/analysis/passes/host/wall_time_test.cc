// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using Phases = std::map<results::Phase, int64_t>;  // ms

Phases PhasesOf(ProcessBuilder* builder) {
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({builder}), PassOptions());
  Phases phases;
  double ratio = 0;
  for (const results::PhaseTime& phase : overview.phases()) {
    phases[phase.phase()] = phase.total_ns() / kMs;
    ratio += phase.total_ratio();
  }
  EXPECT_NEAR(ratio, 1.0, 1e-9) << "every nanosecond is in one phase";
  return phases;
}

TEST(WallTime, EachMomentOfALifeHasOnePhase) {
  ProcessBuilder builder(5);
  builder.process().started_ns = -50 * kMs;
  builder.process().ended_ns = 1100 * kMs;
  builder.Capture(0, 1000 * kMs);
  TrackBuilder& thread = builder.Thread(5);
  thread.Call("cudaMalloc", 100 * kMs, 180 * kMs, 1)
      .Call("cuModuleLoadData", 190 * kMs, 200 * kMs, 2)
      .Call("cudaDeviceSynchronize", 200 * kMs, 290 * kMs, 3);  // a wait sets up nothing
  for (int64_t step = 0; step < 5; ++step) {
    const int64_t at = (300 + step * 100) * kMs + (step > 2 ? 50 * kMs : 0);
    thread.User("step " + std::to_string(step), at, at + 100 * kMs);
  }
  thread.Call("cudaMalloc", 420 * kMs, 450 * kMs, 4);  // within a step it is the step's
  EXPECT_EQ(PhasesOf(&builder), (Phases{{results::PHASE_UNRECORDED, 150},
                                        {results::PHASE_START_UP, 100},
                                        {results::PHASE_BEFORE_STEPS, 110},
                                        {results::PHASE_CUDA_SETUP, 80},
                                        {results::PHASE_COMPILE, 10},
                                        {results::PHASE_STEPS, 500},
                                        {results::PHASE_BETWEEN_STEPS, 50},
                                        {results::PHASE_AFTER_STEPS, 150}}));
}

TEST(WallTime, WithoutStepsThereIsTheRun) {
  ProcessBuilder builder(5);
  builder.process().started_ns = 0;
  builder.process().ended_ns = 400 * kMs;
  builder.Capture(0, 400 * kMs);
  builder.Thread(5)
      .Call("cudaFree", 10 * kMs, 110 * kMs, 1)
      .Call("cudaFree", 120 * kMs, 121 * kMs, 2);
  EXPECT_EQ(PhasesOf(&builder), (Phases{{results::PHASE_START_UP, 10},
                                        {results::PHASE_CUDA_SETUP, 100},
                                        {results::PHASE_RUN, 290}}));
}

// CUPTI's names end in the release of the interface. Both of one function are one name.
TEST(WallTime, TheLargestCallHasThePlainNameOfItsFunction) {
  ProcessBuilder builder(5);
  builder.process().started_ns = 0;
  builder.process().ended_ns = 400 * kMs;
  builder.Capture(0, 400 * kMs);
  builder.Thread(5)
      .Call("cudaFree_v3020", 10 * kMs, 60 * kMs, 1)
      .Call("cuMemAlloc_v2", 60 * kMs, 130 * kMs, 2)
      .Call("cudaFree_v5050", 130 * kMs, 180 * kMs, 3)
      .Call("cudaStreamBeginCapture_v10000", 200 * kMs, 201 * kMs, 4)
      .Call("cudaStreamEndCapture_v10000", 210 * kMs, 211 * kMs, 5);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  std::map<results::Phase, std::string> largest;
  for (const results::PhaseTime& phase : overview.phases())
    largest[phase.phase()] = phase.largest();
  EXPECT_EQ(largest[results::PHASE_CUDA_SETUP], "cudaFree") << "100 ms against 70 ms";
  EXPECT_EQ(largest.count(results::PHASE_GRAPH_CAPTURE), 1u);
  builder.Thread(5).Call("cuMemAlloc_v2", 250 * kMs, 300 * kMs, 6);
  const auto driver = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  for (const results::PhaseTime& phase : driver.phases()) {
    if (phase.phase() != results::PHASE_CUDA_SETUP) continue;
    EXPECT_EQ(phase.largest(), "cuMemAlloc_v2") << "a part of the driver's name";
  }
}

TEST(WallTime, NamesAndLongWaitsTellWhatARunDoesBesideSteps) {
  ProcessBuilder builder(5);
  builder.process().started_ns = 0;
  builder.process().ended_ns = 2000 * kMs;
  builder.Capture(0, 2000 * kMs);
  TrackBuilder& thread = builder.Thread(5);
  thread.Wait(proto::WaitKind::kInput, 1, 1, 20 * kMs, 60 * kMs)
      .Wait(proto::WaitKind::kMutex, 1, 1, 70 * kMs, 75 * kMs)  // too short to be told
      .Call("cuStreamBeginCapture_v2", 200 * kMs, 201 * kMs, 1)
      .Call("cuStreamEndCapture", 249 * kMs, 250 * kMs, 2);
  for (int64_t step = 0; step < 10; ++step)
    thread.User("step " + std::to_string(step), (300 + step * 100) * kMs, (400 + step * 100) * kMs);
  thread
      .Op("aten::evaluate_that", 1310 * kMs, 1320 * kMs)  // the framework's own
      .User("tools/evaluate.py(12): load", 1330 * kMs, 1340 * kMs)
      .User("<built-in function eval>", 1350 * kMs, 1360 * kMs)
      .User("tools/run.py(7): run_evaluation", 1400 * kMs, 1500 * kMs)
      .User("Trainer.save_model", 1500 * kMs, 1700 * kMs)
      .Wait(proto::WaitKind::kJoin, 2, 2, 1650 * kMs, 1800 * kMs);
  EXPECT_EQ(PhasesOf(&builder), (Phases{{results::PHASE_START_UP, 160},
                                        {results::PHASE_WAITING, 140},
                                        {results::PHASE_GRAPH_CAPTURE, 50},
                                        {results::PHASE_BEFORE_STEPS, 50},
                                        {results::PHASE_STEPS, 1000},
                                        {results::PHASE_EVALUATION, 100},
                                        {results::PHASE_CHECKPOINT, 200},
                                        {results::PHASE_AFTER_STEPS, 300}}));
}

// Made processes live from `start` to `end`, recorded all the time. They use this much processor
// time.
void Live(ProcessBuilder* builder, int64_t start, int64_t end, int64_t cpu) {
  builder->process().started_ns = start;
  builder->process().ended_ns = end;
  builder->Capture(start, end);
  builder->Thread(builder->process().pid)
      .Sample(start, 0)
      .Sample(end, cpu)
      .Wait(proto::WaitKind::kSleep, 1, 1, start, start + kUs);
}

results::Overview OverviewOf(const Trace& trace, PassOptions options = {}) {
  return RunPass<results::Overview>("overview", trace, options);
}

std::map<results::Phase, int64_t> MsOf(const results::Overview& overview) {
  std::map<results::Phase, int64_t> phases;
  int64_t sum = 0;
  for (const results::PhaseTime& phase : overview.phases()) {
    phases[phase.phase()] = phase.total_ns() / kMs;
    sum += phase.total_ns();
  }
  EXPECT_EQ(sum, overview.run_ns()) << "the parts sum to the run";
  return phases;
}

// A script: something small, a pause, the program that matters, and something small again.
TEST(WallTime, TheRunIsThatOfAllProcesses) {
  ProcessBuilder before(4), main(5), after(6);
  Live(&before, 100 * kMs, 130 * kMs, 20 * kMs);
  Live(&main, 200 * kMs, 1900 * kMs, 900 * kMs);
  Live(&after, 1850 * kMs, 1950 * kMs, 90 * kMs);
  Trace trace = MakeTrace({&before, &main, &after});
  trace.has_manifest = true;
  trace.origin_realtime_ns = 1'000'000 * kMs;
  trace.manifest.set_started_realtime_ns(1'000'000 * kMs);
  trace.manifest.set_ended_realtime_ns(1'002'000 * kMs);
  const results::Overview overview = OverviewOf(trace);
  EXPECT_EQ(overview.run_ns(), 2000 * kMs);
  EXPECT_EQ(overview.main().pid(), 5);
  EXPECT_EQ(overview.main().process_count(), 3u);
  EXPECT_EQ(MsOf(overview), (Phases{{results::PHASE_UNRECORDED, 100 + 70 + 50},
                                    {results::PHASE_OTHERS, 30 + 50},
                                    {results::PHASE_RUN, 1700}}));
  EXPECT_THAT(overview.phases(1).largest(), testing::HasSubstr("(6)")) << "50 ms against 30";
  PassOptions one;
  one.pid = 4;
  EXPECT_EQ(OverviewOf(trace, one).run_ns(), 30 * kMs) << "of one process, its own life";
  EXPECT_EQ(OverviewOf(trace, one).main().pid(), 4);
}

TEST(WallTime, WithoutALauncherTheRunIsFromTheFirstProcessToTheLast) {
  ProcessBuilder server(5), worker(6);
  Live(&server, 0, 1000 * kMs, 100 * kMs);
  Live(&worker, 500 * kMs, 1500 * kMs, 800 * kMs);
  const results::Overview overview = OverviewOf(MakeTrace({&server, &worker}));
  EXPECT_EQ(overview.main().pid(), 6) << "most processor time";
  EXPECT_EQ(MsOf(overview), (Phases{{results::PHASE_OTHERS, 500}, {results::PHASE_RUN, 1000}}));
}

TEST(WallTime, StepsDecideWhichProcessItIs) {
  ProcessBuilder busy(5), trains(6);
  Live(&busy, 0, 2000 * kMs, 1900 * kMs);
  Live(&trains, 0, 1000 * kMs, 100 * kMs);
  for (int64_t step = 0; step < 8; ++step)
    trains.Thread(6).User("step " + std::to_string(step), (100 + step * 100) * kMs,
                          (200 + step * 100) * kMs);
  const results::Overview overview = OverviewOf(MakeTrace({&busy, &trains}));
  EXPECT_EQ(overview.main().pid(), 6);
  EXPECT_EQ(MsOf(overview)[results::PHASE_STEPS], 800);
  EXPECT_EQ(MsOf(overview)[results::PHASE_OTHERS], 1000);
}

TEST(WallTime, OfEqualProcessesTheFirstIsTold) {
  ProcessBuilder one(5), two(6);
  Live(&one, 0, 1000 * kMs, 500 * kMs);
  Live(&two, 0, 1000 * kMs, 500 * kMs);
  EXPECT_EQ(OverviewOf(MakeTrace({&one, &two})).main().pid(), 5);
}

TEST(WallTime, FindingsNameTheProcessOfSeveral) {
  ProcessBuilder first(4), main(5);
  Live(&first, 0, 2000 * kMs, 1000 * kMs);
  Live(&main, 0, 3000 * kMs, 2500 * kMs);
  const results::Overview overview = OverviewOf(MakeTrace({&first, &main}));
  for (const results::Finding& finding : overview.findings()) {
    if (finding.id() != "RU-001") continue;
    EXPECT_THAT(finding.evidence(0), testing::HasSubstr("(5) of process"));
    return;
  }
  FAIL() << "RU-001 is missing";
}

// As the threads of a server that its main thread keeps at a mutex until there is work for them.
// Each thread has a mutex of its own, and works between its waits.
TEST(Findings, ThreadsWithAMutexEachAreParked) {
  for (const bool each : {true, false}) {
    ProcessBuilder main(1);
    main.process().started_ns = 0;
    main.process().ended_ns = 4000 * kMs;
    for (int i = 0; i < 2; ++i) {
      main.Thread(2 + i, "worker " + std::to_string(i))
          .Wait(proto::WaitKind::kMutex, each ? 0x10 + i : 0x10, 0x20, 0, 300 * kMs)
          .Wait(proto::WaitKind::kMutex, each ? 0x10 + i : 0x10, 0x20, 2000 * kMs, 2300 * kMs);
    }
    const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
    const auto& findings = overview.findings();
    EXPECT_EQ(std::none_of(findings.begin(), findings.end(),
                           [](const auto& finding) { return finding.id() == "SY-005"; }),
              each);
  }
}

TEST(Findings, ParkedThreadsAreNoContention) {
  for (const bool parked : {true, false}) {
    ProcessBuilder main(1);
    main.process().started_ns = 0;
    main.process().ended_ns = 1000 * kMs;
    TrackBuilder& thread = main.Thread(2);
    for (int64_t at = 0; at < 1000; at += parked ? 500 : 20)
      thread.Wait(proto::WaitKind::kMutex, 0x10, 0x20, at * kMs, (at + (parked ? 490 : 19)) * kMs);
    const auto overview = RunPass<results::Overview>("overview", MakeTrace({&main}));
    const auto& findings = overview.findings();
    EXPECT_EQ(std::none_of(findings.begin(), findings.end(),
                           [](const auto& finding) { return finding.id() == "SY-005"; }),
              parked);
  }
}

}  // namespace
}  // namespace gpuprof::analysis::test
