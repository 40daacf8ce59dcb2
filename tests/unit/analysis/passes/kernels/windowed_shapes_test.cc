// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording of gpuprof tells the inputs of some operations. Their kernels have rates by them, and
// counts say of how many calls they are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "analysis/analysis.h"
#include "proto/results/advice.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/ops.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis::test {
namespace {

using proto::ChunkKind;
using testing::Contains;
using testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr uint64_t kUs = 1'000, kStart = kSecond;
constexpr uint32_t kLaunch = 211;
constexpr uint64_t kProducts = 10, kRead = 4;

// Ten products of 64 x 128 by 128 x 256, each with a kernel of 100 us. The inputs of the first four
// were read.
void MakeProducts(const std::string& directory, const std::string& key) {
  TraceMaker maker(directory, 100, kWall / 1000, proto::ClockKind::kMonotonic);
  maker.Meta(maker.Identity(1));
  proto::Clocks clocks;
  for (uint64_t i = 0; i < 2; ++i) {
    proto::ClockSnapshot* snapshot = clocks.add_snapshot();
    snapshot->set_ticks(i * 10 * kSecond);
    snapshot->set_monotonic_ns(i * 10 * kSecond);
    snapshot->set_realtime_ns(kWall + i * 10 * kSecond);
    snapshot->set_cupti_ns(i * 10 * kSecond + 1);
  }
  maker.Table(ChunkKind::kClocks, 11, clocks, 2);
  maker.Strings({{2, "cudaLaunchKernel_v7000"},
                 {3, "aten::mm"},
                 {4, key},
                 {5, R"({"Input Dims":[[64,128],[128,256]],"Input type":["float","float"]})"},
                 {6, "sgemm_128x64_nn"}});
  proto::Functions functions;
  functions.add_function(kLaunch);
  functions.add_name(2);
  maker.Table(ChunkKind::kFunctions, 28, functions, 1);
  proto::Signatures signatures;
  proto::Signature* signature = signatures.add_signature();
  signature->set_id(1);
  signature->set_name(6);
  maker.Table(ChunkKind::kSignatures, 25, signatures, 1);
  proto::Streams streams;
  streams.add_stream()->set_track(2);
  maker.Table(ChunkKind::kStreams, 26, streams, 1);
  for (uint64_t i = 0; i < kProducts; ++i) {
    const uint64_t start = kStart + i * 200 * kUs, correlation = 40 + i;
    if (i < kRead) maker.Row(ChunkKind::kOpValue, 1, {start, 4, 0, 5});
    maker.Row(ChunkKind::kApi, 1, {start + 20 * kUs, 10 * kUs, kLaunch, correlation, 0});
    maker.Row(ChunkKind::kOp, 1, {start + 30 * kUs, 30 * kUs, 3, 0, 0});
    maker.Row(ChunkKind::kKernel, 2, {start + 150 * kUs, 100 * kUs, 1, correlation, 0, 0});
  }
  maker.Flush();
  maker.End();
  maker.Close();
}

// As the command opens it: only what the pass needs, and rows when somebody reads them.
template <typename Result>
Result Ask(const std::string& directory, const std::string& pass, const std::string& by) {
  PassOptions pass_options;
  pass_options.by = by;
  OpenOptions options;
  options.tables = TablesOf(pass, pass_options);
  options.lazy = true;
  std::shared_ptr<const Trace> trace;
  const Error error = Open(directory, options, &trace);
  EXPECT_FALSE(error) << error.message;
  return RunPass<Result>(pass, *trace, pass_options);
}

TEST(WindowedShapes, KernelsHaveRatesByThoseThatWereRead) {
  TemporaryDirectory directory;
  MakeProducts(directory.path(), "torch_inputs");
  const auto kernels = Ask<results::Kernels>(directory.path(), "kernels", "name");
  ASSERT_EQ(kernels.kernels_size(), 1);
  const results::Kernel& kernel = kernels.kernels(0);
  EXPECT_EQ(kernel.count(), kProducts);
  constexpr uint64_t kFlops = 2 * 64 * 128 * 256;
  EXPECT_EQ(kernel.flop_count(), kRead * kFlops);
  EXPECT_EQ(kernel.flop_evidence(), results::WORK_EVIDENCE_SHAPES);
  EXPECT_NEAR(kernel.flop_per_s(), kFlops / 100e-6, kFlops / 100e-6 * 1e-3);
  EXPECT_EQ(kernel.bytes_estimate(), kRead * 4 * (64 * 128 + 128 * 256 + 64 * 256));
}

TEST(WindowedShapes, OperationsSayHowManyWereRead) {
  TemporaryDirectory directory;
  MakeProducts(directory.path(), "torch_inputs");
  const auto ops = Ask<results::Ops>(directory.path(), "ops", "shape");
  ASSERT_EQ(ops.ops_size(), 2);
  const auto read = std::find_if(ops.ops().begin(), ops.ops().end(),
                                 [](const results::Op& op) { return !op.shapes().empty(); });
  ASSERT_NE(read, ops.ops().end());
  EXPECT_EQ(read->shapes(), "[[64,128],[128,256]]");
  EXPECT_EQ(read->types(), R"(["float","float"])");
  EXPECT_EQ(read->count(), kRead);
  EXPECT_THAT(ops.meta().notes(), Contains(HasSubstr("shapes of 4 of 10 calls were read")));
}

TEST(WindowedShapes, OtherValuesAreNoShapes) {
  TemporaryDirectory directory;
  MakeProducts(directory.path(), "inputs");
  const auto ops = Ask<results::Ops>(directory.path(), "ops", "shape");
  ASSERT_EQ(ops.ops_size(), 1);
  EXPECT_TRUE(ops.ops(0).shapes().empty());
  EXPECT_EQ(ops.meta().notes_size(), 0);
  const auto kernels = Ask<results::Kernels>(directory.path(), "kernels", "name");
  ASSERT_EQ(kernels.kernels_size(), 1);
  EXPECT_FALSE(kernels.kernels(0).has_flop_count());
}

// Rules that need the shapes of all operations are not asked.
TEST(WindowedShapes, RulesNeedAllShapes) {
  TemporaryDirectory directory;
  MakeProducts(directory.path(), "torch_inputs");
  const auto advice = Ask<results::Advice>(directory.path(), "advise", "");
  for (const results::UncheckedRule& rule : advice.not_checked())
    if (rule.id() == "GP-008") return;
  ADD_FAILURE() << "GP-008 was checked";
}

}  // namespace
}  // namespace gpuprof::analysis::test
