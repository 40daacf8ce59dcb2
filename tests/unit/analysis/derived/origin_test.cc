// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/origin.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kUs;

class OriginTest : public testing::Test {
 protected:
  std::string NameOf(const Process& process, std::optional<OpRef> op) {
    if (!op) return "";
    return process.String(process.tracks[op->track].op.name[op->row]);
  }
};

TEST_F(OriginTest, WorkBelongsToTheInnermostOperationOfItsCall) {
  test::ProcessBuilder builder(7);
  builder.Thread(7)
      .Op("aten::linear", 0, 100 * kUs)
      .Op("aten::mm", 10 * kUs, 40 * kUs)
      .Call("cudaLaunchKernel", 20 * kUs, 25 * kUs, 1)
      .Call("cudaLaunchKernel", 50 * kUs, 55 * kUs, 2)
      .Call("cudaLaunchKernel", 200 * kUs, 205 * kUs, 3);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const CallIndex calls(process);
  Origin origin(&ops, calls);
  EXPECT_EQ(NameOf(process, origin.Find(1, 0)), "aten::mm");
  EXPECT_EQ(NameOf(process, origin.Find(2, 0)), "aten::linear");
  EXPECT_EQ(origin.Find(3, 0), std::nullopt);  // outside of all operations
  EXPECT_EQ(origin.Find(4, 0), std::nullopt);  // no such call
}

TEST_F(OriginTest, AnIdThatTheSourceGivesLeadsFurtherThanTime) {
  test::ProcessBuilder builder(7);
  builder.Thread(7).Op("aten::a", 0, 10 * kUs).Call("cudaLaunchKernel", 5 * kUs, 6 * kUs, 1);
  builder.Thread(8).Op("aten::b", 0, 10 * kUs);
  Process process = builder.Build();
  process.tracks[0].op.external = {11};
  process.tracks[1].op.external = {12};
  process.tracks[0].api.external = {12};
  ProcessOps ops(process);
  const CallIndex calls(process);
  Origin origin(&ops, calls);
  EXPECT_EQ(NameOf(process, origin.Find(1, 11)), "aten::b");   // the call's own id counts
  EXPECT_EQ(NameOf(process, origin.Find(99, 11)), "aten::a");  // no call: the row's id
  EXPECT_EQ(origin.Find(99, 13), std::nullopt);
}

TEST_F(OriginTest, WorkHasItsCallOperationStackAndStep) {
  test::ProcessBuilder builder(7);
  const uint32_t stack = builder.Stack({NamedFrame(builder.Id("train.py(3): forward"))});
  builder.Thread(7)
      .Op("aten::mm", 10 * kUs, 40 * kUs)
      .Call("cudaLaunchKernel", 20 * kUs, 25 * kUs, 1)
      .Launch(20 * kUs, 1, stack)
      .Call("cudaLaunchKernel", 150 * kUs, 155 * kUs, 2);
  const Process process = builder.Build();
  std::vector<Step> steps(2);
  steps[0].span = {0, 100 * kUs};
  steps[1].span = {150 * kUs, 160 * kUs};
  ProcessOps ops(process);
  const CallIndex calls(process);
  Origin origin(&ops, calls);
  DeviceWork work{};
  work.correlation = 1;
  const WorkOrigin first = origin.Of(work, steps);
  ASSERT_TRUE(first.call);
  EXPECT_EQ(first.call->start_ns, 20 * kUs);
  EXPECT_EQ(NameOf(process, first.op), "aten::mm");
  EXPECT_EQ(first.stack, stack);
  EXPECT_EQ(first.step, 0u);
  work.correlation = 2;
  const WorkOrigin second = origin.Of(work, steps);
  EXPECT_EQ(second.op, std::nullopt);
  EXPECT_EQ(second.stack, 0u);
  EXPECT_EQ(second.step, 1u) << "its first moment is in it";
  EXPECT_EQ(Origin::StepAt(steps, 100 * kUs), std::nullopt) << "its end is not in it";
  EXPECT_EQ(Origin::StepAt(steps, -1), std::nullopt);
  work.correlation = 3;
  EXPECT_EQ(origin.Of(work).call, std::nullopt);
}

TEST_F(OriginTest, NodesOfGraphsBelongToTheOperationThatWasCaptured) {
  test::ProcessBuilder builder(7);
  const uint32_t stack = builder.Stack({NamedFrame(builder.Id("model.py(9): forward"))});
  builder.Thread(7)
      .Op("aten::mm", 10 * kUs, 40 * kUs)
      .Op("replay", 100 * kUs, 140 * kUs)
      .Call("cudaLaunchKernel", 20 * kUs, 25 * kUs, 1)
      .Launch(20 * kUs, 1, stack)
      .Call("cudaGraphLaunch", 110 * kUs, 115 * kUs, 2);
  Process process = builder.Build();
  process.graphs.nodes[501].source = 500;
  process.graphs.nodes[500].made_by = 7;
  process.graphs.nodes[500].made_ns = 22 * kUs;
  process.graphs.nodes[600].made_by = 8;  // no thread that was recorded
  ProcessOps ops(process);
  const CallIndex calls(process);
  Origin origin(&ops, calls);
  DeviceWork work{};
  work.correlation = 2;
  work.in_graph = true;
  work.graph_node = 501;
  const WorkOrigin found = origin.Of(work);
  EXPECT_TRUE(found.in_graph);
  EXPECT_EQ(NameOf(process, found.owner), "aten::mm");
  EXPECT_EQ(NameOf(process, found.op), "replay") << "launched the graph";
  EXPECT_EQ(found.stack, stack);
  EXPECT_EQ(NameOf(process, origin.Owner(work)), "aten::mm");
  work.graph_node = 600;
  EXPECT_EQ(origin.Owner(work), std::nullopt);
  work.graph_node = 0;
  work.in_graph = false;  // the call alone says that it is a graph's
  EXPECT_TRUE(origin.Of(work).in_graph);
  EXPECT_EQ(origin.Owner(work), std::nullopt);
  work.correlation = 1;
  EXPECT_EQ(NameOf(process, origin.Owner(work)), "aten::mm");
}

}  // namespace
}  // namespace gpuprof::analysis
