// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Verdict and findings of recordings whose truth is known by construction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proto/results/advice.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr const char* kFp32Product = "ampere_sgemm_128x64_tn";
constexpr const char* kFp16Product = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)";
constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)";

// A loop of five steps. Each launches work of `work_us` for each kernel, one each `launch_us`, and
// then waits for the GPU.
struct Loop {
  std::vector<const char*> kernels;
  int64_t work_us = 0;
  int64_t launch_us = 0;
  uint32_t compute_major = 8;
};

Trace Make(const Loop& loop) {
  ProcessBuilder builder(5);
  proto::Device& device = builder.process().devices.emplace_back();
  device.set_id(0);
  device.set_compute_major(loop.compute_major);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  uint32_t id = 0;
  int64_t at = 0, free_at = 0;
  for (int64_t step = 0; step < 5; ++step) {
    const int64_t begin = at;
    for (const char* name : loop.kernels) {
      const uint32_t kernel = builder.Signature(name, 1, 32);
      thread.Op("aten::" + std::to_string(id % 3), at, at + loop.launch_us * kUs);
      at += loop.launch_us * kUs;
      thread.Call("cudaLaunchKernel", at, at + 5 * kUs, ++id);
      at += 5 * kUs;
      const int64_t start = std::max(at + 5 * kUs, free_at);
      free_at = start + loop.work_us * kUs;
      stream.Kernel(kernel, start, free_at, id);
    }
    const int64_t end = std::max(at, free_at) + 5 * kUs;
    thread.Call("cudaDeviceSynchronize", at, end, ++id);
    at = end;
    thread.User("step " + std::to_string(step), begin, at);
  }
  return MakeTrace({&builder});
}

results::Advice Advise(const Trace& trace) {
  return RunPass<results::Advice>("advise", trace, PassOptions());
}

std::vector<std::string> Ids(const results::Advice& advice) {
  std::vector<std::string> ids;
  for (const results::Finding& finding : advice.findings()) ids.push_back(finding.id());
  return ids;
}

const results::Finding& Find(const results::Advice& advice, const std::string& id) {
  for (const results::Finding& finding : advice.findings())
    if (finding.id() == id) return finding;
  ADD_FAILURE() << "no finding " << id;
  return results::Finding::default_instance();
}

TEST(Verdict, AHostThatLaunchesTooLate) {
  const Loop loop = {std::vector<const char*>(20, kFp16Product), 20, 480};
  const results::Advice advice = Advise(Make(loop));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_HOST);
  EXPECT_EQ(advice.verdict().window(), results::STEP_WINDOW_PERIOD);
  EXPECT_GT(advice.verdict().bound_ratio(), 0.9);
  const results::Finding& late = Find(advice, "LA-001");
  EXPECT_EQ(late.severity(), results::SEVERITY_HIGH);
  // 20 kernels of 20 us remain of a step of 9.7 ms.
  EXPECT_NEAR(late.gain().high_ratio(), 0.95, 0.02);
  EXPECT_THAT(Ids(advice), testing::Not(testing::Contains("GP-001"))) << "one finding a mechanism";
}

TEST(Verdict, ProductsWithoutTensorCores) {
  const Loop loop = {std::vector<const char*>(10, kFp32Product), 990, 20};
  const results::Advice advice = Advise(Make(loop));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_COMPUTE);
  EXPECT_THAT(Ids(advice), testing::ElementsAre("GP-006"));
  // Products that are four times as fast.
  EXPECT_NEAR(Find(advice, "GP-006").gain().high_ratio(), 0.75, 0.02);
  Loop old = loop;
  old.compute_major = 6;
  EXPECT_THAT(Ids(Advise(Make(old))), testing::IsEmpty()) << "the device has none";
}

TEST(Verdict, ProductsWithTensorCoresNeedNoAdvice) {
  const Loop loop = {std::vector<const char*>(10, kFp16Product), 990, 20};
  const results::Advice advice = Advise(Make(loop));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_COMPUTE);
  EXPECT_THAT(Ids(advice), testing::IsEmpty());
}

TEST(Verdict, KernelsThatOnlyChangeElements) {
  const Loop loop = {std::vector<const char*>(20, kAdd), 490, 20};
  const results::Advice advice = Advise(Make(loop));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_COMPUTE);
  EXPECT_THAT(Ids(advice), testing::ElementsAre("LA-008"));
}

// The device and the host are equally fast: without kernels, the host alone takes as long.
TEST(Verdict, FusionAlsoRemovesCallsOfTheHost) {
  const Loop even = {std::vector<const char*>(20, kAdd), 500, 495};
  const results::Advice advice = Advise(Make(even));
  int64_t bound = 0;
  for (const results::WhatIf& what_if : advice.verdict().what_ifs())
    if (what_if.subject() == results::WHAT_IF_COMPUTE) bound = what_if.saved_ns();
  const results::Finding& fusion = Find(advice, "LA-008");
  EXPECT_GT(fusion.gain().high_ns(), bound);
  EXPECT_THAT(fusion.caveat(), testing::HasSubstr("fusion also removes calls of the host"));
  const Loop late = {std::vector<const char*>(20, kAdd), 490, 20};
  EXPECT_EQ(Find(Advise(Make(late)), "LA-008").caveat(), "") << "the host does not limit the gain";
}

TEST(Verdict, CollectivesOnTheStreamThatComputes) {
  const Loop loop = {{kFp16Product, kReduce, kReduce, kFp16Product, kReduce}, 1990, 20};
  const results::Advice advice = Advise(Make(loop));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_COLLECTIVES);
  EXPECT_THAT(Ids(advice), testing::ElementsAre("CO-001"));
  EXPECT_NEAR(Find(advice, "CO-001").gain().high_ratio(), 0.6, 0.02);
}

TEST(Verdict, AColdStartHasNothingSteadyToTune) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature(kFp32Product, 1, 32);
  builder.Thread(5)
      .Call("cudaFree", 0, 900 * kMs, 1)
      .Call("cudaMalloc", 900 * kMs, 950 * kMs, 2)
      .Call("cudaLaunchKernel", 960 * kMs, 980 * kMs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 10 * kMs, 11 * kMs)
      .Kernel(kernel, 981 * kMs, 990 * kMs, 3);
  const results::Advice advice = Advise(MakeTrace({&builder}));
  EXPECT_EQ(advice.verdict().bound(), results::BOUND_FIRST_USE);
  EXPECT_EQ(advice.verdict().window(), results::STEP_WINDOW_ALL);
  // From the first call to the end of the last work, as the calls' time is.
  EXPECT_EQ(advice.verdict().step_ns(), 990 * kMs);
  EXPECT_NEAR(advice.verdict().busy_ratio(), 10.0 / 990, 1e-9);
  EXPECT_EQ(Find(advice, "ST-008").evidence(1),
            "The longest: cudaFree 900 ms, cudaMalloc 50.0 ms, cudaLaunchKernel 20.0 ms.");
  EXPECT_THAT(Ids(advice), testing::Not(testing::Contains("LA-001")));
  EXPECT_THAT(Ids(advice), testing::Not(testing::Contains("GP-006")));
}

TEST(Verdict, ASelectionOfRowsTellsNothingAboutTheHost) {
  ProcessBuilder builder(5);
  const uint32_t reduce = builder.Signature(kReduce, 1, 32);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  for (int64_t step = 0; step < 3; ++step)
    thread.User("step " + std::to_string(step), step * 100 * kMs, (step + 1) * 100 * kMs);
  for (int64_t i = 0; i < 120; ++i) {
    const auto id = static_cast<uint32_t>(1 + i * 1000);  // all between are missing
    thread.Call("cudaLaunchKernel", i * 2 * kMs, i * 2 * kMs + kUs, id);
    stream.Kernel(reduce, i * 2 * kMs + 10 * kUs, i * 2 * kMs + 800 * kUs, id);
  }
  const results::Advice advice = Advise(MakeTrace({&builder}));
  EXPECT_TRUE(advice.verdict().is_selection());
  EXPECT_EQ(advice.verdict().confidence().level(), results::LEVEL_LOW);
  EXPECT_THAT(Ids(advice), testing::ElementsAre("CO-001"));
}

TEST(Advise, TellsWhatItCouldNotCheck) {
  ProcessBuilder builder(5);
  builder.Thread(5).Event(0, proto::ThreadEvent::kStart);
  const results::Advice advice = Advise(MakeTrace({&builder}));
  EXPECT_FALSE(advice.has_verdict());
  const auto unchecked = [&](const std::string& id) {
    return std::any_of(advice.not_checked().begin(), advice.not_checked().end(),
                       [&](const auto& rule) { return rule.id() == id; });
  };
  EXPECT_TRUE(unchecked("LA-001"));
  EXPECT_TRUE(unchecked("IN-001"));
  EXPECT_FALSE(unchecked("EN-002"));
}

}  // namespace
}  // namespace gpuprof::analysis::test
