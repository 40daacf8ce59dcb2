// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Functions that streams ran on the host, in the passes `streams` and `idle`: how many, how long,
// and for how long the device had no work meanwhile.

#include <gtest/gtest.h>

#include <string>

#include "analysis/render/text.h"
#include "proto/results/idle.pb.h"
#include "proto/results/streams.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// The host launches all at once. The stream runs a function from 10 to 16 ms, the kernel behind it
// begins at 17 ms. Another stream runs functions at 4 ms, beside a kernel, and at 15 ms.
struct Running {
  Running() : builder(5) {
    const uint32_t kernel = builder.Signature("_Z7producePf", 1, 32);
    main = &builder.Thread(5, "main");
    main->Call("cudaLaunchKernel", 0, kMs / 10, 1)
        .Call("cudaLaunchHostFunc", kMs / 10, kMs / 5, 2)
        .Call("cudaLaunchKernel", kMs / 5, kMs / 2, 3);
    one = &builder.Stream(0, 1, 7);
    two = &builder.Stream(0, 1, 13);
    one->Kernel(kernel, 2 * kMs, 10 * kMs, 1).Kernel(kernel, 17 * kMs, 20 * kMs, 3);
    one->HostFunction(9, 10 * kMs, 16 * kMs, 2);
    two->HostFunction(9, 4 * kMs, 5 * kMs, 4, 21, 2).HostFunction(9, 15 * kMs, 18 * kMs, 5);
  }
  results::Streams Streams() { return RunPass<results::Streams>("streams", MakeTrace({&builder})); }
  results::Idle Idle() { return RunPass<results::Idle>("idle", MakeTrace({&builder})); }

  ProcessBuilder builder;
  TrackBuilder *main, *one, *two;
};

TEST(HostFunctions, HaveTheirSumsForEachStream) {
  Running trace;
  const results::Streams result = trace.Streams();
  ASSERT_EQ(result.host_functions_size(), 2);
  const results::HostFunctions& one = result.host_functions(0);
  EXPECT_EQ(one.pid(), 5);
  EXPECT_EQ(one.device(), 0u);
  EXPECT_EQ(one.context(), 1u);
  EXPECT_EQ(one.stream(), 7u);
  EXPECT_EQ(one.count(), 1u);
  EXPECT_EQ(one.graph_node_count(), 0u);
  EXPECT_EQ(one.total_ns(), 6 * kMs);
  EXPECT_EQ(one.idle_ns(), 6 * kMs);
  const results::HostFunctions& two = result.host_functions(1);
  EXPECT_EQ(two.stream(), 13u);
  EXPECT_EQ(two.count(), 2u);
  EXPECT_EQ(two.graph_node_count(), 1u);
  EXPECT_EQ(two.total_ns(), 4 * kMs);
  EXPECT_EQ(two.mean_ns(), 2 * kMs);
  EXPECT_EQ(two.max_ns(), 3 * kMs);
  EXPECT_EQ(two.idle_ns(), 2 * kMs)
      << "from 15 to 17 ms; beside kernels they cost the device nothing";
}

TEST(HostFunctions, ArePartOfWhatTheDeviceWaitedFor) {
  Running trace;
  const results::Streams result = trace.Streams();
  ASSERT_EQ(result.devices_size(), 1);
  EXPECT_EQ(result.devices(0).idle_dependency_ns(), 7 * kMs);
  EXPECT_EQ(result.devices(0).idle_host_function_ns(), 7 * kMs);
  const std::string text = StreamsText(result, {});
  EXPECT_NE(text.find("Functions that streams ran on the host"), std::string::npos) << text;
  EXPECT_NE(text.find("in host functions"), std::string::npos) << text;
}

// Whoever launches late would have been late without the function, too.
TEST(HostFunctions, AreNoReasonIfTheLaunchWasLate) {
  Running trace;
  trace.main->Call("cudaLaunchKernel", 30 * kMs, 31 * kMs, 6);
  trace.one->Kernel(trace.builder.Signature("late", 1, 32), 32 * kMs, 33 * kMs, 6);
  trace.one->HostFunction(9, 20 * kMs, 29 * kMs, 7);
  const results::Streams result = trace.Streams();
  EXPECT_EQ(result.devices(0).idle_host_ns(), 10 * kMs);
  EXPECT_EQ(result.devices(0).idle_host_function_ns(), 7 * kMs);
  EXPECT_EQ(result.host_functions(0).idle_ns(), 15 * kMs);
}

TEST(HostFunctions, OfADeviceWithoutWorkHaveNoIdleTime) {
  Running trace;
  trace.builder.Stream(1, 2, 21).HostFunction(9, 10 * kMs, 30 * kMs, 8);
  const results::Streams result = trace.Streams();
  ASSERT_EQ(result.host_functions_size(), 3);
  EXPECT_EQ(result.host_functions(0).device(), 1u);
  EXPECT_FALSE(result.host_functions(0).has_idle_ns());
  EXPECT_NE(StreamsText(result, {}).find(" -"), std::string::npos);
}

TEST(HostFunctions, AreToldOfEachGap) {
  Running trace;
  const results::Idle result = trace.Idle();
  ASSERT_EQ(result.gaps_size(), 1);
  EXPECT_EQ(result.gaps(0).duration_ns(), 7 * kMs);
  EXPECT_EQ(result.gaps(0).host_function_ns(), 7 * kMs);
  EXPECT_EQ(result.gaps(0).cause(), results::TIME_CATEGORY_DEPENDENCY);
  EXPECT_NE(IdleText(result, {}).find("in host functions"), std::string::npos);
}

TEST(HostFunctions, ThatNobodyRanAreNoColumn) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("a", 1, 32);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, kMs).Kernel(kernel, 2 * kMs, 3 * kMs);
  const results::Streams streams = RunPass<results::Streams>("streams", MakeTrace({&builder}));
  EXPECT_EQ(streams.host_functions_size(), 0);
  EXPECT_EQ(StreamsText(streams, {}).find("host functions"), std::string::npos);
  const results::Idle idle = RunPass<results::Idle>("idle", MakeTrace({&builder}));
  ASSERT_EQ(idle.gaps_size(), 1);
  EXPECT_FALSE(idle.gaps(0).has_host_function_ns());
  EXPECT_NE(idle.gaps(0).cause(), results::TIME_CATEGORY_DEPENDENCY);
  EXPECT_EQ(IdleText(idle, {}).find("host functions"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::analysis::test
