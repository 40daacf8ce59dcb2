// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// GPUs that several processes used: each counts once, and was idle when none of them used it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/passes/passes.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/streams.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint32_t kHtoD = 1, kPinned = 2, kDevice = 3;

// '\0': none.
void Describe(ProcessBuilder* builder, uint32_t number, char uuid) {
  proto::Device* device = &builder->process().devices.emplace_back();
  device->set_id(number);
  device->set_uuid(std::string(16, uuid));
}

// A worker whose device 0 has that uuid.
class Worker {
 public:
  Worker(int32_t pid, char uuid) : builder_(pid), kernel_(builder_.Signature("k", 1, 32)) {
    builder_.process().host = "node1";
    Describe(&builder_, 0, uuid);
    builder_.Capture(0, 100 * kMs);
  }
  Worker& Busy(int64_t start_ms, int64_t end_ms, uint32_t correlation = 0) {
    if (stream_ == nullptr) stream_ = &builder_.Stream(0, 1, 7);
    stream_->Kernel(kernel_, start_ms * kMs, end_ms * kMs, correlation);
    return *this;
  }
  ProcessBuilder& builder() { return builder_; }

 private:
  ProcessBuilder builder_;
  uint32_t kernel_;
  TrackBuilder* stream_ = nullptr;
};

results::Overview OverviewOf(const Trace& trace, int32_t pid = 0) {
  PassOptions options;
  options.pid = pid;
  return RunPass<results::Overview>("overview", trace, options);
}

const results::Finding* IdleRule(const results::Overview& overview) {
  for (const results::Finding& finding : overview.findings()) {
    if (finding.id() == "GP-001") return &finding;
  }
  return nullptr;
}

// Each 10 ms on, 10 ms off, and the other in its pauses.
Trace InTurns(char first_uuid, char second_uuid) {
  Worker first(5, first_uuid), second(6, second_uuid);
  for (int64_t ms = 0; ms < 100; ms += 20) {
    first.Busy(ms, ms + 10);
    second.Busy(ms + 10, ms + 20);
  }
  return MakeTrace({&first.builder(), &second.builder()});
}

TEST(SharedGpu, IsBusyWhereProcessesUseItInTurns) {
  const auto overview = OverviewOf(InTurns('\xf0', '\xf0'));
  const results::OverviewGpu& gpu = overview.gpu();
  EXPECT_EQ(gpu.device_count(), 1u);
  EXPECT_EQ(gpu.shared_device_count(), 1u);
  EXPECT_EQ(gpu.untold_device_count(), 0u);
  EXPECT_EQ(gpu.window_ns(), 100 * kMs);
  EXPECT_EQ(gpu.busy_ns(), 100 * kMs);
  EXPECT_DOUBLE_EQ(gpu.busy_ratio(), 1);
  EXPECT_EQ(gpu.idle_ns(), 0);
  EXPECT_EQ(gpu.idle_cause(), "");
  EXPECT_EQ(IdleRule(overview), nullptr);
  const std::string text = Render(overview, Format::kText, {}, 0);
  EXPECT_THAT(text, HasSubstr("busy 100.0 % of the 100 ms from the first work to the last, on a "
                              "device that several processes used\n"));
  EXPECT_THAT(text, Not(HasSubstr("summed over")));
}

TEST(SharedGpu, CountsTimeInWhichTwoUseItOnce) {
  Worker first(5, '\xf0'), second(6, '\xf0');
  first.Busy(0, 30).Busy(60, 70);
  second.Busy(20, 40).Busy(65, 80);
  const auto overview = OverviewOf(MakeTrace({&first.builder(), &second.builder()}));
  EXPECT_EQ(overview.gpu().window_ns(), 80 * kMs);
  EXPECT_EQ(overview.gpu().busy_ns(), 60 * kMs);
  EXPECT_EQ(overview.gpu().idle_ns(), 20 * kMs);
  EXPECT_EQ(overview.gpu().kernel_ns(), 75 * kMs) << "sums of kernels stay sums";
  const results::Finding* finding = IdleRule(overview);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_MEDIUM);
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_HIGH);
  EXPECT_THAT(finding->evidence(0), HasSubstr("20.0 ms of 80.0 ms"));
  EXPECT_THAT(finding->evidence(0), HasSubstr("on a device that several processes used."));
}

// Idle 10-40, which the second's work ends: launched from 35 on.
TEST(SharedGpu, IsIdleForTheReasonOfWhoseWorkEndsTheGap) {
  Worker first(5, '\xf0'), second(6, '\xf0');
  first.builder().Thread(5, "main").Call("cudaLaunchKernel", 55 * kMs, 56 * kMs, 1);
  second.builder().Thread(6, "main").Call("cudaLaunchKernel", 35 * kMs, 38 * kMs, 1);
  first.Busy(0, 10).Busy(60, 70, 1);
  second.Busy(40, 60, 1);
  const auto overview = OverviewOf(MakeTrace({&first.builder(), &second.builder()}));
  EXPECT_EQ(overview.gpu().idle_ns(), 30 * kMs);
  EXPECT_EQ(overview.gpu().idle_cause(), "host");
  EXPECT_EQ(overview.gpu().idle_cause_ns(), 25 * kMs);
}

// Two whose work ends one gap: the one launched first would have ended it alone.
TEST(SharedGpu, OfTwoThatEndAGapTheOneLaunchedFirstCounts) {
  Worker first(5, '\xf0'), second(6, '\xf0');
  first.builder().Thread(5, "main").Call("cudaLaunchKernel", 38 * kMs, 39 * kMs, 2);
  second.builder().Thread(6, "main").Call("cudaLaunchKernel", 2 * kMs, 3 * kMs, 2);
  first.Busy(0, 10).Busy(40, 50, 2);
  second.Busy(40, 50, 2);
  const auto overview = OverviewOf(MakeTrace({&first.builder(), &second.builder()}));
  EXPECT_EQ(overview.gpu().idle_cause(), "dependency");
  EXPECT_EQ(overview.gpu().idle_cause_ns(), 30 * kMs);
}

// The second is recorded from 50 on, the first until 30: of what is between nothing is known.
TEST(SharedGpu, WasNotIdleWhileNoneOfItsProcessesWasRecorded) {
  Worker first(5, '\xf0'), second(6, '\xf0');
  first.builder().process().captures.front().end_ns = 30 * kMs;
  second.builder().process().captures.front().start_ns = 50 * kMs;
  first.Busy(0, 10).Busy(20, 25);
  second.Busy(55, 60).Busy(70, 100);
  const auto apart = OverviewOf(MakeTrace({&first.builder(), &second.builder()}));
  EXPECT_EQ(apart.gpu().window_ns(), 70 * kMs);
  EXPECT_EQ(apart.gpu().idle_ns(), 20 * kMs);
  // Where the first is recorded until the second is, nothing was on the device meanwhile.
  first.builder().process().captures.front().end_ns = 52 * kMs;
  const auto whole = OverviewOf(MakeTrace({&first.builder(), &second.builder()}));
  EXPECT_EQ(whole.gpu().window_ns(), 100 * kMs);
  EXPECT_EQ(whole.gpu().idle_ns(), 50 * kMs);
}

TEST(SharedGpu, DevicesOfTwoUuidsAreTwo) {
  const auto overview = OverviewOf(InTurns('\xf0', '\xf1'));
  const results::OverviewGpu& gpu = overview.gpu();
  EXPECT_EQ(gpu.device_count(), 2u);
  EXPECT_EQ(gpu.shared_device_count(), 0u);
  EXPECT_EQ(gpu.untold_device_count(), 0u);
  EXPECT_EQ(gpu.window_ns(), 180 * kMs);
  EXPECT_EQ(gpu.busy_ns(), 100 * kMs);
  EXPECT_EQ(gpu.idle_ns(), 80 * kMs);
  const results::Finding* finding = IdleRule(overview);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_HIGH);
  EXPECT_THAT(finding->evidence(0), testing::EndsWith("summed over 2 devices."));
}

TEST(SharedGpu, OneUuidOnTwoHostsIsTwo) {
  Trace trace = InTurns('\xf0', '\xf0');
  trace.processes[1].host = "node2";
  EXPECT_EQ(OverviewOf(trace).gpu().device_count(), 2u);
  EXPECT_EQ(OverviewOf(trace).gpu().shared_device_count(), 0u);
}

TEST(SharedGpu, InstancesOfOneWithMigAreTwo) {
  Trace trace = InTurns('\xf0', '\xf0');
  for (uint32_t i = 0; i < 2; ++i) {
    trace.processes[i].devices.front().set_is_mig(true);
    trace.processes[i].devices.front().set_gpu_instance(7 + i);
  }
  EXPECT_EQ(OverviewOf(trace).gpu().device_count(), 2u);
  trace.processes[1].devices.front().set_gpu_instance(7);
  EXPECT_EQ(OverviewOf(trace).gpu().device_count(), 1u);
  trace.processes[1].devices.front().set_compute_instance(1);
  EXPECT_EQ(OverviewOf(trace).gpu().device_count(), 2u);
}

// As CUDA_VISIBLE_DEVICES makes it.
TEST(SharedGpu, HasANumberInEachProcess) {
  Worker first(5, '\xf0');
  ProcessBuilder second(6);
  second.process().host = "node1";
  Describe(&second, 0, '\xf1');
  Describe(&second, 1, '\xf0');
  const uint32_t kernel = second.Signature("k", 1, 32);
  second.Capture(0, 100 * kMs);
  second.Stream(0, 1, 7).Kernel(kernel, 0, 10 * kMs);
  second.Stream(1, 2, 7).Kernel(kernel, 10 * kMs, 20 * kMs);
  first.Busy(0, 10);
  const auto overview = OverviewOf(MakeTrace({&first.builder(), &second}));
  EXPECT_EQ(overview.gpu().device_count(), 2u);
  EXPECT_EQ(overview.gpu().shared_device_count(), 1u);
  EXPECT_EQ(overview.gpu().window_ns(), 30 * kMs);
  EXPECT_EQ(overview.gpu().idle_ns(), 0);
  EXPECT_THAT(Render(overview, Format::kText, {}, 0),
              HasSubstr("summed over 2 devices, 1 of them used by several processes"));
}

TEST(SharedGpu, WithoutUuidsItIsSaidThatTwoMayBeOne) {
  const auto overview = OverviewOf(InTurns('\0', '\0'));
  const results::OverviewGpu& gpu = overview.gpu();
  EXPECT_EQ(gpu.device_count(), 2u);
  EXPECT_EQ(gpu.untold_device_count(), 2u);
  EXPECT_EQ(gpu.shared_device_count(), 0u);
  EXPECT_EQ(gpu.window_ns(), 180 * kMs);
  const std::string words =
      "summed over 2 devices as processes number them (no UUID was recorded for 2: some may be the "
      "same GPU)";
  EXPECT_THAT(Render(overview, Format::kText, {}, 0), HasSubstr(words + "; idle"));
  const results::Finding* finding = IdleRule(overview);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_LOW);
  EXPECT_THAT(finding->confidence().reason(), HasSubstr("does not show which devices"));
  EXPECT_THAT(finding->evidence(0), HasSubstr(words));
  EXPECT_THAT(finding->caveat(),
              HasSubstr("The recording does not show which of these devices are the same GPU"));
}

// A device of which nothing was told at all, beside one that was.
TEST(SharedGpu, OneWithoutAUuidMayBeTheOtherOne) {
  Trace trace = InTurns('\xf0', '\0');
  trace.processes[1].devices.clear();
  const auto overview = OverviewOf(trace);
  EXPECT_EQ(overview.gpu().device_count(), 2u);
  EXPECT_EQ(overview.gpu().untold_device_count(), 1u);
  // On another machine it cannot be.
  trace.processes[1].host = "node2";
  EXPECT_EQ(OverviewOf(trace).gpu().untold_device_count(), 0u);
}

TEST(SharedGpu, DevicesOfOneProcessAreToldByTheirNumbers) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, 10 * kMs);
  builder.Stream(1, 2, 7).Kernel(kernel, 0, 10 * kMs);
  const auto overview = OverviewOf(MakeTrace({&builder}));
  EXPECT_EQ(overview.gpu().device_count(), 2u);
  EXPECT_EQ(overview.gpu().untold_device_count(), 0u);
  EXPECT_THAT(Render(overview, Format::kText, {}, 0), Not(HasSubstr("UUID")));
}

TEST(SharedGpu, WhoWasNotAskedForIsSaid) {
  const auto overview = OverviewOf(InTurns('\xf0', '\xf0'), 5);
  EXPECT_EQ(overview.gpu().device_count(), 1u);
  EXPECT_EQ(overview.gpu().shared_device_count(), 0u);
  EXPECT_EQ(overview.gpu().left_out_process_count(), 1u);
  const results::Finding* finding = IdleRule(overview);
  ASSERT_NE(finding, nullptr) << "of that process's work";
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_LOW);
  EXPECT_THAT(finding->caveat(), HasSubstr("1 other recorded process used the GPU too"));
  EXPECT_EQ(OverviewOf(InTurns('\xf0', '\xf1'), 5).gpu().left_out_process_count(), 0u);
}

// Rows are of processes, and stay so; a note says which are of one device.
TEST(SharedGpu, RowsOfStreamsAreOfProcesses) {
  const auto shared = RunPass<results::Streams>("streams", InTurns('\xf0', '\xf0'));
  ASSERT_EQ(shared.devices_size(), 2);
  EXPECT_EQ(shared.devices(0).idle_unknown_ns(), 40 * kMs);
  EXPECT_THAT(shared.meta().notes(),
              ElementsAre(HasSubstr("one GPU: device 0 of pid 5, device 0 of pid 6; each row")));
  const auto two = RunPass<results::Streams>("streams", InTurns('\xf0', '\xf1'));
  EXPECT_THAT(two.meta().notes(), IsEmpty());
  const auto untold = RunPass<results::Streams>("streams", InTurns('\0', '\0'));
  EXPECT_THAT(untold.meta().notes(),
              ElementsAre(HasSubstr("no UUID was recorded for 2 of 2 devices")));
}

TEST(SharedGpu, KernelsOfTwoProcessesAtOnceKeepItBusyOnce) {
  for (const auto& [uuid, busy_ms] : {std::pair('\xf0', 40), {'\xf1', 50}, {'\0', 50}}) {
    Worker first(5, '\xf0'), second(6, uuid);
    first.Busy(0, 30);
    second.Busy(20, 40);
    const auto kernels =
        RunPass<results::Kernels>("kernels", MakeTrace({&first.builder(), &second.builder()}));
    EXPECT_EQ(kernels.total_ns(), 50 * kMs);
    EXPECT_EQ(kernels.busy_ns(), busy_ms * kMs);
    EXPECT_EQ(kernels.meta().notes_size(), uuid == '\0' ? 1 : 0);
  }
}

TEST(SharedGpu, AKernelOfAnotherProcessHidesACopy) {
  for (const auto& [uuid, exposed_ms] : {std::pair('\xf0', 5), {'\xf1', 30}, {'\0', 30}}) {
    Worker first(5, '\xf0'), second(6, uuid);
    first.builder().Stream(0, 1, 13).Copy(kHtoD, kPinned, kDevice, 1000, 0, 30 * kMs);
    second.Busy(5, 40);
    const Trace trace = MakeTrace({&first.builder(), &second.builder()});
    const auto copies = RunPass<results::Memcpy>("memcpy", trace);
    EXPECT_EQ(copies.exposed_ns(), exposed_ms * kMs);
    EXPECT_EQ(copies.meta().notes_size(), uuid == '\0' ? 1 : 0);
    EXPECT_EQ(OverviewOf(trace).gpu().exposed_copy_ns(), exposed_ms * kMs);
  }
}

// Images of one process are one process.
TEST(SharedGpu, AnExecMakesNoSecondUser) {
  Worker before(5, '\xf0'), after(5, '\xf0');
  before.builder().process().captures.front().end_ns = 20 * kMs;
  after.builder().process().captures.front().start_ns = 30 * kMs;
  before.Busy(0, 10).Busy(12, 20);
  after.Busy(40, 60);
  const auto overview = OverviewOf(MakeTrace({&before.builder(), &after.builder()}));
  EXPECT_EQ(overview.gpu().device_count(), 1u);
  EXPECT_EQ(overview.gpu().shared_device_count(), 0u);
  EXPECT_EQ(overview.gpu().window_ns(), 40 * kMs);
  EXPECT_EQ(overview.gpu().idle_ns(), 2 * kMs);
}

}  // namespace
}  // namespace gpuprof::analysis::test
