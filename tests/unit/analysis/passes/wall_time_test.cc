// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using Phases = std::map<results::Phase, int64_t>;  // ms

Phases PhasesOf(ProcessBuilder* builder) {
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({builder}), PassOptions());
  Phases phases;
  double ratio = 0;
  for (const results::PhaseTime& phase : overview.phases()) {
    phases[phase.phase()] = phase.total_ns() / kMs;
    ratio += phase.total_ratio();
  }
  EXPECT_NEAR(ratio, 1.0, 1e-9) << "every nanosecond is in one phase";
  return phases;
}

TEST(WallTime, EachMomentOfALifeHasOnePhase) {
  ProcessBuilder builder(5);
  builder.process().started_ns = -50 * kMs;
  builder.process().ended_ns = 1100 * kMs;
  builder.Capture(0, 1000 * kMs);
  TrackBuilder& thread = builder.Thread(5);
  thread.Call("cudaMalloc", 100 * kMs, 180 * kMs, 1)
      .Call("cuModuleLoadData", 190 * kMs, 200 * kMs, 2)
      .Call("cudaDeviceSynchronize", 200 * kMs, 290 * kMs, 3);  // a wait sets up nothing
  for (int64_t step = 0; step < 5; ++step) {
    const int64_t at = (300 + step * 100) * kMs + (step > 2 ? 50 * kMs : 0);
    thread.User("step " + std::to_string(step), at, at + 100 * kMs);
  }
  thread.Call("cudaMalloc", 420 * kMs, 450 * kMs, 4);  // within a step it is the step's
  EXPECT_EQ(PhasesOf(&builder), (Phases{{results::PHASE_UNRECORDED, 150},
                                        {results::PHASE_BEFORE_STEPS, 210},
                                        {results::PHASE_CUDA_SETUP, 80},
                                        {results::PHASE_COMPILE, 10},
                                        {results::PHASE_STEPS, 500},
                                        {results::PHASE_BETWEEN_STEPS, 50},
                                        {results::PHASE_AFTER_STEPS, 150}}));
}

TEST(WallTime, WithoutStepsThereIsTheRun) {
  ProcessBuilder builder(5);
  builder.process().started_ns = 0;
  builder.process().ended_ns = 400 * kMs;
  builder.Capture(0, 400 * kMs);
  builder.Thread(5)
      .Call("cudaFree", 10 * kMs, 110 * kMs, 1)
      .Call("cudaFree", 120 * kMs, 121 * kMs, 2);
  EXPECT_EQ(PhasesOf(&builder),
            (Phases{{results::PHASE_CUDA_SETUP, 100}, {results::PHASE_RUN, 300}}));
}

}  // namespace
}  // namespace gpuprof::analysis::test
