// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/launch_stacks.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "proto/schema.h"
#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {
namespace {

using Recorded = std::vector<std::tuple<uint32_t, uint32_t, const void*>>;
Recorded recorded;

TEST(LaunchStacks, OfEveryFunctionThatLaunches) {
  for (const char* name :
       {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "__cudaLaunchKernel",
        "__cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel_v9000", "cudaGraphLaunch_v10000",
        "cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuLaunchCooperativeKernel", "cuGraphLaunch"})
    EXPECT_TRUE(IsLaunch(name)) << name;
  for (const char* name : {"cudaLaunchHostFunc_v10000", "cudaMemcpyAsync_v3020", "cuMemAlloc_v2",
                           "__cudaPushCallConfiguration", "cudaGraphInstantiate", "", "_"})
    EXPECT_FALSE(IsLaunch(name)) << name;
  EXPECT_FALSE(IsLaunch(nullptr));
}

TEST(LaunchStacks, OncePerLaunchAsItIsEntered) {
  Host host = {};
  host.record_launch = [](uint32_t correlation, uint32_t function, const void* frame) {
    recorded.emplace_back(correlation, function, frame);
  };
  const auto call = [&](uint32_t domain, uint32_t id, uint32_t site, uint32_t correlation) {
    alignas(8) unsigned char data[callback_data::kBytes] = {};
    memcpy(data + callback_data::kSite, &site, sizeof site);
    memcpy(data + callback_data::kCorrelation, &correlation, sizeof correlation);
    OnLaunch(host, domain, id, data, &host);
  };
  call(kRuntimeApi, 211, kApiEnter, 7);
  call(kDriverApi, 307, kApiEnter, 7);  // the driver's part of the same
  call(kDriverApi, 307, 1, 7);
  call(kRuntimeApi, 211, 1, 7);
  call(kDriverApi, 307, kApiEnter, 8);
  call(kDriverApi, 307, kApiEnter, 0);  // no recording that could be joined
  EXPECT_EQ(recorded, (Recorded{{7, proto::ApiFunction(kRuntimeApi, 211), &host},
                                {8, proto::ApiFunction(kDriverApi, 307), &host}}));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
