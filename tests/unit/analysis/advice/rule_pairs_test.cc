// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pairs of programs that differ in one thing: on the first a rule must fire, on the second it must
// not. For rules that no other test of this folder tries both ways; tests/checks/rule_programs.py
// looks that each rule has both.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/record.h"
#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::Not;

constexpr const char* kProduct = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn";
constexpr const char* kFp32Product = "ampere_sgemm_128x64_tn";
constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>";

// A rule, and a program on which it fires if `fires`.
struct RulePair {
  const char* id;
  Trace (*make)(bool fires);
};

// Ten steps of a thread of the host, without a device.
template <typename Body>
Trace HostLoop(const Body& body, uint32_t cores = 4) {
  ProcessBuilder builder(5);
  builder.process().cores = cores;
  TrackBuilder& thread = builder.Thread(5);
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t at = i * 100 * kMs;
    thread.User("step " + std::to_string(i), at, at + 100 * kMs);
    body(&builder, &thread, at);
  }
  return MakeTrace({&builder});
}

Trace Kernels(const char* name) {
  return FiveSteps([=](LoopMaker& loop) {
    for (int i = 0; i < 20; ++i) loop.Kernel(name, 490);
  });
}

Trace Collectives(bool fires) {
  return FiveSteps([=](LoopMaker& loop) {
    for (int i = 0; i < 4; ++i) {
      loop.UseStream(7);
      loop.Kernel(kProduct, 1000);
      if (!fires) loop.UseStream(8);
      loop.Kernel(kReduce, 800);
    }
    loop.UseStream(7);
    loop.Kernel(kProduct, 1000);
  });
}

Trace FullQueue(bool fires) {
  LoopMaker loop;
  for (int i = 0; i < 5; ++i) {
    loop.BeginStep();
    for (int k = 0; k < 2000; ++k) {
      loop.Kernel(kProduct, 100, fires && (i != 0 || k >= 1024) ? 100 : 5);
      if (!fires && k % 500 == 0) loop.Synchronize();
    }
  }
  return loop.Build();
}

Trace ColdStart(bool fires) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature(kProduct, 1, 32);
  builder.Thread(5)
      .Call("cudaFree", 0, (fires ? 900 : 1) * kMs, 1)
      .Call("cudaLaunchKernel", 960 * kMs, 961 * kMs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 10 * kMs, 950 * kMs)
      .Kernel(kernel, 981 * kMs, 990 * kMs, 3);
  return MakeTrace({&builder});
}

Trace WithoutOperations(bool fires) {
  return HostLoop([=](ProcessBuilder*, TrackBuilder* thread, int64_t at) {
    thread->Op("aten::mm", at, at + (fires ? 50 : 95) * kMs);
  });
}

Trace OptimizerInPython(bool fires) {
  return HostLoop([=](ProcessBuilder*, TrackBuilder* thread, int64_t at) {
    thread->Op("aten::mm", at, at + 60 * kMs);
    thread->Optimizer(at + 60 * kMs, at + 100 * kMs);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t begin = at + (60 + i * 4) * kMs;
      thread->Op("aten::add_", begin, begin + (fires ? 1000 : 3990) * kUs);
    }
  });
}

Trace Heap(bool fires) {
  return HostLoop([=](ProcessBuilder*, TrackBuilder* thread, int64_t at) {
    thread->Op("aten::mm", at, at + 95 * kMs);
    const auto block = static_cast<uint64_t>(at) + 0x1000;
    // A block that lives for long is no churn, whatever its size.
    thread->Alloc(at + kMs, block, uint64_t{128} << 20);
    thread->Free(at + (fires ? 3 : 60) * kMs, block);
  });
}

Trace StepsOfLength(bool fires) {
  ProcessBuilder builder(5);
  TrackBuilder& thread = builder.Thread(5);
  int64_t at = 0;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t length = (fires && i % 5 == 4 ? 300 : 100) * kMs;
    thread.User("step " + std::to_string(i), at, at + length);
    thread.Op("aten::mm", at, at + length - kMs);
    at += length;
  }
  return MakeTrace({&builder});
}

Trace WaitsInSteps(proto::WaitKind kind, int64_t length) {
  return HostLoop([=](ProcessBuilder*, TrackBuilder* thread, int64_t at) {
    thread->Op("aten::mm", at, at + 50 * kMs);
    thread->Wait(kind, 0x10, 0x20, at + 50 * kMs, at + 50 * kMs + length);
    thread->Op("aten::mm", at + 50 * kMs + length, at + 100 * kMs);
  });
}

Trace LocksInSteps(bool fires) {
  return WaitsInSteps(proto::WaitKind::kMutex, fires ? 20 * kMs : kMs);
}

Trace SleepsInSteps(bool fires) {
  return WaitsInSteps(proto::WaitKind::kSleep, fires ? 20 * kMs : kMs);
}

Trace LocksInRun(bool fires) {
  ProcessBuilder builder(5);
  builder.Thread(5).Wait(proto::WaitKind::kMutex, 0x10, 0x20, 0, fires ? 60 * kMs : kMs);
  builder.Thread(6).Wait(proto::WaitKind::kCondition, 0x30, 0x40, 0, 100 * kMs);
  return MakeTrace({&builder});
}

// Two threads hold what the other one waits for; or one goes on.
Trace CircleOfLocks(bool fires) {
  ProcessBuilder builder(5);
  builder.Capture(0, 5000 * kMs);
  builder.Thread(5).Wait(proto::WaitKind::kMutex, 0x10, 0x20, 1000 * kMs, 5000 * kMs,
                         proto::kFlagIncomplete, 0, 6);
  builder.Thread(6).Wait(proto::WaitKind::kMutex, 0x30, 0x40, 1000 * kMs, 5000 * kMs,
                         proto::kFlagIncomplete, 0, fires ? 5 : 7);
  return MakeTrace({&builder});
}

Trace Account(bool fires) {
  ProcessBuilder builder(5);
  builder.Thread(5).Sample(0, 0).Sample((fires ? 2000 : 300) * kMs, 200 * kMs);
  return MakeTrace({&builder});
}

Trace Processors(bool fires) {
  return HostLoop(
      [=](ProcessBuilder*, TrackBuilder* thread, int64_t at) {
        thread->Op("aten::mm", at, at + 95 * kMs);
        if (at == 0) thread->Sample(0, 0).Sample(1200 * kMs, 700 * kMs, (fires ? 300 : 10) * kMs);
      },
      2);
}

constexpr RulePair kPairs[] = {
    {"CO-001", Collectives},
    {"GP-006", [](bool fires) { return Kernels(fires ? kFp32Product : kProduct); }},
    {"HO-001", WithoutOperations},
    {"LA-004", FullQueue},
    {"LA-008", [](bool fires) { return Kernels(fires ? kAdd : kProduct); }},
    {"ME-006", Heap},
    {"OP-001", OptimizerInPython},
    {"RU-001", Account},
    {"ST-002", StepsOfLength},
    {"ST-008", ColdStart},
    {"SY-004", LocksInSteps},
    {"SY-005", LocksInRun},
    {"SY-006", CircleOfLocks},
    {"SY-007", SleepsInSteps},
    {"TH-001", Processors},
};

class RulePairs : public testing::TestWithParam<RulePair> {};

TEST_P(RulePairs, FiresOnOneAndNotOnTheOther) {
  EXPECT_THAT(Ids(Advise(GetParam().make(true))), Contains(GetParam().id));
  EXPECT_THAT(Ids(Advise(GetParam().make(false))), Not(Contains(GetParam().id)));
}

INSTANTIATE_TEST_SUITE_P(, RulePairs, testing::ValuesIn(kPairs), [](const auto& pair) {
  std::string name = pair.param.id;
  name.erase(2, 1);
  return name;
});

}  // namespace
}  // namespace gpuprof::analysis::test
