// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// device_memory on traces whose figures can be told by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "analysis/passes/memory/follow_device_memory.h"
#include "analysis/passes/passes.h"
#include "proto/results/device_memory.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr uint8_t kPinned = 2, kDevice = 3, kManaged = 5;
constexpr uint64_t kPool = 0x7f1100000000;

results::DeviceMemory RunBy(const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  return RunPass<results::DeviceMemory>("device_memory", trace, options);
}

TrackBuilder& OfContext(ProcessBuilder* builder, uint32_t device = 0, uint32_t context = 1) {
  return builder->Stream(device, context, kNoCudaId);
}

TEST(DeviceMemoryPass, PeaksAreOfEachKindAndOfTheDevice) {
  ProcessBuilder builder(5);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Allocate(2 * kMs, 0x2000, 50, 0, kManaged)
      .Release(3 * kMs, 0x1000, 100)
      .Allocate(4 * kMs, 0x3000, 30, 0, kManaged)
      .Allocate(5 * kMs, 0x4000, 1000, 0, kPinned)
      .Allocate(6 * kMs, 0x1000, 60);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.by(), "kind");
  EXPECT_EQ(result.count(), 5u);
  EXPECT_EQ(result.allocated_bytes(), 1240u);
  EXPECT_EQ(result.end_count(), 4u);
  ASSERT_EQ(result.uses_size(), 3);
  EXPECT_EQ(result.uses(0).name(), "pinned");
  const results::MemoryUse& device = result.uses(1);
  EXPECT_EQ(device.name(), "device");
  EXPECT_EQ(device.peak_bytes(), 100u);
  EXPECT_EQ(device.peak_time_ns(), 1 * kMs);
  EXPECT_EQ(device.end_bytes(), 60u);
  EXPECT_EQ(device.mean_bytes(), 80u);
  EXPECT_EQ(device.mean_life_ns(), 2 * kMs);
  EXPECT_FALSE(device.has_call_ratio()) << "no call was recorded";
  EXPECT_EQ(result.uses(2).name(), "managed");
  EXPECT_EQ(result.uses(2).peak_bytes(), 80u);
  ASSERT_EQ(result.devices_size(), 1);
  EXPECT_EQ(result.devices(0).peak_bytes(), 150u) << "pinned memory is not on the device";
  EXPECT_EQ(result.devices(0).end_bytes(), 140u);
  EXPECT_FALSE(result.devices(0).has_capacity_bytes());
  EXPECT_FALSE(result.devices(0).has_profiler_bytes());
  ASSERT_EQ(result.live_size(), 4);
  EXPECT_EQ(result.live(0).size_bytes(), 1000u);
  EXPECT_EQ(result.live(3).size_bytes(), 30u);
}

// Releases of what was allocated before the capture take nothing away from what is known.
TEST(DeviceMemoryPass, OlderBlocksNeverMakeItNegative) {
  ProcessBuilder builder(5);
  builder.Capture(0, 10 * kMs);
  builder.process().captures[0].cuda_had_begun = true;
  OfContext(&builder)
      .Release(1 * kMs, 0x9000, 5000)
      .Allocate(2 * kMs, 0x1000, 100)
      .Release(3 * kMs, 0x8000, 7000);
  const auto result = RunBy(MakeTrace({&builder}));
  ASSERT_EQ(result.uses_size(), 1);
  const results::MemoryUse& use = result.uses(0);
  EXPECT_EQ(use.count(), 1u);
  EXPECT_EQ(use.release_count(), 0u);
  EXPECT_EQ(use.older_count(), 2u);
  EXPECT_EQ(use.older_bytes(), 12000u);
  EXPECT_EQ(use.peak_bytes(), 100u);
  EXPECT_EQ(use.end_bytes(), 100u);
  EXPECT_TRUE(result.devices(0).begun_late());
  EXPECT_EQ(result.devices(0).older_bytes(), 12000u);
  ASSERT_EQ(result.meta().notes_size(), 1);
  EXPECT_NE(result.meta().notes(0).find("2 older blocks"), std::string::npos);
}

TEST(DeviceMemoryPass, ACaptureForgetsTheBlocksOfTheOneBefore) {
  ProcessBuilder builder(5);
  builder.Capture(0, 2 * kMs).Capture(5 * kMs, 10 * kMs);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Allocate(6 * kMs, 0x2000, 30, 0, kDevice, 0, 2)
      .Release(7 * kMs, 0x1000, 100, 0, kDevice, 0, 2);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.uses(0).peak_bytes(), 100u);
  EXPECT_EQ(result.uses(0).end_bytes(), 30u);
  EXPECT_EQ(result.uses(0).older_count(), 1u);
  EXPECT_EQ(result.live_size(), 1);
}

TEST(DeviceMemoryPass, TheEndIsThatOfTheLastCaptureAlsoWithoutRows) {
  ProcessBuilder builder(5);
  builder.Capture(0, 2 * kMs).Capture(5 * kMs, 10 * kMs);
  OfContext(&builder).Allocate(1 * kMs, 0x1000, 100);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.uses(0).peak_bytes(), 100u);
  EXPECT_EQ(result.uses(0).end_bytes(), 0u);
  EXPECT_EQ(result.end_count(), 0u);
}

TEST(DeviceMemoryPass, RowsOfSeveralTracksAreTakenByTime) {
  ProcessBuilder builder(5);
  // The release reached the file before the allocation.
  builder.Stream(0, 1, 14).Release(8 * kMs, 0x1000, 100);
  builder.Stream(0, 1, 15).Allocate(9 * kMs, 0x1000, 40).Allocate(1 * kMs, 0x1000, 100);
  const auto result = RunBy(MakeTrace({&builder}), "device");
  ASSERT_EQ(result.uses_size(), 1);
  EXPECT_EQ(result.uses(0).name(), "device 0");
  EXPECT_EQ(result.uses(0).peak_bytes(), 100u);
  EXPECT_EQ(result.uses(0).release_count(), 1u);
  EXPECT_EQ(result.uses(0).older_count(), 0u);
  EXPECT_EQ(result.implied_release_count(), 0u);
}

// One thread's call gives an address up while another's, which began before it, waits for memory.
TEST(DeviceMemoryPass, AnAddressGivenUpDuringTheCallThatGetsIt) {
  ProcessBuilder builder(5);
  builder.Thread(1).Call("cudaMalloc_v3020", 9 * kMs, 12 * kMs, 40);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100, 7)
      .Allocate(9 * kMs, 0x1000, 60, 40)
      .Release(10 * kMs, 0x1000, 100, 8)
      .Release(20 * kMs, 0x1000, 60, 9);
  const auto result = RunBy(MakeTrace({&builder}));
  const results::MemoryUse& use = result.uses(0);
  EXPECT_EQ(use.count(), 2u);
  EXPECT_EQ(use.release_count(), 2u);
  EXPECT_EQ(use.peak_bytes(), 100u);
  EXPECT_EQ(use.end_count(), 0u);
  EXPECT_EQ(use.older_count(), 0u);
  EXPECT_EQ(result.implied_release_count(), 0u);
}

TEST(DeviceMemoryPass, ALostReleaseIsImplied) {
  ProcessBuilder builder(5);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Allocate(9 * kMs, 0x1000, 60)
      .Release(20 * kMs, 0x1000, 60);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.uses(0).peak_bytes(), 100u);
  EXPECT_EQ(result.uses(0).end_count(), 0u);
  EXPECT_EQ(result.implied_release_count(), 1u);
}

// As cudaDeviceReset does it.
TEST(DeviceMemoryPass, WhatAContextHadGoesWithIt) {
  ProcessBuilder builder(5);
  builder.process().contexts = {{1, 0, 5 * kMs}, {2, 6 * kMs, INT64_MAX}};
  builder.process().devices.emplace_back().set_buffer_bytes_per_context(300);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Allocate(2 * kMs, 0x2000, 40)
      .Allocate(2 * kMs, 0x4000, 7, 0, kPinned)
      .Release(3 * kMs, 0x2000, 40);
  OfContext(&builder, 0, 2).Allocate(7 * kMs, 0x1000, 90).Allocate(8 * kMs, 0x3000, 5);
  const Trace trace = MakeTrace({&builder});
  const auto result = RunBy(trace);
  EXPECT_EQ(result.context_end_count(), 2u);
  EXPECT_EQ(result.context_end_bytes(), 107u);
  EXPECT_EQ(result.end_count(), 2u);
  EXPECT_EQ(result.end_bytes(), 95u);
  EXPECT_EQ(result.implied_release_count(), 0u);
  ASSERT_EQ(result.uses_size(), 2);
  const results::MemoryUse& device = result.uses(0);
  EXPECT_EQ(device.name(), "device");
  EXPECT_EQ(device.peak_bytes(), 140u);
  EXPECT_EQ(device.release_count(), 1u) << "of the program's own";
  EXPECT_EQ(device.mean_life_ns(), 1 * kMs) << "of the released ones";
  EXPECT_EQ(device.context_end_count(), 1u);
  EXPECT_EQ(device.context_end_bytes(), 100u);
  EXPECT_EQ(result.uses(1).context_end_count(), 1u) << "pinned memory is the context's too";
  EXPECT_EQ(result.uses(1).end_count(), 0u);
  ASSERT_EQ(result.devices_size(), 1);
  EXPECT_EQ(result.devices(0).peak_bytes(), 140u);
  EXPECT_EQ(result.devices(0).end_bytes(), 95u);
  EXPECT_EQ(result.devices(0).context_count(), 2u);
  EXPECT_EQ(result.devices(0).context_peak_count(), 1u);
  EXPECT_EQ(result.devices(0).profiler_bytes(), 300u) << "the first one's went with it";
  EXPECT_EQ(result.live_size(), 2);
  ASSERT_EQ(result.ended_size(), 2);
  EXPECT_EQ(result.ended(0).size_bytes(), 100u);
  EXPECT_EQ(result.ended(0).age_ns(), 4 * kMs);
  for (const char* by : {"device", "pool", "size", "stream"}) {
    const auto other = RunBy(trace, by);
    EXPECT_EQ(other.context_end_bytes(), 107u) << by;
    EXPECT_EQ(other.end_bytes(), 95u) << by;
  }
}

// A process that becomes another program by exec gives up what it had; the next one under its
// number begins with nothing.
TEST(DeviceMemoryPass, WhatAProgramHadGoesWithIt) {
  ProcessBuilder first(5), second(5);
  first.Capture(0, 4 * kMs);
  first.process().captures[0].has_stop = true;
  first.process().captures[0].stop_trigger = "exit";
  first.process().has_end = true;
  first.process().exit_way = static_cast<uint32_t>(proto::ExitWay::kExec);
  OfContext(&first).Allocate(1 * kMs, 0x1000, 100).Allocate(2 * kMs, 0x2000, 50, 0, kDevice, kPool);
  OfContext(&second).Allocate(7 * kMs, 0x1000, 120);
  const auto result = RunBy(MakeTrace({&first, &second}));
  EXPECT_EQ(result.context_end_count(), 2u);
  EXPECT_EQ(result.context_end_bytes(), 150u);
  EXPECT_EQ(result.end_count(), 1u);
  EXPECT_EQ(result.end_bytes(), 120u);
  uint64_t most = 0;
  for (const auto& use : result.uses()) most = std::max(most, use.peak_bytes());
  EXPECT_EQ(most, 120u) << "never both at once";

  // It ended its capture first: what became of the blocks then is not known.
  first.process().captures[0].stop_trigger = "ctl";
  EXPECT_EQ(RunBy(MakeTrace({&first, &second})).end_count(), 3u);
}

// It is of no context, says NVIDIA, and can be freed afterwards.
TEST(DeviceMemoryPass, MemoryOfPoolsOutlivesTheContext) {
  ProcessBuilder builder(5);
  builder.process().contexts = {{1, 0, 5 * kMs}};
  builder.Stream(0, 1, 14)
      .Allocate(1 * kMs, 0x1000, 100, 0, kDevice, kPool)
      .Allocate(2 * kMs, 0x2000, 50, 0, kDevice, kPool)
      .Release(9 * kMs, 0x2000, 50, 0, kDevice, kPool);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.context_end_count(), 0u);
  EXPECT_EQ(result.end_bytes(), 100u);
  EXPECT_EQ(result.uses(0).release_count(), 1u);
  EXPECT_EQ(result.uses(0).older_count(), 0u);
}

TEST(DeviceMemoryPass, OtherContextsKeepWhatTheyHave) {
  ProcessBuilder builder(5);
  builder.process().contexts = {{2, 0, 5 * kMs}};
  OfContext(&builder).Allocate(1 * kMs, 0x1000, 100);
  OfContext(&builder, 0, 2).Allocate(2 * kMs, 0x2000, 30);
  OfContext(&builder, 1, 3).Allocate(3 * kMs, 0x3000, 500);
  const auto result = RunBy(MakeTrace({&builder}), "device");
  EXPECT_EQ(result.context_end_bytes(), 30u);
  EXPECT_EQ(result.end_bytes(), 600u);
  ASSERT_EQ(result.devices_size(), 2);
  EXPECT_EQ(result.devices(0).context_peak_count(), 2u) << "nothing is told of the first";
  EXPECT_EQ(result.devices(1).context_peak_count(), 1u);
}

// NVIDIA does not say whether CUPTI has records of what goes with a context.
TEST(DeviceMemoryPass, ReleasesAfterTheContextsEndAreNotCountedTwice) {
  ProcessBuilder builder(5);
  builder.process().contexts = {{1, 0, 5 * kMs}};
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Allocate(2 * kMs, 0x2000, 40)
      .Release(6 * kMs, 0x1000, 100)
      .Release(6 * kMs, 0x2000, 40)
      .Release(6 * kMs, 0x9000, 11);
  OfContext(&builder, 0, 2).Allocate(7 * kMs, 0x1000, 60).Release(8 * kMs, 0x1000, 60);
  const auto result = RunBy(MakeTrace({&builder}));
  ASSERT_EQ(result.uses_size(), 1);
  EXPECT_EQ(result.uses(0).context_end_count(), 2u);
  EXPECT_EQ(result.uses(0).release_count(), 1u);
  EXPECT_EQ(result.uses(0).older_count(), 1u) << "only what nothing was known of";
  EXPECT_EQ(result.uses(0).peak_bytes(), 140u);
  EXPECT_EQ(result.end_count(), 0u);
}

// The end is told on the program's clock, the rows on CUPTI's.
TEST(DeviceMemoryPass, ClocksThatDisagreeMakeNoLeak) {
  ProcessBuilder builder(5);
  builder.process().contexts = {{1, 0, 5 * kMs}};
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100)
      .Release(5 * kMs + 20 * kUs, 0x1000, 100)
      .Allocate(5 * kMs + 30 * kUs, 0x2000, 40);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.uses(0).release_count(), 1u) << "by the program, right before the end";
  EXPECT_EQ(result.uses(0).context_end_count(), 1u);
  EXPECT_EQ(result.end_count(), 0u);
}

// Between two captures anybody may have freed them.
TEST(DeviceMemoryPass, AnEndInALaterCaptureIsNotOfTheBlocksBefore) {
  ProcessBuilder builder(5);
  builder.Capture(0, 2 * kMs).Capture(5 * kMs, 10 * kMs);
  builder.process().contexts = {{1, INT64_MIN, 6 * kMs}};
  OfContext(&builder).Allocate(1 * kMs, 0x1000, 100);
  OfContext(&builder, 0, 2).Allocate(8 * kMs, 0x2000, 1, 0, kDevice, 0, 2);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.context_end_count(), 0u);
  EXPECT_EQ(result.uses(0).peak_bytes(), 100u);
}

TEST(DeviceMemoryPass, CallsTakeTime) {
  ProcessBuilder builder(5);
  builder.Capture(0, 10 * kMs);
  builder.Thread(77)
      .Call("cudaMalloc_v3020", 1 * kMs, 2 * kMs, 40)
      .Call("cudaFree_v3020", 5 * kMs, 8 * kMs, 41);
  OfContext(&builder)
      .Allocate(1 * kMs, 0x1000, 100, 40)
      .Release(5 * kMs, 0x1000, 100, 41)
      .Allocate(9 * kMs, 0x2000, 1, 42);
  const auto result = RunBy(MakeTrace({&builder}));
  EXPECT_EQ(result.uses(0).allocation_call_ns(), 1 * kMs);
  EXPECT_EQ(result.uses(0).release_call_ns(), 3 * kMs);
  EXPECT_DOUBLE_EQ(result.uses(0).call_ratio(), 0.4);
  EXPECT_FALSE(result.live(0).has_function());
}

TEST(DeviceMemoryPass, PoolsTellWhatTheyHold) {
  ProcessBuilder builder(5);
  builder.Stream(0, 1, 14)
      .Allocate(2 * kMs, 0x1000, 20, 0, kDevice, kPool)
      .Allocate(3 * kMs, 0x2000, 4, 0, kDevice, kPool)
      .Allocate(8 * kMs, 0x3000, 5, 0, kDevice, kPool);
  builder.Stream(0, kNoCudaId, kNoCudaId)
      .Pool(proto::kPoolCreated, 1 * kMs, kPool, 0, 0)
      .Pool(proto::kPoolSeen, 2 * kMs, kPool, 32, 20)
      .Pool(proto::kPoolSeen, 3 * kMs, kPool, 32, 24, UINT64_MAX)
      .Pool(proto::kPoolTrimmed, 4 * kMs, kPool, 24, 24, UINT64_MAX)
      .Pool(proto::kPoolDestroyed, 5 * kMs, kPool, 24, 24)
      .Pool(proto::kPoolCreated, 7 * kMs, kPool, 0, 0)
      .Pool(proto::kPoolSeen, 8 * kMs, kPool, 10, 5);
  const auto result = RunBy(MakeTrace({&builder}), "pool");
  ASSERT_EQ(result.pools_size(), 2) << "the address is another pool's later";
  const results::MemoryPool& first = result.pools(0);
  EXPECT_EQ(first.name(), "0x7f1100000000");
  EXPECT_EQ(first.kind(), "device");
  EXPECT_EQ(first.count(), 2u);
  EXPECT_EQ(first.utilized_peak_bytes(), 24u);
  EXPECT_EQ(first.utilized_peak_time_ns(), 3 * kMs);
  EXPECT_EQ(first.reserved_at_peak_bytes(), 32u);
  EXPECT_DOUBLE_EQ(first.fragmentation_ratio(), 0.25);
  EXPECT_DOUBLE_EQ(first.end_fragmentation_ratio(), 0);
  EXPECT_EQ(first.trim_count(), 1u);
  EXPECT_EQ(first.trimmed_bytes(), 8u);
  EXPECT_TRUE(first.destroyed());
  EXPECT_EQ(result.pools(1).count(), 1u);
  EXPECT_DOUBLE_EQ(result.pools(1).fragmentation_ratio(), 0.5);
  ASSERT_EQ(result.uses_size(), 1);
  EXPECT_EQ(result.uses(0).pool_address(), kPool);
  EXPECT_EQ(result.uses(0).async_count(), 3u);
}

TEST(DeviceMemoryPass, SizesStreamsAndOurOwn) {
  ProcessBuilder builder(5);
  proto::Device* told = &builder.process().devices.emplace_back();
  told->set_id(1);
  told->set_name("Example GPU");
  told->set_memory_bytes(1000);
  told->set_buffer_bytes_per_context(300);
  OfContext(&builder, 1, 1).Allocate(1 * kMs, 0x1000, 200);
  OfContext(&builder, 1, 2).Allocate(2 * kMs, 0x2000, 50);
  builder.Stream(1, 2, 14).Allocate(3 * kMs, 0x3000, 150, 0, kDevice, kPool);
  const Trace trace = MakeTrace({&builder});
  const auto by_size = RunBy(trace, "size");
  ASSERT_EQ(by_size.uses_size(), 2);
  EXPECT_EQ(by_size.uses(0).name(), "32 B to 64 B");
  EXPECT_EQ(by_size.uses(1).count(), 2u);
  EXPECT_EQ(by_size.uses(1).high_bytes(), 255u);
  const auto by_stream = RunBy(trace, "stream");
  ASSERT_EQ(by_stream.uses_size(), 3);
  EXPECT_EQ(by_stream.uses(0).name(), "no stream");
  EXPECT_FALSE(by_stream.uses(0).has_stream());
  EXPECT_EQ(by_stream.uses(1).name(), "stream 14");
  EXPECT_EQ(by_stream.uses(1).stream(), 14u);
  ASSERT_EQ(by_size.devices_size(), 1);
  const results::MemoryDevice& device = by_size.devices(0);
  EXPECT_EQ(device.name(), "Example GPU");
  EXPECT_EQ(device.context_count(), 2u);
  EXPECT_EQ(device.profiler_bytes(), 600u);
  EXPECT_EQ(device.peak_bytes(), 400u) << "the profiler's own is no part of it";
  EXPECT_DOUBLE_EQ(device.peak_ratio(), 0.4);
}

}  // namespace
}  // namespace gpuprof::analysis::test
