// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the overview says of GPUs, and its rule about idle ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/base/enum_word.h"
#include "analysis/passes/passes.h"
#include "proto/results/idle.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kHtoD = 1, kPinned = 2, kDevice = 3;

// Busy 0-10, 30-40 and 60-70 of 80: what is launched at 28 begins at 30, at 50 a copy that is not
// launched in the recording.
void MakeBusy(ProcessBuilder* builder) {
  const uint32_t large = builder->Signature("large", 1, 32);
  const uint32_t small = builder->Signature("small", 1, 32);
  builder->Thread(5, "main")
      .Call("cudaLaunchKernel", 28 * kMs, 29 * kMs, 2)
      .Call("cudaLaunchKernel", 59 * kMs, 60 * kMs, 3);
  builder->Stream(0, 1, 7)
      .Kernel(large, 0, 10 * kMs)
      .Kernel(large, 30 * kMs, 38 * kMs, 2)
      .Kernel(small, 60 * kMs, 70 * kMs, 3)
      .Allocate(2 * kMs, 0x1000, 600)
      .Allocate(3 * kMs, 0x2000, 300)
      .Release(4 * kMs, 0x1000, 600);
  builder->Stream(0, 1, 13)
      .Copy(kHtoD, kPinned, kDevice, 4000, 35 * kMs, 40 * kMs)
      .Set(1000, 79 * kMs, 80 * kMs);
}

const results::Finding* IdleRule(const results::Overview& overview) {
  for (const results::Finding& finding : overview.findings()) {
    if (finding.id() == "GP-001") return &finding;
  }
  return nullptr;
}

// Expects the main cause, its time and all times to be those of the pass idle.
void ExpectTheCauseOfIdle(const Trace& trace) {
  const auto overview = RunPass<results::Overview>("overview", trace);
  const auto idle = RunPass<results::Idle>("idle", trace);
  std::map<std::string, int64_t> sums;
  int64_t window_ns = 0, busy_ns = 0, idle_ns = 0;
  for (const results::IdleDevice& device : idle.devices()) {
    for (const results::CategoryTime& part : device.causes())
      sums[WordOf(part.category())] += part.total_ns();
    window_ns += device.window_ns();
    busy_ns += device.busy_ns();
    idle_ns += device.idle_ns();
  }
  ASSERT_FALSE(sums.empty());
  const auto largest = std::max_element(
      sums.begin(), sums.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const results::OverviewGpu& gpu = overview.gpu();
  EXPECT_EQ(gpu.idle_cause(), largest->first);
  EXPECT_EQ(gpu.idle_cause_ns(), largest->second);
  EXPECT_EQ(gpu.window_ns(), window_ns);
  EXPECT_EQ(gpu.busy_ns(), busy_ns);
  EXPECT_EQ(gpu.idle_ns(), idle_ns);
  int64_t sum_ns = 0;
  for (const auto& [cause, ns] : sums) sum_ns += ns;
  EXPECT_EQ(sum_ns, idle_ns);
}

// Two kernels of one stream, launched long before the gap between them.
TEST(OverviewGpu, NamesTheCauseThatIdleFindsInAQueue) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5, "main")
      .Call("cudaLaunchKernel", 0, kMs, 1)
      .Call("cudaLaunchKernel", 2 * kMs, 3 * kMs, 2)
      .Call("cudaLaunchKernel", 52 * kMs, 53 * kMs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, kMs, 10 * kMs, 1)
      .Kernel(kernel, 40 * kMs, 50 * kMs, 2)
      .Kernel(kernel, 60 * kMs, 70 * kMs, 3);
  const Trace trace = MakeTrace({&builder});
  ExpectTheCauseOfIdle(trace);
  EXPECT_EQ(RunPass<results::Overview>("overview", trace).gpu().idle_cause(), "launch");
}

// What the host did meanwhile is told apart.
TEST(OverviewGpu, NamesWhatTheHostDid) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5, "main")
      .Call("cudaLaunchKernel", 0, kMs, 1)
      .Loader(10 * kMs, 50 * kMs)
      .Call("cudaLaunchKernel", 52 * kMs, 53 * kMs, 2);
  builder.Stream(0, 1, 7).Kernel(kernel, kMs, 10 * kMs, 1).Kernel(kernel, 55 * kMs, 70 * kMs, 2);
  const Trace trace = MakeTrace({&builder});
  ExpectTheCauseOfIdle(trace);
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_EQ(overview.gpu().idle_cause(), "input");
  EXPECT_EQ(overview.gpu().idle_cause_ns(), 40 * kMs);
  EXPECT_THAT(Render(overview, Format::kText, {}, 0),
              HasSubstr("40.0 ms of this time input (the launching thread waited for data)"));
}

TEST(OverviewGpu, BetweenCapturesIdleTimeHasNoCause) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Capture(0, 20 * kMs).Capture(80 * kMs, 100 * kMs);
  builder.Thread(5, "main")
      .Call("cudaLaunchKernel", 14 * kMs, 15 * kMs, 1)
      .Call("cudaLaunchKernel", 81 * kMs, 82 * kMs, 2);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, kMs, 2 * kMs)
      .Kernel(kernel, 16 * kMs, 18 * kMs, 1)
      .Kernel(kernel, 82 * kMs, 90 * kMs, 2);
  const Trace trace = MakeTrace({&builder});
  ExpectTheCauseOfIdle(trace);
  const auto idle = RunPass<results::Idle>("idle", trace);
  EXPECT_EQ(idle.devices(0).idle_ns(), 14 * kMs);
  EXPECT_EQ(idle.devices(0).gap_count(), 1u);
}

TEST(OverviewGpu, SaysHowBusyItWasWithWhatAndWhyNot) {
  ProcessBuilder builder(5);
  MakeBusy(&builder);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  ASSERT_TRUE(overview.has_gpu());
  const results::OverviewGpu& gpu = overview.gpu();
  EXPECT_EQ(gpu.device_count(), 1u);
  EXPECT_EQ(gpu.window_ns(), 80 * kMs);
  EXPECT_EQ(gpu.busy_ns(), 31 * kMs);
  EXPECT_DOUBLE_EQ(gpu.busy_ratio(), 31.0 / 80);
  EXPECT_EQ(gpu.idle_ns(), 49 * kMs);
  EXPECT_EQ(gpu.idle_cause(), "host");
  EXPECT_EQ(gpu.idle_cause_ns(), (18 + 19) * kMs);
  EXPECT_EQ(gpu.kernel_count(), 3u);
  EXPECT_EQ(gpu.kernel_ns(), 28 * kMs);
  ASSERT_EQ(gpu.top_kernels_size(), 2);
  EXPECT_EQ(gpu.top_kernels(0).name(), "large");
  EXPECT_EQ(gpu.top_kernels(0).total_ns(), 18 * kMs);
  EXPECT_EQ(gpu.copy_count(), 2u);
  EXPECT_EQ(gpu.copy_bytes(), 5000u);
  EXPECT_EQ(gpu.copy_ns(), 6 * kMs);
  EXPECT_EQ(gpu.exposed_copy_ns(), 3 * kMs);
  EXPECT_EQ(gpu.memory_peak_bytes(), 900u);
  EXPECT_EQ(gpu.memory_peak_time_ns(), 3 * kMs);
  EXPECT_EQ(gpu.memory_device(), "device 0");
  EXPECT_EQ(gpu.memory_pid(), 5);
  EXPECT_FALSE(gpu.has_memory_peak_ratio()) << "its capacity was not told";
  const std::string text = Render(overview, Format::kText, {}, 200);
  EXPECT_THAT(text, HasSubstr("of the 80.0 ms from the first work to the last; idle 49.0 ms"));
  EXPECT_THAT(
      text, HasSubstr("37.0 ms of this time host late (the host had not launched the next work)"));
  EXPECT_THAT(text, HasSubstr("3 kernels in 28.0 ms; 2 copies and memsets"));
  EXPECT_THAT(text, HasSubstr("memory: peak 900 B on device 0 of pid 5"));
}

// Nothing is advised where the GPU may have worked: on what was launched before the capture.
TEST(OverviewGpu, WhereWorkMayBeMissingIdleTimeIsNoFinding) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Capture(0, 100 * kMs);
  builder.process().captures[0].cuda_had_begun = true;
  builder.Thread(5)
      .Call("cudaMemcpyAsync", 0, kMs, 1)
      .Call("cudaLaunchKernel", 1 * kMs, 2 * kMs, 2);
  builder.Stream(0, 1, 13).Copy(kHtoD, kPinned, kDevice, 4000, 1 * kMs, 2 * kMs, 1);
  builder.Stream(0, 1, 7).Kernel(kernel, 80 * kMs, 100 * kMs, 2);
  const Trace trace = MakeTrace({&builder});
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_EQ(overview.gpu().idle_ns(), 78 * kMs);
  EXPECT_EQ(overview.gpu().idle_unseen_ns(), 78 * kMs);
  EXPECT_EQ(overview.gpu().idle_cause(), "unexplained");
  EXPECT_EQ(IdleRule(overview), nullptr);
  ExpectTheCauseOfIdle(trace);
  EXPECT_THAT(Render(overview, Format::kText, {}, 200),
              HasSubstr("idle 78.0 ms (78.0 ms may hold work that is not recorded)"));

  builder.process().captures[0].cuda_had_begun = false;
  const auto whole = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_FALSE(whole.gpu().has_idle_unseen_ns());
  EXPECT_NE(IdleRule(whole), nullptr);
}

// Two devices of one process, and a third of another process: each name has one row.
TEST(OverviewGpu, AKernelOfSeveralDevicesHasOneRow) {
  ProcessBuilder builder(5), other(6);
  for (const uint32_t device : {0u, 1u}) {
    const uint32_t shared = builder.Signature("shared", 1 + device, 32);
    builder.Stream(device, 1 + device, 7)
        .Kernel(shared, 0, 10 * kMs)
        .Kernel(shared, 20 * kMs, (24 + device * 6) * kMs);
  }
  builder.Stream(0, 1, 8).Kernel(builder.Signature("single", 1, 32), 40 * kMs, 65 * kMs);
  other.Stream(0, 1, 7).Kernel(other.Signature("shared", 1, 32), 0, 6 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder, &other}));
  const auto& kernels = overview.gpu().top_kernels();
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(kernels[0].name(), "shared");
  EXPECT_EQ(kernels[0].count(), 5u);
  EXPECT_EQ(kernels[0].total_ns(), (14 + 20 + 6) * kMs);
  EXPECT_DOUBLE_EQ(kernels[0].total_ratio(), 40.0 / 65);
  EXPECT_EQ(kernels[0].mean_ns(), 8 * kMs);
  EXPECT_EQ(kernels[0].min_ns(), 4 * kMs);
  EXPECT_EQ(kernels[0].max_ns(), 10 * kMs);
  EXPECT_EQ(kernels[0].device_count(), 3u);
  EXPECT_EQ(kernels[0].device(), 1u) << "most of its time";
  EXPECT_FALSE(kernels[0].has_median_ns());
  EXPECT_EQ(kernels[1].name(), "single");
  EXPECT_EQ(kernels[1].device_count(), 1u);
  EXPECT_TRUE(kernels[1].has_median_ns());
  EXPECT_THAT(Render(overview, Format::kText, {}, 200),
              testing::ContainsRegex("shared +5 +40.0 ms +61.5 % +8.00 ms +3"));
}

TEST(OverviewGpu, AtMostSoManyKernelsByTime) {
  ProcessBuilder builder(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  for (int i = 1; i <= 8; ++i) {
    const uint32_t kernel = builder.Signature("k" + std::to_string(i), 1, 32);
    stream.Kernel(kernel, i * 10 * kMs, (i * 10 + i) * kMs);
  }
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  ASSERT_EQ(overview.gpu().top_kernels_size(), 5);
  EXPECT_EQ(overview.gpu().top_kernels(0).name(), "k8");
  EXPECT_EQ(overview.gpu().top_kernels(4).name(), "k4");
  EXPECT_EQ(overview.gpu().kernel_count(), 8u);
  EXPECT_FALSE(overview.gpu().has_memory_peak_bytes()) << "nothing was allocated";
}

TEST(OverviewGpu, IsAbsentWhereNothingRanOnOne) {
  ProcessBuilder builder(5);
  builder.Thread(5, "main").Call("cudaGetDeviceCount", 0, kMs, 1);
  builder.Stream(0, 1, 7).Sync(3, 0, kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_FALSE(overview.has_gpu());
  EXPECT_EQ(IdleRule(overview), nullptr);
  EXPECT_THAT(Render(overview, Format::kText, {}, 200), Not(HasSubstr("GPU")));
  EXPECT_THAT(Render(overview, Format::kJson, {}, 200), HasSubstr("\"gpu\": null"));
}

TEST(OverviewGpu, OnlyAllocatingIsNoIdleTime) {
  ProcessBuilder builder(5);
  builder.Stream(0, 1, 7).Allocate(kMs, 0x1000, 600).Release(2 * kMs, 0x1000, 600);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  ASSERT_TRUE(overview.has_gpu());
  EXPECT_EQ(overview.gpu().memory_peak_bytes(), 600u);
  EXPECT_THAT(Render(overview, Format::kText, {}, 200), Not(HasSubstr("0 kernels")));
  EXPECT_FALSE(overview.gpu().has_window_ns());
  EXPECT_FALSE(overview.gpu().has_busy_ratio());
  EXPECT_EQ(IdleRule(overview), nullptr);
}

// Busy time is of the recorded part alone: it says nothing then.
TEST(OverviewGpu, OfAPartOfTheActivityNoIdleTimeIsTold) {
  ProcessBuilder builder(5);
  MakeBusy(&builder);
  proto::GpuRate* rate = builder.process().health.add_gpu_rate();
  rate->set_records(10);
  rate->set_left_out(5);
  rate->set_most_one_in(2);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  ASSERT_TRUE(overview.has_gpu());
  EXPECT_EQ(overview.gpu().kernel_count(), 3u);
  EXPECT_FALSE(overview.gpu().has_busy_ratio());
  EXPECT_FALSE(overview.gpu().has_exposed_copy_ns());
  EXPECT_EQ(IdleRule(overview), nullptr);
  EXPECT_EQ(overview.meta().confidence().level(), results::LEVEL_MEDIUM);
}

TEST(OverviewGpu, IdleGpusAreFoundWithTheirMainCause) {
  ProcessBuilder builder(5);
  MakeBusy(&builder);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  const results::Finding* finding = IdleRule(overview);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_HIGH);
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_HIGH);
  ASSERT_EQ(finding->evidence_size(), 2);
  EXPECT_THAT(finding->evidence(0), HasSubstr("49.0 ms of 80.0 ms"));
  EXPECT_THAT(finding->evidence(1),
              HasSubstr("For 37.0 ms of this time, the host had not launched the next work."));
  EXPECT_FALSE(finding->has_gain());
}

TEST(OverviewGpu, BusyGpusAndBriefUseAreNoFinding) {
  ProcessBuilder busy(5);
  const uint32_t kernel = busy.Signature("k", 1, 32);
  busy.Stream(0, 1, 7).Kernel(kernel, 0, 45 * kMs).Kernel(kernel, 50 * kMs, 100 * kMs);
  EXPECT_EQ(IdleRule(RunPass<results::Overview>("overview", MakeTrace({&busy}))), nullptr);
  // Idle for most of 10 ms, in a run of a second.
  ProcessBuilder brief(5);
  const uint32_t other = brief.Signature("k", 1, 32);
  brief.Thread(5, "main").Op("op", 0, 1000 * kMs);
  brief.Stream(0, 1, 7).Kernel(other, 0, kMs).Kernel(other, 9 * kMs, 10 * kMs);
  EXPECT_EQ(IdleRule(RunPass<results::Overview>("overview", MakeTrace({&brief}))), nullptr);
}

}  // namespace
}  // namespace gpuprof::analysis::test
