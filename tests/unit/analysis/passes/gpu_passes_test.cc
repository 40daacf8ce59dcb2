// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// memcpy, api, sync and streams on traces whose figures can be told by hand.

#include <gtest/gtest.h>

#include "analysis/passes/passes.h"
#include "proto/results/api.pb.h"
#include "proto/results/graphs.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/overhead.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

template <typename Result>
Result RunBy(const char* pass, const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  return RunPass<Result>(pass, trace, options);
}

constexpr uint32_t kHtoD = 1, kDtoH = 2;
constexpr uint32_t kPageable = 1, kPinned = 2, kDevice = 3;
constexpr uint32_t kEvent = 1, kStreamWait = 2, kStream = 3;

TEST(MemcpyPass, ByDirectionWithSpeedAndWhatIsExposed) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& copies = builder.Stream(0, 1, 7);
  // 3 ms of 4 MB each pinned, of which a kernel covers 2 ms; 1 ms pageable; a set.
  copies.Copy(kHtoD, kPinned, kDevice, 4'000'000, 0, 3 * kMs, 1, 1);
  copies.Copy(kHtoD, kPageable, kDevice, 1'000'000, 5 * kMs, 6 * kMs, 2);
  copies.Copy(kDtoH, kDevice, kPinned, 500, 6 * kMs, 7 * kMs, 3);
  copies.Set(1024, 8 * kMs, 9 * kMs, 4);
  builder.Stream(0, 1, 13).Kernel(kernel, kMs, 5 * kMs);
  const auto result = RunBy<results::Memcpy>("memcpy", MakeTrace({&builder}));
  EXPECT_EQ(result.count(), 4u);
  EXPECT_EQ(result.total_ns(), 6 * kMs);
  EXPECT_EQ(result.total_bytes(), 5'001'524u);
  EXPECT_EQ(result.exposed_ns(), 4 * kMs);
  ASSERT_EQ(result.copies_size(), 4);
  const results::Copies& pinned = result.copies(0);
  EXPECT_EQ(pinned.name(), "HtoD");
  EXPECT_EQ(pinned.source(), results::MEMORY_KIND_PINNED);
  EXPECT_EQ(pinned.destination(), results::MEMORY_KIND_DEVICE);
  EXPECT_EQ(pinned.async_count(), 1u);
  EXPECT_DOUBLE_EQ(pinned.gb_per_s(), 4.0 / 3);
  EXPECT_DOUBLE_EQ(pinned.total_ratio(), 0.5);
}

TEST(MemcpyPass, SaysWhatTheWayCouldCarry) {
  ProcessBuilder builder(5);
  proto::Device* device = &builder.process().devices.emplace_back();
  device->set_uuid(std::string(16, '\xf0'));
  device->set_memory_bandwidth_kb_per_s(2'000'000'000);
  constexpr uint32_t kDtoD = 8, kPtoP = 10;
  builder.Stream(0, 1, 7)
      .Copy(kHtoD, kPinned, kDevice, 31'507'692, 0, 1 * kMs)
      .Copy(kDtoD, kDevice, kDevice, 250'000'000, 2 * kMs, 3 * kMs)
      .Set(1'000'000'000, 4 * kMs, 5 * kMs)
      .Copy(kPtoP, kDevice, kDevice, 1000, 6 * kMs, 7 * kMs);
  builder.Stream(1, 2, 9).Copy(kHtoD, kPinned, kDevice, 1000, 8 * kMs, 9 * kMs);
  Trace trace = MakeTrace({&builder});
  Process& sampler = trace.samplers.emplace_back();
  sampler.is_sampler = true;
  sampler.host = trace.processes[0].host;
  proto::SampledDevice* sampled = &sampler.sampled_devices[1];
  sampled->set_uuid("GPU-f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0");
  sampled->set_pcie_generation(5);
  sampled->set_pcie_width(16);
  const auto result = RunBy<results::Memcpy>("memcpy", trace);
  ASSERT_EQ(result.copies_size(), 5);
  for (const results::Copies& row : result.copies()) {
    if (row.name() == "PtoP" || row.device() == 1) {
      EXPECT_FALSE(row.has_limit()) << row.name();
      continue;
    }
    EXPECT_EQ(row.limit(),
              row.name() == "HtoD" ? results::COPY_LIMIT_PCIE : results::COPY_LIMIT_MEMORY);
    EXPECT_NEAR(row.limit_gb_per_s(),
                row.name() == "HtoD"   ? 63.0
                : row.name() == "DtoD" ? 1000
                                       : 2000,
                0.02);
    EXPECT_NEAR(row.limit_ratio(), row.name() == "DtoD" ? 0.25 : 0.5, 1e-6) << row.name();
  }
}

// A program behind an exec has the pid of the one that made it.
TEST(MemcpyPass, LimitsAreThoseOfTheImageThatHasADevice) {
  ProcessBuilder before(5), program(5);
  before.Thread(5, "sh");
  program.process().devices.emplace_back().set_memory_bandwidth_kb_per_s(1'000'000'000);
  program.Stream(0, 1, 7).Set(500'000'000, 0, 1 * kMs);
  const auto result = RunBy<results::Memcpy>("memcpy", MakeTrace({&before, &program}));
  ASSERT_EQ(result.copies_size(), 1);
  EXPECT_DOUBLE_EQ(result.copies(0).limit_ratio(), 0.5);
}

TEST(MemcpyPass, BySizeAndByStream) {
  ProcessBuilder builder(5);
  builder.Stream(0, 1, 7)
      .Copy(kHtoD, kPinned, kDevice, 4096, 0, kMs)
      .Copy(kHtoD, kPinned, kDevice, 8191, kMs, 2 * kMs);
  builder.Stream(1, 2, 9).Copy(kHtoD, kPinned, kDevice, 0, 0, kUs);
  const Trace trace = MakeTrace({&builder});
  const auto by_size = RunBy<results::Memcpy>("memcpy", trace, "size");
  ASSERT_EQ(by_size.copies_size(), 2);
  EXPECT_EQ(by_size.copies(0).name(), "4 KiB to 8 KiB");
  EXPECT_EQ(by_size.copies(0).count(), 2u);
  EXPECT_EQ(by_size.copies(1).name(), "0 B");
  const auto by_stream = RunBy<results::Memcpy>("memcpy", trace, "stream");
  ASSERT_EQ(by_stream.copies_size(), 2);
  EXPECT_EQ(by_stream.copies(0).stream(), 7u);
  EXPECT_EQ(by_stream.copies(1).device(), 1u);
}

TEST(ApiPass, CountsErrorsAndTheWorkBegun) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& main = builder.Thread(5, "main");
  main.Call("cudaLaunchKernel_v7000", 0, 5 * kUs, 1)
      .Call("cudaLaunchKernel_v7000", kMs, kMs + 7 * kUs, 2);
  main.Call("cudaEventQuery_v3020", 2 * kMs, 2 * kMs + kUs, 3, 600);
  main.Call("cudaMalloc_v3020", 3 * kMs, 4 * kMs, 4, 2)
      .Call("cudaMalloc_v3020", 5 * kMs, 6 * kMs, 5, 700);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 10 * kUs, 20 * kUs, 1)
      .Kernel(kernel, kMs + 30 * kUs, 2 * kMs, 2);
  const Trace trace = MakeTrace({&builder});
  const auto result = RunBy<results::ApiCalls>("api", trace);
  EXPECT_EQ(result.count(), 5u);
  ASSERT_EQ(result.calls_size(), 3);
  const results::ApiCall& allocation = result.calls(0);
  EXPECT_EQ(allocation.name(), "cudaMalloc");
  EXPECT_EQ(allocation.domain(), results::API_DOMAIN_RUNTIME);
  EXPECT_EQ(allocation.error_count(), 2u);
  EXPECT_EQ(allocation.first_error(), 2);
  const results::ApiCall& launch = result.calls(1);
  EXPECT_EQ(launch.name(), "cudaLaunchKernel");
  EXPECT_EQ(launch.total_ns(), 12 * kUs);
  EXPECT_EQ(launch.work_count(), 2u);
  EXPECT_EQ(launch.mean_delay_ns(), 20 * kUs);
  EXPECT_EQ(result.calls(2).error_count(), 0u) << "not ready is an answer";
  const auto by_thread = RunBy<results::ApiCalls>("api", trace, "thread");
  ASSERT_EQ(by_thread.calls_size(), 1);
  EXPECT_EQ(by_thread.calls(0).count(), 5u);
  EXPECT_EQ(by_thread.calls(0).tid(), 5);
  EXPECT_EQ(by_thread.calls(0).work_count(), 2u);
}

TEST(ApiPass, ThreadsOfOneNumberOnTwoHostsAreTwo) {
  ProcessBuilder first(1), second(1);
  second.process().host = "other";
  first.Thread(1, "here").Call("cudaMalloc_v3020", 0, 4 * kMs, 1);
  second.Thread(1, "there").Call("cudaMalloc_v3020", 0, 1 * kMs, 1);
  const Trace trace = MakeTrace({&first, &second});
  const auto by_thread = RunBy<results::ApiCalls>("api", trace, "thread");
  ASSERT_EQ(by_thread.calls_size(), 2);
  EXPECT_NE(by_thread.calls(0).name().find("here"), std::string::npos);
  EXPECT_NE(by_thread.calls(1).name().find("there"), std::string::npos);
  EXPECT_EQ(RunBy<results::ApiCalls>("api", trace).calls_size(), 2);
}

TEST(PassesOfGpu, RowsThatStandForSeveralCountAsThese) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5, "main")
      .Weight(8)
      .Call("cudaLaunchKernel_v7000", 0, 5 * kUs, 1)
      .Call("cudaMalloc_v3020", 1 * kMs, 2 * kMs, 2, 2);
  builder.Stream(0, 1, 7)
      .Weight(8)
      .Kernel(kernel, 25 * kUs, 30 * kUs, 1)
      .Copy(1, 1, 3, 1000, 1 * kMs, 2 * kMs, 3)
      .Sync(3, 2 * kMs, 3 * kMs, 4)
      .WholeGraph(9, 4 * kMs, 5 * kMs, 5);
  const Trace trace = MakeTrace({&builder});
  const auto calls = RunBy<results::ApiCalls>("api", trace);
  ASSERT_EQ(calls.calls_size(), 2);
  EXPECT_EQ(calls.count(), 16u);
  EXPECT_EQ(calls.calls(0).error_count(), 8u);
  EXPECT_EQ(calls.calls(1).work_count(), 8u);
  EXPECT_EQ(calls.calls(1).mean_delay_ns(), 25 * kUs);
  const auto copies = RunBy<results::Memcpy>("memcpy", trace);
  EXPECT_EQ(copies.count(), 8u);
  EXPECT_EQ(copies.total_bytes(), 8000u);
  EXPECT_EQ(copies.exposed_ns(), 1 * kMs);
  const auto syncs = RunBy<results::Syncs>("sync", trace);
  EXPECT_EQ(syncs.count(), 8u);
  EXPECT_EQ(syncs.host_ns(), 8 * kMs);
  const auto graphs = RunBy<results::Graphs>("graphs", trace);
  EXPECT_EQ(graphs.count(), 8u);
  EXPECT_EQ(graphs.total_ns(), 8 * kMs);
  const auto streams = RunBy<results::Streams>("streams", trace);
  ASSERT_EQ(streams.streams_size(), 1);
  EXPECT_EQ(streams.streams(0).kernel_count(), 8u);
  EXPECT_EQ(streams.streams(0).copy_count(), 8u);
}

TEST(SyncPass, TellsThreadsWaitsFromStreamsWaits) {
  ProcessBuilder builder(5);
  builder.Thread(5, "main")
      .Call("cudaStreamSynchronize_v3020", 0, 4 * kMs, 1)
      .Call("cudaEventSynchronize_v3020", 5 * kMs, 5 * kMs + 2 * kUs, 2);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  stream.Sync(kStream, 0, 4 * kMs, 1).Sync(kEvent, 5 * kMs, 5 * kMs + 2 * kUs, 2);
  stream.Sync(kStreamWait, 6 * kMs, 9 * kMs, 3);
  const Trace trace = MakeTrace({&builder});
  const auto result = RunBy<results::Syncs>("sync", trace);
  EXPECT_EQ(result.count(), 3u);
  EXPECT_EQ(result.host_ns(), 4 * kMs + 2 * kUs);
  EXPECT_EQ(result.host_max_ns(), 4 * kMs);
  ASSERT_EQ(result.syncs_size(), 3);
  EXPECT_EQ(result.syncs(0).name(), "stream");
  EXPECT_EQ(result.syncs(0).function(), "cudaStreamSynchronize");
  EXPECT_EQ(result.syncs(1).name(), "stream_wait");
  EXPECT_FALSE(result.syncs(1).has_function());
  EXPECT_EQ(result.syncs(1).total_ratio(), 0) << "no thread waited";
  EXPECT_EQ(result.syncs(2).short_count(), 1u);
  const auto by_thread = RunBy<results::Syncs>("sync", trace, "thread");
  ASSERT_EQ(by_thread.syncs_size(), 1);
  EXPECT_EQ(by_thread.syncs(0).count(), 2u);
  EXPECT_EQ(by_thread.syncs(0).name(), "main");
}

TEST(OverheadPass, TellsCudasOwnWorkFromTheRecorders) {
  ProcessBuilder builder(5);
  builder.Thread(5, "main")
      .Overhead(proto::OverheadOperation(5 << 16), 1 * kMs, 3 * kMs)
      .Overhead(proto::OverheadOperation(5 << 16), 4 * kMs, 9 * kMs)
      .Overhead(proto::JitOperation(1, 3), 10 * kMs, 40 * kMs, 4096)
      .Overhead(200, 41 * kMs, 41 * kMs + kUs);
  builder.Stream(0, kNoCudaId, kNoCudaId)
      .Overhead(proto::OverheadOperation(1 << 16), 50 * kMs, 51 * kMs);
  const Trace trace = MakeTrace({&builder});
  const auto result = RunBy<results::Overheads>("overhead", trace);
  EXPECT_EQ(result.count(), 5u);
  EXPECT_EQ(result.cuda_ns(), 37 * kMs + kUs);
  EXPECT_EQ(result.cupti_ns(), 1 * kMs);
  ASSERT_EQ(result.overheads_size(), 4);
  EXPECT_EQ(result.overheads(0).name(), "ptx_compile");
  EXPECT_EQ(result.overheads(0).cache_bytes(), 4096u);
  const results::Overhead& loading = result.overheads(1);
  EXPECT_EQ(loading.name(), "lazy_function_loading");
  EXPECT_EQ(loading.count(), 2u);
  EXPECT_EQ(loading.max_ns(), 5 * kMs);
  EXPECT_EQ(loading.max_start_ns(), 3 * kMs) << "since the first event";
  EXPECT_FALSE(loading.is_recorder());
  EXPECT_EQ(result.overheads(2).name(), "cupti_buffer_flush");
  EXPECT_TRUE(result.overheads(2).is_recorder());
  EXPECT_EQ(result.overheads(3).name(), "kind 200");
  const auto by_thread = RunBy<results::Overheads>("overhead", trace, "thread");
  ASSERT_EQ(by_thread.overheads_size(), 2);
  EXPECT_EQ(by_thread.overheads(0).name(), "main");
  EXPECT_EQ(by_thread.overheads(0).count(), 4u);
  EXPECT_EQ(by_thread.overheads(1).name(), "no thread");
}

// Stream 7: 0-10 ms, 20-30, 50-60, 61-62; stream 13: a copy 5-12 ms, a kernel 25-27.
TEST(StreamsPass, UnionsOverlapsAndCausesOfGaps) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& main = builder.Thread(5, "main");
  // The gap 12-20: the launch begins at 17. The gap 30-50: launched long before, behind work of its
  // own stream. The gap 60-61: the launch began before the gap and ended in it.
  main.Call("cudaLaunchKernel", 17 * kMs, 18 * kMs, 2)
      .Call("cudaLaunchKernel", 19 * kMs, 20 * kMs, 3);
  main.Call("cudaLaunchKernel", 59 * kMs, 60 * kMs + 500 * kUs, 4);
  TrackBuilder& compute = builder.Stream(0, 1, 7);
  compute.Kernel(kernel, 0, 10 * kMs).Kernel(kernel, 20 * kMs, 30 * kMs, 2);
  compute.Kernel(kernel, 50 * kMs, 60 * kMs, 3).Kernel(kernel, 61 * kMs, 62 * kMs, 4);
  compute.Kernel(kernel, 70 * kMs, 80 * kMs, 99);
  TrackBuilder& side = builder.Stream(0, 1, 13);
  side.Copy(kHtoD, kPinned, kDevice, 100, 5 * kMs, 12 * kMs).Kernel(kernel, 25 * kMs, 27 * kMs);
  builder.Stream(0, 1, 0).Sync(kStream, 0, kMs);
  const auto result = RunBy<results::Streams>("streams", MakeTrace({&builder}));
  ASSERT_EQ(result.devices_size(), 1);
  const results::DeviceUse& device = result.devices(0);
  EXPECT_EQ(device.window_ns(), 80 * kMs);
  EXPECT_EQ(device.busy_ns(), 43 * kMs);
  EXPECT_DOUBLE_EQ(device.busy_ratio(), 43.0 / 80);
  EXPECT_EQ(device.kernel_ns(), 41 * kMs);
  EXPECT_EQ(device.copy_ns(), 7 * kMs);
  EXPECT_EQ(device.kernel_and_copy_ns(), 5 * kMs);
  EXPECT_EQ(device.several_kernels_ns(), 2 * kMs);
  EXPECT_EQ(device.gap_count(), 4u);
  EXPECT_EQ(device.idle_host_ns(), 5 * kMs);
  EXPECT_EQ(device.idle_launch_ns(), 24 * kMs);
  EXPECT_EQ(device.idle_dependency_ns(), 0);
  EXPECT_EQ(device.idle_unknown_ns(), 8 * kMs);
  EXPECT_EQ(device.gap_max_ns(), 20 * kMs);
  EXPECT_EQ(device.gap_max_start_ns(), 30 * kMs);
  ASSERT_EQ(result.streams_size(), 2) << "a stream that only was waited for did nothing";
  const results::StreamUse& first = result.streams(0);
  EXPECT_EQ(first.stream(), 7u);
  EXPECT_EQ(first.busy_ns(), 41 * kMs);
  EXPECT_EQ(first.overlap_ns(), 7 * kMs);
  const results::StreamUse& second = result.streams(1);
  EXPECT_EQ(second.busy_ns(), 9 * kMs);
  EXPECT_EQ(second.overlap_ns(), 7 * kMs);
  EXPECT_EQ(second.copy_ns(), 7 * kMs);
}

// What lies between two captures is no gap.
TEST(StreamsPass, WindowsAreThoseOfCaptures) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Capture(0, 10 * kMs).Capture(50 * kMs, 60 * kMs);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, kMs, 2 * kMs)
      .Kernel(kernel, 4 * kMs, 5 * kMs)
      .Kernel(kernel, 52 * kMs, 55 * kMs);
  const auto result = RunBy<results::Streams>("streams", MakeTrace({&builder}));
  EXPECT_EQ(result.devices(0).window_ns(), 7 * kMs);
  EXPECT_EQ(result.devices(0).gap_count(), 1u);
  EXPECT_EQ(result.devices(0).idle_unknown_ns(), 2 * kMs);
}

// Kernels without a gap from before the first capture until behind it, and one that the second
// begins amid.
TEST(StreamsPass, ADeviceThatNeverRestsIsBusyFromItsCapturesStart) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Capture(10 * kMs, 20 * kMs).Capture(50 * kMs, 60 * kMs);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 5 * kMs, 12 * kMs)
      .Kernel(kernel, 12 * kMs, 22 * kMs)
      .Kernel(kernel, 40 * kMs, 51 * kMs)
      .Kernel(kernel, 53 * kMs, 55 * kMs);
  const auto result = RunBy<results::Streams>("streams", MakeTrace({&builder}));
  const results::DeviceUse& device = result.devices(0);
  EXPECT_EQ(device.window_ns(), 12 * kMs + 5 * kMs);
  EXPECT_EQ(device.busy_ns(), 12 * kMs + 3 * kMs);
  EXPECT_EQ(device.gap_count(), 1u);
  EXPECT_EQ(device.idle_unknown_ns(), 2 * kMs);
}

// A program that is 40 ms ahead of the GPU: kernels of before the capture run in it, and are in no
// recording, beside copies that are.
void MakeAhead(ProcessBuilder* builder, bool is_late) {
  const uint32_t kernel = builder->Signature("k", 1, 32);
  builder->Capture(100 * kMs, 200 * kMs);
  builder->process().captures[0].cuda_had_begun = is_late;
  builder->process().captures[0].has_stop = true;
  builder->Thread(5)
      .Call("cudaMemcpyAsync", 101 * kMs, 102 * kMs, 1)
      .Call("cudaLaunchKernel", 103 * kMs, 104 * kMs, 2)
      .Call("cudaMemcpyAsync", 111 * kMs, 112 * kMs, 3)
      .Call("cudaLaunchKernel", 155 * kMs, 156 * kMs, 4)
      .Call("cudaLaunchKernel", 160 * kMs, 161 * kMs, 5)
      .Call("cudaMemcpyAsync", 170 * kMs, 171 * kMs, 6);
  builder->Stream(0, 1, 13)
      .Copy(kHtoD, kPinned, kDevice, 4000, 102 * kMs, 103 * kMs, 1)
      .Copy(kHtoD, kPinned, kDevice, 4000, 113 * kMs, 114 * kMs, 3)
      .Copy(kHtoD, kPinned, kDevice, 4000, 180 * kMs, 181 * kMs, 6);
  // The third is not done when the capture ends.
  builder->Stream(0, 1, 7)
      .Kernel(kernel, 144 * kMs, 150 * kMs, 2)
      .Kernel(kernel, 157 * kMs, 158 * kMs, 4);
}

TEST(StreamsPass, WhereOlderWorkMayHaveRunTheCauseIsUnknown) {
  ProcessBuilder builder(5);
  MakeAhead(&builder, /*is_late=*/true);
  const auto result = RunBy<results::Streams>("streams", MakeTrace({&builder}));
  const results::DeviceUse& device = result.devices(0);
  EXPECT_EQ(device.window_ns(), 79 * kMs);
  EXPECT_EQ(device.busy_ns(), 10 * kMs);
  // To 144 ms the first stream's work of before; from 160 ms on the launch that has none.
  EXPECT_EQ(device.idle_unseen_ns(), (10 + 30 + 20) * kMs);
  EXPECT_EQ(device.idle_unknown_ns(), device.idle_unseen_ns());
  EXPECT_EQ(device.idle_host_ns(), (5 + 2) * kMs);
  EXPECT_EQ(device.idle_launch_ns(), 2 * kMs);
  EXPECT_EQ(device.gap_count(), 4u);
  ASSERT_GE(result.meta().notes_size(), 1);
  EXPECT_EQ(result.meta().notes(0).rfind("pid 5, device 0: in 60.0 ms of the idle time", 0), 0u);
}

// With the program's first use of CUDA nothing older can have run.
TEST(StreamsPass, ACaptureFromTheProgramsBeginHasAllWork) {
  ProcessBuilder builder(5);
  MakeAhead(&builder, /*is_late=*/false);
  const auto result = RunBy<results::Streams>("streams", MakeTrace({&builder}));
  EXPECT_EQ(result.devices(0).idle_unseen_ns(), 20 * kMs);
  EXPECT_EQ(result.devices(0).idle_dependency_ns(), 30 * kMs);
}

}  // namespace
}  // namespace gpuprof::analysis::test
