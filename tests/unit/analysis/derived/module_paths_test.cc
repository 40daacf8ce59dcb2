// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/module_paths.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/derived/execution.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kUs;

std::string NameOf(const ModulePaths& paths, uint32_t path) {
  std::string name;
  for (; path != 0; path = paths.paths()[path].parent) name = "/" + paths.paths()[path].name + name;
  return name;
}

TEST(ModulePaths, RangesThatNestAreParts) {
  test::ProcessBuilder builder(7);
  builder.Thread(7)
      .User("ProfilerStep#3", 0, 100 * kUs)
      .User("forward", 10 * kUs, 60 * kUs)
      .Range("", "block", 20 * kUs, 40 * kUs)
      .Range("", "crosses", 50 * kUs, 70 * kUs);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ModulePaths paths(&ops, false);
  EXPECT_EQ(paths.source(), results::MODULE_SOURCE_RANGES);
  EXPECT_EQ(NameOf(paths, paths.At(0, 5 * kUs)), "") << "a step is not a part";
  EXPECT_EQ(NameOf(paths, paths.At(0, 15 * kUs)), "/forward");
  EXPECT_EQ(NameOf(paths, paths.At(0, 20 * kUs)), "/forward/block");
  EXPECT_EQ(NameOf(paths, paths.At(0, 40 * kUs)), "/forward");
  EXPECT_EQ(NameOf(paths, paths.At(0, 55 * kUs)), "/forward/crosses");
  EXPECT_EQ(NameOf(paths, paths.At(0, 65 * kUs)), "") << "cut to the range around it";
  int64_t self_ns = 0;
  for (const ModuleSpan& span : paths.SpansOf(0)) self_ns += span.self_ns;
  EXPECT_EQ(self_ns, 50 * kUs) << "no moment counts twice";
}

TEST(ModulePaths, StrangersCannotNestOrNameWithoutEnd) {
  test::ProcessBuilder builder(7);
  test::TrackBuilder thread = builder.Thread(7);
  constexpr int kSpans = 1000;
  for (int i = 0; i < kSpans; ++i)
    thread.User(std::string(3000, 'x') + "\u00e9" + std::to_string(i), i, 2 * kSpans - i);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ModulePaths paths(&ops, false);
  EXPECT_EQ(paths.paths().size(), ModulePaths::kMostDepth + 1);
  EXPECT_EQ(paths.paths().back().name.size(), ModulePaths::kMostNameBytes);
  EXPECT_EQ(paths.At(0, kSpans), ModulePaths::kMostDepth);
}

TEST(ModulePaths, TracedForwardsAreModules) {
  test::ProcessBuilder builder(7);
  builder.Thread(7)
      .PythonCall("modules/linear.py(130): Linear.forward", 20 * kUs, 30 * kUs, 2)
      .PythonCall("net.py(14): main.<locals>.Net.forward", 10 * kUs, 40 * kUs, 1)
      .PythonCall("train.py(9): Trainer.step", 5 * kUs, 60 * kUs, 0)
      .PythonCall("train.py(3): forward", 4 * kUs, 61 * kUs, 0)
      .User("my range", 5 * kUs, 60 * kUs)
      .Optimizer(50 * kUs, 55 * kUs);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ModulePaths paths(&ops, false);
  EXPECT_EQ(paths.source(), results::MODULE_SOURCE_FORWARDS);
  EXPECT_EQ(NameOf(paths, paths.At(0, 7 * kUs)), "");
  EXPECT_EQ(NameOf(paths, paths.At(0, 15 * kUs)), "/Net");
  EXPECT_EQ(NameOf(paths, paths.At(0, 25 * kUs)), "/Net/Linear");
  EXPECT_EQ(NameOf(paths, paths.At(0, 52 * kUs)), "");
}

TEST(ModulePaths, RangesOfPyTorchItselfComeLast) {
  test::ProcessBuilder builder(7);
  builder.Thread(7).Optimizer(50 * kUs, 55 * kUs);
  const Process alone = builder.Build();
  ProcessOps ops_alone(alone);
  EXPECT_EQ(ModulePaths(&ops_alone, false).source(), results::MODULE_SOURCE_RANGES);
  builder.Thread(7).PythonCall("Trainer.step", 5 * kUs, 60 * kUs, 0);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ModulePaths paths(&ops, false);
  EXPECT_EQ(paths.source(), results::MODULE_SOURCE_FUNCTIONS);
  EXPECT_EQ(NameOf(paths, paths.At(0, 52 * kUs)), "/Trainer.step");
}

TEST(ModulePaths, WithoutASourceThereAreNone) {
  test::ProcessBuilder builder(7);
  builder.Thread(7).Op("aten::add", 0, 10 * kUs);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ModulePaths paths(&ops, false);
  EXPECT_EQ(paths.source(), results::MODULE_SOURCE_NONE);
  EXPECT_EQ(paths.paths().size(), 1u);
}

TEST(Execution, IsThatOfTheRegion) {
  test::ProcessBuilder builder(7);
  const uint32_t compiled = builder.Signature("triton_poi_fused_add_0", 1, 32);
  const uint32_t plain = builder.Signature("elementwise_kernel", 1, 32);
  builder.Thread(7)
      .Op("aten::add", 0, 10 * kUs)
      .Op("Torch-Compiled Region: 0/0", 20 * kUs, 50 * kUs)
      .Op("aten::mm", 30 * kUs, 40 * kUs)
      .User("my range", 60 * kUs, 70 * kUs);
  builder.Stream(0, 1, 7)
      .Kernel(compiled, 0, 1)
      .Kernel(plain, 1, 2)
      .Kernel(plain, 2, 3, 0, /*graph=*/5, /*node=*/6);
  const Process process = builder.Build();
  ProcessOps ops(process);
  ExecutionFinder finder(&ops, true);
  using Found = ExecutionFound;
  const OpTable& table = process.tracks[0].op;
  for (uint32_t row = 0; row < table.rows(); ++row) {
    const std::string name = process.String(table.name[row]);
    const Found found = finder.OfOp({0, row});
    if (name == "aten::add") {
      EXPECT_EQ(found, (Found{results::EXECUTION_EAGER, results::EXECUTION_EVIDENCE_OPERATION}));
    } else if (name == "my range") {
      EXPECT_EQ(found, Found{});
    } else {
      EXPECT_EQ(found, (Found{results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_REGION}))
          << name;
    }
  }
  const KernelTable& kernels = process.tracks[1].kernel;
  EXPECT_EQ(finder.OfKernel(kernels, 0, std::nullopt),
            (Found{results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_NAME}));
  EXPECT_EQ(finder.OfKernel(kernels, 1, std::nullopt), Found{});
  EXPECT_EQ(finder.OfKernel(kernels, 2, std::nullopt),
            (Found{results::EXECUTION_GRAPH, results::EXECUTION_EVIDENCE_CUDA_GRAPH}));
  ExecutionTally tally;
  tally.Add({});
  EXPECT_EQ(tally.found(), Found{});
  tally.Add({results::EXECUTION_EAGER, results::EXECUTION_EVIDENCE_OPERATION});
  tally.Add({});
  EXPECT_EQ(tally.found().execution, results::EXECUTION_EAGER);
  tally.Add({results::EXECUTION_GRAPH, results::EXECUTION_EVIDENCE_CUDA_GRAPH});
  EXPECT_EQ(tally.found(), (Found{results::EXECUTION_MIXED, results::EXECUTION_EVIDENCE_NONE}));
}

}  // namespace
}  // namespace gpuprof::analysis
