// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Callers, stacks and own times of recorded calls of Python functions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/read/row_details.h"
#include "proto/results/python.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::ElementsAre;

constexpr uint32_t kNone = PythonTable::kNoRow;
constexpr char kF[] = "/a/x.py(1): f";
constexpr char kG[] = "/a/x.py(5): g";

// f calls g twice, and the second g calls f.
Trace Nested() {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .PythonCall(kG, 10, 20, 1)
      .PythonCall(kF, 40, 60, 2)
      .PythonCall(kG, 30, 70, 1)
      .PythonCall(kF, 0, 100, 0)
      .PythonCall(kG, 110, 150, 0, proto::kFlagIncomplete);
  Trace trace = MakeTrace({&builder});
  JoinRowDetails(/*is_imported=*/false, /*is_whole=*/true, &trace.processes[0]);
  return trace;
}

TEST(NestedCalls, HaveCallersAndOwnTimes) {
  const Trace trace = Nested();
  const PythonTable& calls = trace.processes[0].tracks[0].python;
  EXPECT_THAT(calls.parent, ElementsAre(3, 2, 3, kNone, kNone));
  EXPECT_THAT(calls.self_ns, ElementsAre(10, 20, 20, 50, 40));
  StackNode inner, outer;
  const StackTree& stacks = trace.processes[0].stacks;
  ASSERT_TRUE(stacks.Find(calls.stack[1], &inner));
  ASSERT_TRUE(stacks.Find(inner.parent, &outer));
  EXPECT_EQ(inner.pc, NamedFrame(calls.name[1]));
  EXPECT_EQ(outer.pc, NamedFrame(calls.name[2]));
  EXPECT_EQ(stacks.Canonical(outer.parent), stacks.Canonical(calls.stack[3]));
}

TEST(NestedCalls, WithoutTheirCallerHaveNone) {
  ProcessBuilder builder(1);
  // The caller was dropped; the next call of its depth began later.
  builder.Thread(1).PythonCall(kG, 10, 20, 1).PythonCall(kF, 30, 50, 0);
  // Greenlets: the outer call ends before the inner one.
  builder.Thread(2).PythonCall(kF, 0, 20, 0).PythonCall(kG, 10, 30, 0);
  // A file may claim any depth.
  builder.Thread(3).PythonCall(kF, 0, 20, 0xffff);
  Trace trace = MakeTrace({&builder});
  JoinRowDetails(false, true, &trace.processes[0]);
  EXPECT_THAT(trace.processes[0].tracks[0].python.parent, ElementsAre(kNone, kNone));
  EXPECT_THAT(trace.processes[0].tracks[1].python.parent, ElementsAre(kNone, kNone));
  EXPECT_THAT(trace.processes[0].tracks[2].python.parent, ElementsAre(kNone));
}

TEST(NestedCalls, RecursionCountsOnce) {
  const auto result = RunPass<results::Python>("python", Nested());
  ASSERT_EQ(result.calls_size(), 2);
  const results::FunctionCalls& f = result.calls(0);
  EXPECT_EQ(f.name(), "f");
  EXPECT_EQ(f.count(), 2u);
  EXPECT_EQ(f.total_ns(), 100);
  EXPECT_EQ(f.self_ns(), 70);
  EXPECT_EQ(f.mean_ns(), 60);
  EXPECT_EQ(f.max_ns(), 100);
  EXPECT_EQ(f.incomplete_count(), 0u);
  const results::FunctionCalls& g = result.calls(1);
  EXPECT_EQ(g.count(), 3u);
  EXPECT_EQ(g.total_ns(), 90);
  EXPECT_EQ(g.incomplete_count(), 1u);
  EXPECT_EQ(result.call_count(), 5u);
  EXPECT_EQ(result.incomplete_count(), 1u);
}

TEST(GcPauses, SumByGeneration) {
  ProcessBuilder builder(1);
  builder.Thread(1).GcPause(0, 0, 10, 3).GcPause(2, 20, 60, 7);
  builder.Thread(2).GcPause(0, 30, 35, 2);
  const auto result = RunPass<results::Python>("python", MakeTrace({&builder}));
  ASSERT_EQ(result.pauses_size(), 2);
  EXPECT_EQ(result.pauses(0).count(), 2u);
  EXPECT_EQ(result.pauses(0).total_ns(), 15);
  EXPECT_EQ(result.pauses(0).collected_count(), 5u);
  EXPECT_EQ(result.pauses(0).thread_count(), 2u);
  EXPECT_EQ(result.pauses(1).generation(), 2u);
  EXPECT_EQ(result.pauses(1).max_ns(), 40);
  EXPECT_EQ(result.pauses(1).max_start_ns(), 20);
  EXPECT_EQ(result.pause_ns(), 55);
}

}  // namespace
}  // namespace gpuprof::analysis::test
