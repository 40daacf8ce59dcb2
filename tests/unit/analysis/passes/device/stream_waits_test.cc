// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for CUDA events: which stream they were for, and what they held up.

#include <gtest/gtest.h>

#include "analysis/passes/passes.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr uint32_t kEvent = 1, kStreamEvent = 2, kStream = 3, kContext = 4;

// Stream 7 produces from 2 to 10 ms, and something else until 20; stream 13 is busy from 2 to 4 ms.
// What it does next, launched at 2.2 ms, waits for the first: from 4 to 10 ms.
struct Waiting {
  explicit Waiting(uint64_t number = 0, uint64_t awaited = 0) : builder(5) {
    const uint32_t produce = builder.Signature("_Z7producePf", 1, 32);
    const uint32_t other = builder.Signature("other", 1, 32);
    main = &builder.Thread(5, "main");
    one = &builder.Stream(0, 1, 7);
    two = &builder.Stream(0, 1, 13);
    main->Call("cudaLaunchKernel", 0, kMs, 1)
        .Call("cudaEventRecord", 1500 * kUs, 1600 * kUs, 2)
        .Call("cudaLaunchKernel", 1700 * kUs, 1800 * kUs, 3)
        .Call("cudaStreamWaitEvent", 2000 * kUs, 2100 * kUs, 4)
        .Call("cudaLaunchKernel", 2200 * kUs, 2300 * kUs, 5)
        .Call("cudaLaunchKernel", 3000 * kUs, 3100 * kUs, 6);
    one->Kernel(produce, 2 * kMs, 10 * kMs, 1).Kernel(other, 10 * kMs, 20 * kMs, 6);
    one->Recorded(1500 * kUs, 3, 2, number);
    two->Kernel(other, 2 * kMs, 4 * kMs, 3).Kernel(other, 10 * kMs, 12 * kMs, 5);
    two->Sync(kStreamEvent, 2000 * kUs, 2100 * kUs, 4, 3, awaited);
  }
  results::Streams Result() { return RunPass<results::Streams>("streams", MakeTrace({&builder})); }

  ProcessBuilder builder;
  TrackBuilder *main, *one, *two;
};

TEST(StreamWaits, TellWhichStreamAndForHowLong) {
  Waiting trace;
  const results::Streams result = trace.Result();
  ASSERT_EQ(result.waits_size(), 1);
  const results::StreamWait& wait = result.waits(0);
  EXPECT_EQ(wait.pid(), 5);
  EXPECT_EQ(wait.stream(), 13u);
  EXPECT_TRUE(wait.has_for_stream());
  EXPECT_EQ(wait.for_stream(), 7u);
  EXPECT_EQ(wait.count(), 1u);
  EXPECT_EQ(wait.blocking_count(), 1u);
  EXPECT_EQ(wait.held_up_ns(), 6 * kMs);
  EXPECT_EQ(wait.held_up_max_ns(), 6 * kMs);
  EXPECT_EQ(wait.name(), "produce(float*)");
}

// CUPTI may tell of a wait before it tells which device the context is on.
TEST(StreamWaits, WithoutADeviceAreOfTheSameStream) {
  Waiting trace;
  trace.builder.Stream(kNoCudaId, 1, 13).Sync(kStreamEvent, 2000 * kUs, 2100 * kUs, 4, 3);
  trace.builder.Stream(kNoCudaId, 1, 7).Recorded(1550 * kUs, 3, 2);
  const results::Streams result = trace.Result();
  ASSERT_EQ(result.waits_size(), 1);
  EXPECT_EQ(result.waits(0).device(), 0u);
  EXPECT_EQ(result.waits(0).count(), 2u);
  EXPECT_EQ(result.waits(0).for_stream(), 7u);
  EXPECT_EQ(result.waits(0).for_device(), 0u);
}

TEST(StreamWaits, ForWhatIsOverNothingIsHeldUp) {
  Waiting trace;
  trace.main->Call("cudaEventRecord", 25 * kMs, 26 * kMs, 7)
      .Call("cudaStreamWaitEvent", 30 * kMs, 31 * kMs, 8)
      .Call("cudaMemcpyAsync", 31 * kMs, 32 * kMs, 9);
  trace.one->Recorded(25 * kMs, 3, 7);
  trace.two->Sync(kStreamEvent, 30 * kMs, 31 * kMs, 8, 3);
  trace.two->Copy(1, 2, 3, 64, 33 * kMs, 34 * kMs, 9);
  const results::Streams result = trace.Result();
  ASSERT_EQ(result.waits_size(), 1);
  EXPECT_EQ(result.waits(0).count(), 2u);
  EXPECT_EQ(result.waits(0).blocking_count(), 1u);
  EXPECT_EQ(result.waits(0).held_up_ns(), 6 * kMs);
}

// The same work cannot be held up twice.
TEST(StreamWaits, SeveralBeforeTheSameWorkCountOnce) {
  Waiting trace;
  trace.main->Call("cudaStreamWaitEvent", 2110 * kUs, 2120 * kUs, 8);
  trace.two->Sync(kStreamEvent, 2110 * kUs, 2120 * kUs, 8, 3);
  const results::Streams result = trace.Result();
  EXPECT_EQ(result.waits(0).blocking_count(), 2u);
  EXPECT_EQ(result.waits(0).held_up_ns(), 6 * kMs);
}

TEST(StreamWaits, OfSeveralRecordingsTheLastBeforeTheWaitCounts) {
  Waiting trace;
  TrackBuilder& early = trace.builder.Stream(0, 1, 20);
  TrackBuilder& late = trace.builder.Stream(0, 1, 21);
  early.Recorded(kMs, 3);
  late.Recorded(2050 * kUs, 3);
  EXPECT_EQ(trace.Result().waits(0).for_stream(), 7u);
}

TEST(StreamWaits, WhereThereAreNumbersTheyAloneCount) {
  Waiting trace(101, 101);
  trace.builder.Stream(0, 1, 20).Recorded(1900 * kUs, 3, 0, 102);
  EXPECT_EQ(trace.Result().waits(0).for_stream(), 7u);
  Waiting missing(101, 99);
  const results::Streams result = missing.Result();
  ASSERT_EQ(result.waits_size(), 1);
  EXPECT_FALSE(result.waits(0).has_for_stream()) << "its recording is not in the trace";
  EXPECT_EQ(result.waits(0).count(), 1u);
  EXPECT_EQ(result.waits(0).held_up_ns(), 0);
  Waiting twice(101, 101);
  twice.builder.Stream(0, 1, 20).Recorded(1900 * kUs, 4, 0, 101);
  EXPECT_FALSE(twice.Result().waits(0).has_for_stream());
}

TEST(StreamWaits, NothingIsGuessed) {
  Waiting two_contexts;
  two_contexts.builder.Stream(1, 2, 7).Recorded(100 * kUs, 3);
  EXPECT_FALSE(two_contexts.Result().waits(0).has_for_stream()) << "each may have an event 3";
  Waiting two_captures;
  two_captures.builder.Capture(0, 1900 * kUs).Capture(1950 * kUs, 30 * kMs);
  EXPECT_FALSE(two_captures.Result().waits(0).has_for_stream()) << "recorded again in between?";
  Waiting never;
  never.two->Sync(kStreamEvent, 5 * kMs, 5 * kMs, 9, 77);
  const results::Streams result = never.Result();
  ASSERT_EQ(result.waits_size(), 2);
  EXPECT_TRUE(result.waits(0).has_for_stream());
  EXPECT_FALSE(result.waits(1).has_for_stream());
}

TEST(SyncPass, ByTheStreamWaitedFor) {
  Waiting trace;
  trace.two->Sync(kEvent, 5 * kMs, 8 * kMs, 10, 3);
  trace.one->Sync(kStream, 8 * kMs, 9 * kMs, 11).Sync(kEvent, 9 * kMs, 11 * kMs, 12, 88);
  trace.builder.Stream(0, 1, 0).Sync(kContext, 20 * kMs, 21 * kMs, 13);
  PassOptions options;
  options.by = "stream";
  const auto result = RunPass<results::Syncs>("sync", MakeTrace({&trace.builder}), options);
  ASSERT_EQ(result.syncs_size(), 3);
  EXPECT_EQ(result.syncs(0).name(), "stream 7");
  EXPECT_EQ(result.syncs(0).count(), 2u);
  EXPECT_EQ(result.syncs(0).total_ns(), 4 * kMs);
  EXPECT_EQ(result.syncs(0).context(), 1u);
  EXPECT_EQ(result.syncs(1).name(), "unknown stream");
  EXPECT_EQ(result.syncs(1).total_ns(), 2 * kMs);
  EXPECT_FALSE(result.syncs(1).has_stream());
  EXPECT_EQ(result.syncs(2).name(), "all streams");
}

}  // namespace
}  // namespace gpuprof::analysis::test
