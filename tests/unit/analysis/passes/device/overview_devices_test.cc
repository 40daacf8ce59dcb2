// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/overview_devices.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr int64_t kFirstStep = 200 * kMs, kStep = 10 * kMs, kSteps = 20;

// Ten milliseconds a step, half of it a kernel.
Trace StepsOfADevice() {
  ProcessBuilder builder(5);
  builder.Capture(0, 1000 * kMs);
  proto::Device& device = builder.process().devices.emplace_back();
  device.set_name("A GPU");
  device.set_uuid(std::string(16, '\xf0'));
  device.set_memory_bytes(uint64_t{80} << 30);
  device.set_compute_major(9);
  const uint32_t kernel = builder.Signature("k", 132, 128);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t at = kFirstStep + i * kStep;
    const auto id = static_cast<uint32_t>(i + 1);
    thread.Call("cudaLaunchKernel", at + kMs, at + 2 * kMs, id);
    thread.User("step " + std::to_string(i), at, at + kStep);
    stream.Kernel(kernel, at + 2 * kMs, at + 7 * kMs, id);
  }
  return MakeTrace({&builder});
}

// Adds readings: 90 % before and behind the steps, `within` in them.
void AddReadings(uint32_t track_id, bool is_pm, int64_t period, int64_t within, Trace* trace) {
  if (trace->samplers.empty()) trace->samplers.emplace_back();
  Process& sampler = trace->samplers.front();
  sampler.is_sampler = true;
  sampler.host = trace->processes[0].host;
  proto::SampledDevice& device = sampler.sampled_devices[track_id];
  device.set_uuid("GPU-f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0");
  device.set_is_pm(is_pm);
  proto::Counter& counter = sampler.counters[track_id];
  counter.set_name("sm_active");
  counter.set_unit("%");
  counter.set_divisor(10);
  Track& track = sampler.tracks.emplace_back();
  track.id = track_id;
  for (int64_t time = 0; time <= 1000 * kMs; time += period) {
    const bool is_within = time > kFirstStep && time <= kFirstStep + kSteps * kStep;
    track.counter.time_ns.push_back(time);
    track.counter.counter.push_back(track_id);
    track.counter.value.push_back(is_within ? within * 10 : 900);
  }
}

results::Verdict VerdictOf(const Trace& trace) {
  return RunPass<results::Overview>("overview", trace).verdict();
}

TEST(OverviewDevices, ActivityIsThatOfTheSteps) {
  Trace trace = StepsOfADevice();
  AddReadings(1, false, 5 * kMs, 40, &trace);
  EXPECT_DOUBLE_EQ(VerdictOf(trace).sm_active_ratio(), 0.4);
  // PM sampling goes before.
  AddReadings(2, true, kMs, 35, &trace);
  const results::Verdict verdict = VerdictOf(trace);
  EXPECT_DOUBLE_EQ(verdict.sm_active_ratio(), 0.35);
  EXPECT_FALSE(verdict.has_tensor_active_ratio());
}

TEST(OverviewDevices, AReadingThatReachesOutOfTheStepsTellsNothing) {
  Trace trace = StepsOfADevice();
  AddReadings(1, false, 250 * kMs, 40, &trace);
  EXPECT_FALSE(VerdictOf(trace).has_sm_active_ratio());
}

TEST(OverviewDevices, ReadingsOfAnotherDeviceAreNotShown) {
  Trace trace = StepsOfADevice();
  AddReadings(1, false, 5 * kMs, 40, &trace);
  trace.processes[0].devices.front().set_uuid(std::string(16, '\x0f'));
  EXPECT_FALSE(VerdictOf(trace).has_sm_active_ratio());
}

TEST(OverviewDevices, ADeviceOfTwoProcessesIsListedOnce) {
  Trace trace = StepsOfADevice();
  Process copy = trace.processes[0];
  copy.pid = 6;
  trace.processes.push_back(copy);
  auto environment = RunPass<results::Overview>("overview", trace).environment();
  ASSERT_EQ(environment.devices_size(), 1);
  EXPECT_EQ(environment.devices(0).device_count(), 1u);
  EXPECT_EQ(environment.devices(0).name(), "A GPU");
  EXPECT_EQ(environment.devices(0).compute_capability(), "9.0");
  trace.processes[1].devices.front().set_uuid(std::string(16, '\x0f'));
  environment = RunPass<results::Overview>("overview", trace).environment();
  ASSERT_EQ(environment.devices_size(), 1);
  EXPECT_EQ(environment.devices(0).device_count(), 2u);
}

TEST(OverviewDevices, TpusAreCalledSo) {
  ProcessBuilder builder(5);
  builder.process().devices.emplace_back().set_name("TPU v6 Lite");
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, 10 * kMs).Kernel(kernel, 50 * kMs, 60 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  const std::string text = Render(overview, Format::kText, {}, 0);
  EXPECT_EQ(text.find("GPU"), std::string::npos) << text;
  EXPECT_NE(text.find("TPU          TPU v6 Lite\n"), std::string::npos) << text;
  EXPECT_NE(text.find("TPU\n  busy"), std::string::npos) << text;
  ASSERT_GE(overview.findings_size(), 1);
  EXPECT_EQ(overview.findings(0).name(), "The TPU stands idle between pieces of its work");
}

}  // namespace
}  // namespace gpuprof::analysis::test
