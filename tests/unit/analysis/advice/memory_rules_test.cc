// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint32_t kCuda0 = 1u << 8;
const char* const kProduct = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel";

// Makes ten steps on a device of 80 GiB. The framework tells what it has allocated and reserved:
// at first, then more in each step.
Trace StepsOfTensors(uint64_t allocated, uint64_t reserved, uint64_t growth = 0,
                     int falls_at = -1) {
  LoopMaker loop;
  loop.DescribeDevice();
  for (uint64_t step = 0; step < 10; ++step) {
    loop.BeginStep();
    const uint64_t now = allocated + growth * (static_cast<int>(step) == falls_at ? 0 : step);
    loop.thread().Tensor(loop.now() * kUs, 0x1000, 512, kCuda0, 1, now, reserved);
    loop.Kernel(kProduct, 1000);
    loop.thread().Tensor(loop.now() * kUs, 0x2000, 512, kCuda0, 1, now + 512, reserved);
    loop.thread().Tensor(loop.now() * kUs + 1, 0x2000, -512, kCuda0, 1, now, reserved);
    loop.Synchronize();
  }
  return loop.Build();
}

TEST(MemoryRules, NearTheLimit) {
  const results::Advice advice = Advise(StepsOfTensors(76 * kGiB, 77 * kGiB));
  const results::Finding* finding = Find(advice, "ME-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_MEDIUM);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("At most 76.0 GiB of 80.0 GiB (95.0 %)"));
  const results::Advice full = Advise(StepsOfTensors(78 * kGiB, 79 * kGiB));
  ASSERT_NE(Find(full, "ME-001"), nullptr);
  EXPECT_EQ(Find(full, "ME-001")->severity(), results::SEVERITY_HIGH);
  // The allocator keeps much, but tensors need little.
  EXPECT_THAT(Ids(Advise(StepsOfTensors(68 * kGiB, 79 * kGiB))), Not(Contains("ME-001")));
}

TEST(MemoryRules, Fragmentation) {
  const results::Advice advice = Advise(StepsOfTensors(45 * kGiB, 60 * kGiB));
  const results::Finding* finding = Find(advice, "ME-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("45.0 GiB of 60.0 GiB reserved: 25.0 %"));
  EXPECT_THAT(Ids(Advise(StepsOfTensors(50 * kGiB, 60 * kGiB))), Not(Contains("ME-003")));
  EXPECT_THAT(Ids(Advise(StepsOfTensors(15 * kGiB, 30 * kGiB))), Not(Contains("ME-003")))
      << "the device has much room";
}

TEST(MemoryRules, MemoryThatGrows) {
  constexpr uint64_t kEach = 64 << 20;
  const results::Advice advice = Advise(StepsOfTensors(10 * kGiB, 30 * kGiB, kEach));
  const results::Finding* finding = Find(advice, "ME-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("from 10.0 GiB to 10.5 GiB in 9 steps (tensors): 64.0 MiB a step"));
  // 69.5 GiB are left.
  EXPECT_THAT(WordsOf(*finding), HasSubstr("full after 1,112 more steps"));
  EXPECT_THAT(Ids(Advise(StepsOfTensors(10 * kGiB, 30 * kGiB, kEach, 6))), Not(Contains("ME-004")))
      << "it falls once";
  EXPECT_THAT(Ids(Advise(StepsOfTensors(10 * kGiB, 30 * kGiB, 4 << 20))), Not(Contains("ME-004")))
      << "half a percent in 100 steps";
}

// The same with allocations through CUDA that nothing releases.
TEST(MemoryRules, AllocationsThatAreNotReleased) {
  const auto make = [](bool is_released) {
    LoopMaker loop;
    loop.DescribeDevice();
    for (uint64_t step = 0; step < 10; ++step) {
      loop.BeginStep();
      const uint64_t address = 0x1000 + step;
      loop.stream(7).Allocate(loop.now() * kUs, address, 64 << 20);
      loop.Kernel(kProduct, 1000);
      if (is_released) loop.stream(7).Release(loop.now() * kUs, address, 64 << 20);
      loop.Synchronize();
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(false));
  ASSERT_NE(Find(advice, "ME-004"), nullptr);
  EXPECT_THAT(WordsOf(*Find(advice, "ME-004")), HasSubstr("(allocations through CUDA): 64.0 MiB"));
  EXPECT_THAT(Ids(Advise(make(true))), Not(Contains("ME-004")));
}

TEST(MemoryRules, StepsThatAllocate) {
  const auto make = [](bool in_each) {
    LoopMaker loop;
    for (int step = 0; step < 10; ++step) {
      loop.BeginStep();
      // The host is far ahead: the calls cost nothing.
      if (in_each || step == 4) loop.Call("cudaMallocHost", 3);
      for (int i = 0; i < 5; ++i) loop.Kernel(kProduct, 1000);
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(true));
  const results::Finding* finding = Find(advice, "ME-005");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_INFO);
  EXPECT_FALSE(finding->has_gain());
  EXPECT_THAT(Ids(Advise(make(false))), Not(Contains("ME-005")));
}

// Gives the device of a trace readings of NVML, one each 100 us.
struct Readings {
  uint64_t mhz, reasons, used_bytes;
};
Trace WithReadings(Trace trace, const Readings& readings) {
  proto::Device& device = trace.processes[0].devices.front();
  device.set_uuid(std::string(16, '\xf0'));
  device.set_core_clock_khz(1'980'000);
  Process& sampler = trace.samplers.emplace_back();
  sampler.is_sampler = true;
  sampler.host = trace.processes[0].host;
  sampler.sampled_devices[1].set_uuid("GPU-f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0");
  const auto counter = [&](uint32_t id, const char* name, const char* unit) {
    proto::Counter& made = sampler.counters[id];
    made.set_id(id);
    made.set_name(name);
    made.set_unit(unit);
    made.set_source("nvml");
  };
  counter(1, "sm_clock", "MHz");
  counter(2, "clocks_event_reasons", "mask");
  counter(3, "memory_used", "bytes");
  Track& track = sampler.tracks.emplace_back();
  track.id = 1;
  for (int64_t time = 0; time < 100 * kMs; time += 100 * kUs) {
    const uint64_t values[] = {readings.mhz, readings.reasons, readings.used_bytes};
    for (uint32_t id = 1; id <= 3; ++id) {
      track.counter.time_ns.push_back(time);
      track.counter.counter.push_back(id);
      track.counter.value.push_back(static_cast<int64_t>(values[id - 1]));
    }
  }
  return trace;
}

TEST(MemoryRules, LowClocks) {
  constexpr uint64_t kPowerCap = 0x4, kIdle = 0x1;
  const auto make = [](uint64_t mhz, uint64_t reasons) {
    return WithReadings(StepsOfTensors(kGiB, kGiB), {mhz, reasons, 2 * kGiB});
  };
  const results::Advice advice = Advise(make(1386, kPowerCap));
  const results::Finding* finding = Find(advice, "GP-013");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1,386 MHz in the mean, of 1,980 MHz (30.0 % less)"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("sw_power_cap 100.0 %"));
  EXPECT_NEAR(finding->gain().high_ratio(), 0.3, 0.02);
  EXPECT_THAT(Ids(Advise(make(1800, kPowerCap))), Not(Contains("GP-013")));
  EXPECT_THAT(Ids(Advise(make(1386, kIdle))), Not(Contains("GP-013"))) << "nobody asked for more";
}

// A GPU that waits for the host, and has memory.
TEST(MemoryRules, RoomForLargerBatches) {
  const auto make = [](uint64_t used, int64_t host_us) {
    LoopMaker loop;
    loop.DescribeDevice();
    for (int step = 0; step < 5; ++step) {
      loop.BeginStep();
      for (int i = 0; i < 5; ++i) {
        loop.Host(host_us);
        loop.Kernel(kProduct, 100);
      }
      loop.Synchronize();
    }
    return WithReadings(loop.Build(), {1980, 0, used});
  };
  const results::Advice advice = Advise(make(20 * kGiB, 300));
  const results::Finding* finding = Find(advice, "ME-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("At most 20.0 GiB of 80.0 GiB (25.0 %), as NVML read it"));
  EXPECT_THAT(Ids(Advise(make(60 * kGiB, 300))), Not(Contains("ME-002")));
  EXPECT_THAT(Ids(Advise(make(20 * kGiB, 0))), Not(Contains("ME-002"))) << "the GPU is busy";
}

TEST(MemoryRules, SharedGpus) {
  const auto process = [](int32_t pid, char uuid) {
    ProcessBuilder builder(pid);
    proto::Device& device = builder.process().devices.emplace_back();
    device.set_uuid(std::string(16, uuid));
    builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1024, 128), 0, 10 * kMs);
    return builder;
  };
  ProcessBuilder first = process(5, '\x01'), second = process(6, '\x01'),
                 other = process(7, '\x02');
  const results::Advice advice = Advise(MakeTrace({&first, &second}));
  ASSERT_NE(Find(advice, "GP-016"), nullptr);
  EXPECT_THAT(WordsOf(*Find(advice, "GP-016")), HasSubstr("1 of 1 GPUs"));
  EXPECT_THAT(Ids(Advise(MakeTrace({&first, &other}))), Not(Contains("GP-016")));
  other.process().devices.front().set_is_mig(true);
  EXPECT_THAT(Ids(Advise(MakeTrace({&other}))), Contains("GP-016"));
}

}  // namespace
}  // namespace gpuprof::analysis::test
