// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends without a begin: a note where ranges and operations are the subject, and no loss; unless the
// recorder may have had no room for others.

#include "analysis/passes/recorder/unpaired_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/passes/passes.h"
#include "proto/results/health.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/ranges.pb.h"
#include "proto/results/steps.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

constexpr char kRangesText[] = "2 ranges ended that began before the capture or had no begin";

void Lose(uint64_t count, ProcessBuilder* builder) {
  proto::Loss* loss = builder->process().health.add_loss();
  loss->set_kind(proto::LOSS_UNPAIRED_SPAN);
  loss->set_count(count);
}

TEST(UnpairedSpans, AreNoLossOfAnything) {
  ProcessBuilder builder(5, 1);
  builder.Thread(5).Range("", "whole", 0, 10 * kMs);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 3 * kMs, 4 * kMs, 1);
  Lose(2, &builder);
  const Trace trace = MakeTrace({&builder});
  const auto kernels = RunPass<results::Kernels>("kernels", trace);
  EXPECT_EQ(kernels.meta().confidence().level(), results::LEVEL_HIGH)
      << kernels.meta().confidence().reason();
  EXPECT_EQ(kernels.meta().lost_count(), 0u);
  EXPECT_EQ(kernels.meta().losses_size(), 0);
  EXPECT_THAT(kernels.meta().notes(), Not(Contains(testing::HasSubstr("ranges"))));
  const auto ranges = RunPass<results::Ranges>("ranges", trace);
  EXPECT_EQ(ranges.meta().confidence().level(), results::LEVEL_HIGH);
  EXPECT_EQ(ranges.meta().losses_size(), 0);
  EXPECT_THAT(ranges.meta().notes(), Contains("pid 5: " + std::string(kRangesText)));
  const auto health = RunPass<results::Health>("health", trace);
  EXPECT_EQ(health.processes(0).lost_count(), 0u);
  EXPECT_THAT(health.processes(0).notes(), Contains(kRangesText));
  const auto ops = RunPass<results::Ops>("ops", trace);
  EXPECT_EQ(ops.meta().notes_size(), 0) << "there are no operations";
}

TEST(UnpairedSpans, AreToldWhereOperationsAreTheSubject) {
  ProcessBuilder builder(5, 1);
  builder.Thread(5).Op("aten::mm", 0, 10 * kMs, proto::OpScope::kFunction, 0);
  builder.process().health.set_op_events(1);
  Lose(1, &builder);
  const Trace trace = MakeTrace({&builder});
  const auto text = StartsWith("pid 5: 1 operation or range ended that began before the capture");
  EXPECT_THAT(RunPass<results::Ops>("ops", trace).meta().notes(), Contains(text));
  EXPECT_THAT(RunPass<results::Steps>("steps", trace).meta().notes(), Contains(text));
}

TEST(UnpairedSpans, ThoseThatTheRecorderHadNoRoomForAreLost) {
  ProcessBuilder builder(5, 1);
  builder.Thread(5).Range("", "whole", 0, 10 * kMs);
  proto::Loss* loss = builder.process().health.add_loss();
  loss->set_kind(proto::LOSS_SPAN);
  loss->set_count(2);
  const auto ranges = RunPass<results::Ranges>("ranges", MakeTrace({&builder}));
  EXPECT_EQ(ranges.meta().lost_count(), 2u);
  ASSERT_EQ(ranges.meta().losses_size(), 1);
  EXPECT_EQ(ranges.meta().losses(0).name(), "span");
  EXPECT_EQ(ranges.meta().confidence().level(), results::LEVEL_LOW);
  EXPECT_EQ(ranges.meta().notes_size(), 0);
}

}  // namespace
}  // namespace gpuprof::analysis::test
