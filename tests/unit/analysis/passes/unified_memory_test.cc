// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// unified_memory on a trace whose figures can be told by hand.

#include <gtest/gtest.h>

#include "analysis/passes/passes.h"
#include "proto/results/unified_memory.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr uint32_t kHtoD = 1, kDtoH = 2, kCpuFault = 3, kGpuFault = 4, kThrashing = 5, kDtoD = 8;
constexpr uint32_t kUser = 1, kCoherence = 2, kRead = 1;
constexpr uint64_t kHere = 0x7f0000200000, kThere = 0x7f0000400000;

struct Managed {
  Managed() : builder(5) {
    builder.Stream(kNoCudaId, kNoCudaId, kNoCudaId)
        .UnifiedMemory(kCpuFault, 0x401000, kThere, kMs, kMs)
        .UnifiedMemory(kGpuFault, 12, kHere, 2 * kMs, 2 * kMs + 30 * kUs, 1, 0, kRead)
        .UnifiedMemory(kHtoD, 1000, kHere, 3 * kMs, 4 * kMs, 0, 1, kCoherence)
        .UnifiedMemory(kHtoD, 3000, kHere, 4 * kMs, 7 * kMs, 0, 0, kCoherence)
        .UnifiedMemory(kHtoD, 500, kThere, 7 * kMs, 8 * kMs, 0, 1, kUser)
        .UnifiedMemory(kDtoH, 200, kHere, 8 * kMs, 9 * kMs, 1, 0, 99)
        .UnifiedMemory(kDtoD, 64, kThere, 9 * kMs, 9 * kMs + kUs, 0, 1, kUser)
        .UnifiedMemory(kThrashing, 4096, kHere, 10 * kMs, 10 * kMs, 3)
        .UnifiedMemory(77, 5, 0, 11 * kMs, 11 * kMs);
  }
  results::UnifiedMemory By(const std::string& by) {
    PassOptions options;
    options.by = by;
    return RunPass<results::UnifiedMemory>("unified_memory", MakeTrace({&builder}), options);
  }
  ProcessBuilder builder;
};

const results::UnifiedMemoryUse* Find(const results::UnifiedMemory& result, const std::string& name,
                                      const std::string& cause) {
  for (const results::UnifiedMemoryUse& use : result.uses()) {
    if (use.name() == name && use.cause() == cause) return &use;
  }
  return nullptr;
}

TEST(UnifiedMemoryPass, ByKindAndCause) {
  const auto result = Managed().By("");
  EXPECT_EQ(result.by(), "kind");
  EXPECT_EQ(result.count(), 9u);
  EXPECT_EQ(result.htod_bytes(), 4500u);
  EXPECT_EQ(result.dtoh_bytes(), 200u);
  EXPECT_EQ(result.dtod_bytes(), 64u);
  EXPECT_EQ(result.cpu_page_fault_count(), 1u);
  EXPECT_EQ(result.gpu_page_fault_count(), 1u);
  EXPECT_EQ(result.thrashing_count(), 1u);
  ASSERT_EQ(result.uses_size(), 8);
  EXPECT_EQ(result.uses(0).name(), "HtoD");
  EXPECT_EQ(result.uses(0).cause(), "coherence");
  EXPECT_EQ(result.uses(0).count(), 2u);
  EXPECT_EQ(result.uses(0).bytes(), 4000u);
  EXPECT_EQ(result.uses(0).total_ns(), 4 * kMs);
  EXPECT_EQ(result.uses(0).max_ns(), 3 * kMs);
  EXPECT_DOUBLE_EQ(result.uses(0).bytes_per_second(), 1e6);
  ASSERT_NE(Find(result, "HtoD", "user"), nullptr);
  ASSERT_NE(Find(result, "DtoH", ""), nullptr) << "a cause that is not known";
  const results::UnifiedMemoryUse* fault = Find(result, "cpu_page_fault", "");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->bytes(), 0u) << "the value is a program counter";
  ASSERT_NE(Find(result, "gpu_page_fault", "read"), nullptr);
  EXPECT_EQ(Find(result, "thrashing", "")->bytes(), 4096u);
  ASSERT_NE(Find(result, "kind 77", ""), nullptr);
}

TEST(UnifiedMemoryPass, ByDevice) {
  const auto result = Managed().By("device");
  std::vector<std::string> found;
  for (const results::UnifiedMemoryUse& use : result.uses()) {
    const std::string device = use.has_device() ? std::to_string(use.device()) : "-";
    found.push_back(use.name() + " " + device + " " + std::to_string(use.count()));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"HtoD 0 1", "HtoD 1 2", "DtoH 1 1",
                                             "gpu_page_fault 1 1", "DtoD 1 1", "cpu_page_fault - 1",
                                             "thrashing - 1", "kind 77 - 1"}));
}

TEST(UnifiedMemoryPass, AddressesByWhatWasMovedThere) {
  const auto result = Managed().By("kind");
  ASSERT_EQ(result.places_size(), 2) << "no address is none";
  EXPECT_EQ(result.places(0).address(), kHere);
  EXPECT_EQ(result.places(0).migration_count(), 3u);
  EXPECT_EQ(result.places(0).bytes(), 4200u);
  EXPECT_EQ(result.places(0).gpu_page_fault_count(), 1u);
  EXPECT_EQ(result.places(1).address(), kThere);
  EXPECT_EQ(result.places(1).bytes(), 564u);
  EXPECT_EQ(result.places(1).cpu_page_fault_count(), 1u);
}

TEST(UnifiedMemoryPass, ManyAddressesAreCutToTheFirst) {
  ProcessBuilder builder(5);
  TrackBuilder& track = builder.Stream(kNoCudaId, kNoCudaId, kNoCudaId);
  for (uint64_t i = 1; i <= 30; ++i)
    track.UnifiedMemory(kHtoD, i, i << 21, static_cast<int64_t>(i) * kMs,
                        static_cast<int64_t>(i) * kMs + kUs);
  const auto result = RunPass<results::UnifiedMemory>("unified_memory", MakeTrace({&builder}));
  ASSERT_EQ(result.places_size(), 10);
  EXPECT_EQ(result.places(0).bytes(), 30u);
  EXPECT_EQ(result.places(9).bytes(), 21u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
