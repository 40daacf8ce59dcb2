// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass graphs, and what other passes say of graphs whose nodes were not recorded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/passes/passes.h"
#include "proto/results/api.pb.h"
#include "proto/results/graphs.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/streams.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Result>
Result RunBy(const char* pass, const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  return RunPass<Result>(pass, trace, options);
}

// Graph 4 is made of graph 3, a clone of graph 1: a kernel (14 <- 13 <- 11) and a copy (24 <- 23 <-
// 21).
void Make(ProcessBuilder* builder) {
  Graphs& graphs = builder->process().graphs;
  graphs.made = {{1, {}}, {3, {1, false, false}}, {4, {3, true, false}}};
  graphs.nodes = {{11, {0, 1, 0, 0}}, {13, {11, 3, 1, 0}}, {14, {13, 4, 3, 0}},
                  {21, {0, 1, 0, 1}}, {23, {21, 3, 1, 1}}, {24, {23, 4, 3, 1}}};
}

TEST(Graphs, LaunchesOfAGraphByTheirNodes) {
  ProcessBuilder builder(5);
  Make(&builder);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& main = builder.Thread(5, "main");
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  TrackBuilder& side = builder.Stream(0, 1, 13);
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t at = i * 10 * kMs;
    main.Call("cudaGraphLaunch_v10000", at, at + (i == 0 ? 500 : 10) * kUs, 50 + i);
    // A copy of 1 ms, 2 ms nothing, a kernel of 4 ms beside another of 2; 7 ms from first to last.
    stream.Copy(1, 2, 3, 64, at + kMs, at + 2 * kMs, 50 + i, 1, 4, 24);
    stream.Kernel(kernel, at + 4 * kMs, at + 8 * kMs, 50 + i, 4, 14);
    side.Kernel(kernel, at + 5 * kMs, at + 7 * kMs, 50 + i, 4, 14);
  }
  stream.Kernel(kernel, 90 * kMs, 91 * kMs, 99);  // of no graph
  const auto result = RunBy<results::Graphs>("graphs", MakeTrace({&builder}));
  EXPECT_EQ(result.count(), 3u);
  EXPECT_EQ(result.whole_count(), 0u);
  EXPECT_EQ(result.graph_count(), 1u);
  EXPECT_EQ(result.total_ns(), 21 * kMs);
  ASSERT_EQ(result.graphs_size(), 1);
  const results::Graph& graph = result.graphs(0);
  EXPECT_EQ(graph.name(), "graph 4");
  EXPECT_EQ(graph.source_graph(), 1u);
  EXPECT_EQ(graph.made(), results::GRAPH_MAKING_IN_CAPTURE);
  EXPECT_EQ(graph.mode(), results::GRAPH_RECORDING_NODES);
  EXPECT_EQ(graph.count(), 3u);
  EXPECT_EQ(graph.median_ns(), 7 * kMs);
  EXPECT_DOUBLE_EQ(graph.kernel_count_per_launch(), 2);
  EXPECT_DOUBLE_EQ(graph.copy_count_per_launch(), 1);
  EXPECT_DOUBLE_EQ(graph.set_count_per_launch(), 0);
  EXPECT_EQ(graph.busy_ns(), 15 * kMs);
  EXPECT_EQ(graph.gap_ns(), 6 * kMs);
  EXPECT_EQ(graph.gap_count(), 3u);
  EXPECT_EQ(graph.gap_max_ns(), 2 * kMs);
  EXPECT_EQ(graph.call_count(), 3u);
  EXPECT_EQ(graph.call_total_ns(), 520 * kUs);
  EXPECT_EQ(graph.call_median_ns(), 10 * kUs);
  EXPECT_EQ(graph.first_call_ns(), 500 * kUs);
  EXPECT_EQ(graph.first_ns(), 7 * kMs);
}

TEST(Graphs, ByTheOperationsThatMadeTheNodes) {
  ProcessBuilder builder(5);
  Make(&builder);
  Graphs& graphs = builder.process().graphs;
  graphs.nodes[11].made_by = graphs.nodes[21].made_by = 5;
  graphs.nodes[11].made_ns = 2 * kMs;
  graphs.nodes[21].made_ns = 7 * kMs;  // outside of operations
  graphs.made[8] = {0, true, true};    // older than the capture
  const uint32_t kernel = builder.Signature("k", 1, 32);
  const uint32_t stack = builder.Stack({NamedFrame(builder.Id("model.py(9): forward"))});
  TrackBuilder& main = builder.Thread(5, "main");
  main.Op("aten::mm", kMs, 5 * kMs);
  main.Call("cudaLaunchKernel", 2 * kMs - kUs, 2 * kMs + kUs, 1).Launch(2 * kMs - kUs, 1, stack);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t at = (i + 2) * 20 * kMs;
    main.Call("cudaGraphLaunch_v10000", at, at + 10 * kUs, 50 + i);
    stream.Kernel(kernel, at + kMs, at + 5 * kMs, 50 + i, 4, 14);
    stream.Copy(1, 2, 3, 64, at + 6 * kMs, at + 8 * kMs, 50 + i, 1, 4, 24);
    stream.Kernel(kernel, at + 9 * kMs, at + 10 * kMs, 50 + i, 4, 99);  // of a conditional's body
    stream.Kernel(kernel, at + 11 * kMs, at + 12 * kMs, 50 + i, 8, 81);
  }
  const auto result = RunBy<results::Graphs>("graphs", MakeTrace({&builder}), "owner");
  std::vector<std::string> names;
  std::vector<results::OwnerGap> gaps;
  for (const results::Graph& row : result.graphs()) {
    names.push_back(row.name());
    gaps.push_back(row.owner_gap());
    EXPECT_EQ(row.count(), 3u);
  }
  EXPECT_THAT(names, ElementsAre("aten::mm", "not known", "not known", "not known"));
  EXPECT_EQ(gaps[0], results::OWNER_GAP_NONE);
  EXPECT_EQ(gaps[1], results::OWNER_GAP_OUTSIDE);
  EXPECT_THAT(std::vector(gaps.begin() + 2, gaps.end()),
              testing::UnorderedElementsAre(results::OWNER_GAP_NOT_TOLD,
                                            results::OWNER_GAP_BEFORE_CAPTURE));
  const results::Graph& owned = result.graphs(0);
  EXPECT_EQ(owned.owner_evidence(), results::OWNER_EVIDENCE_CAPTURE);
  EXPECT_EQ(owned.launched_by(), "model.py(9): forward");
  EXPECT_EQ(owned.source_graph(), 1u);
  EXPECT_EQ(owned.node_count(), 1u);
  EXPECT_EQ(owned.total_ns(), 12 * kMs);
}

TEST(Graphs, AsWholesTheyKeepWhatIsKnownOfTheirMaking) {
  ProcessBuilder builder(5);
  Make(&builder);
  builder.process().graphs.made[8] = {0, true, true};
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  stream.Kernel(kernel, 0, 2 * kMs, 50, 4, 14);
  stream.WholeGraph(4, 10 * kMs, 15 * kMs, 51).WholeGraph(77, 20 * kMs, 21 * kMs, 52);
  stream.Kernel(kernel, 30 * kMs, 31 * kMs, 53, 8, 80);
  // Of one launch both: it counts once, by its nodes.
  stream.Kernel(kernel, 40 * kMs, 41 * kMs, 54, 8, 80).WholeGraph(8, 40 * kMs, 42 * kMs, 54);
  const auto result = RunBy<results::Graphs>("graphs", MakeTrace({&builder}));
  EXPECT_EQ(result.count(), 5u);
  EXPECT_EQ(result.whole_count(), 2u);
  ASSERT_EQ(result.graphs_size(), 3);
  const results::Graph& both = result.graphs(0);
  EXPECT_EQ(both.graph(), 4u);
  EXPECT_EQ(both.mode(), results::GRAPH_RECORDING_BOTH);
  EXPECT_EQ(both.whole_count(), 1u);
  EXPECT_EQ(both.total_ns(), 7 * kMs);
  EXPECT_DOUBLE_EQ(both.kernel_count_per_launch(), 1) << "by the one whose nodes were recorded";
  EXPECT_EQ(both.busy_ns(), 2 * kMs);
  EXPECT_FALSE(both.has_call_count());
  const results::Graph& older = result.graphs(1);
  EXPECT_EQ(older.graph(), 8u);
  EXPECT_EQ(older.made(), results::GRAPH_MAKING_BEFORE_CAPTURE);
  EXPECT_EQ(older.count(), 2u);
  EXPECT_FALSE(older.has_source_graph());
  const results::Graph& unknown = result.graphs(2);
  EXPECT_EQ(unknown.graph(), 77u);
  EXPECT_EQ(unknown.made(), results::GRAPH_MAKING_UNKNOWN);
  EXPECT_EQ(unknown.mode(), results::GRAPH_RECORDING_WHOLE);
  EXPECT_FALSE(unknown.has_kernel_count_per_launch());
  EXPECT_FALSE(unknown.has_busy_ns());
}

TEST(Graphs, OfOneNeverRecordedByNodesTheMakingTellsTheContents) {
  ProcessBuilder builder(5);
  Make(&builder);
  builder.Stream(0, 1, 7).WholeGraph(4, 0, kMs, 51).WholeGraph(4, 2 * kMs, 3 * kMs, 52);
  const auto result = RunBy<results::Graphs>("graphs", MakeTrace({&builder}));
  ASSERT_EQ(result.graphs_size(), 1);
  EXPECT_DOUBLE_EQ(result.graphs(0).kernel_count_per_launch(), 1);
  EXPECT_DOUBLE_EQ(result.graphs(0).copy_count_per_launch(), 1);
}

TEST(Graphs, ByNodeClonesAreOne) {
  ProcessBuilder builder(5);
  Make(&builder);
  Graphs& graphs = builder.process().graphs;
  graphs.made[5] = {1, true, false};  // another one, of the first graph itself
  graphs.nodes[15] = {11, 5, 1, 0};
  const uint32_t kernel = builder.Signature("_Z3addPf", 1, 32);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  stream.Kernel(kernel, 0, 2 * kMs, 50, 4, 14).Kernel(kernel, 5 * kMs, 8 * kMs, 51, 5, 15);
  stream.Copy(2, 3, 2, 64, 9 * kMs, 10 * kMs, 51, 1, 4, 24).Set(8, 10 * kMs, 10 * kMs, 51, 9, 99);
  const auto result = RunBy<results::Graphs>("graphs", MakeTrace({&builder}), "node");
  ASSERT_EQ(result.graphs_size(), 3);
  const results::Graph& add = result.graphs(0);
  EXPECT_EQ(add.name(), "add(float*)");
  EXPECT_EQ(add.mangled(), "_Z3addPf");
  EXPECT_EQ(add.kind(), results::GRAPH_NODE_KERNEL);
  EXPECT_EQ(add.node(), 11u);
  EXPECT_EQ(add.count(), 2u);
  EXPECT_EQ(add.total_ns(), 5 * kMs);
  EXPECT_FALSE(add.has_graph()) << "of two";
  EXPECT_EQ(add.source_graph(), 1u);
  EXPECT_EQ(result.graphs(1).name(), "DtoH");
  EXPECT_EQ(result.graphs(1).graph(), 4u);
  EXPECT_EQ(result.graphs(1).node(), 21u);
  EXPECT_EQ(result.graphs(2).name(), "Memset");
  EXPECT_EQ(result.graphs(2).node(), 99u);
  EXPECT_FALSE(result.graphs(2).has_source_graph());
}

TEST(Graphs, OtherPassesSayWhatTheyDoNotSee) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5, "main").Call("cudaGraphLaunch", 11 * kMs, 12 * kMs, 51);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  stream.Kernel(kernel, 0, 10 * kMs, 50).WholeGraph(4, 20 * kMs, 25 * kMs, 51);
  builder.Stream(0, 1, 13).WholeGraph(4, 24 * kMs, 30 * kMs, 52);
  const Trace trace = MakeTrace({&builder});
  const auto kernels = RunBy<results::Kernels>("kernels", trace);
  EXPECT_EQ(kernels.count(), 1u);
  EXPECT_EQ(kernels.whole_graph_count(), 2u);
  EXPECT_THAT(
      std::vector<std::string>(kernels.meta().notes().begin(), kernels.meta().notes().end()),
      ElementsAre(HasSubstr("2 launches of CUDA graphs were recorded as a whole: the kernels "
                            "in them are not counted here")));
  const auto copies = RunBy<results::Memcpy>("memcpy", trace);
  EXPECT_EQ(copies.meta().notes_size(), 1);
  const auto streams = RunBy<results::Streams>("streams", trace);
  ASSERT_EQ(streams.devices_size(), 1);
  const results::DeviceUse& device = streams.devices(0);
  EXPECT_EQ(device.window_ns(), 30 * kMs);
  EXPECT_EQ(device.busy_ns(), 20 * kMs);
  EXPECT_EQ(device.kernel_ns(), 10 * kMs);
  EXPECT_EQ(device.whole_graph_ns(), 10 * kMs);
  EXPECT_EQ(device.gap_count(), 1u);
  EXPECT_EQ(device.idle_host_ns(), kMs) << "until the call that launched the graph began";
  EXPECT_EQ(device.idle_launch_ns(), 9 * kMs);
  ASSERT_EQ(streams.streams_size(), 2);
  EXPECT_EQ(streams.streams(0).busy_ns(), 15 * kMs);
  EXPECT_EQ(streams.streams(0).whole_graph_count(), 1u);
  EXPECT_EQ(streams.streams(0).whole_graph_ns(), 5 * kMs);
  EXPECT_EQ(streams.streams(0).overlap_ns(), kMs);
  const auto api = RunBy<results::ApiCalls>("api", trace);
  ASSERT_EQ(api.calls_size(), 1);
  EXPECT_EQ(api.calls(0).work_count(), 1u);
  const auto of_nodes = RunBy<results::Kernels>("kernels", MakeTrace({}));
  EXPECT_THAT(of_nodes.meta().notes(), IsEmpty());
}

TEST(Graphs, ADamagedTableOfClonesEnds) {
  ProcessBuilder builder(5);
  Graphs& graphs = builder.process().graphs;
  graphs.nodes = {{1, {2, 1, 1, 0}}, {2, {1, 1, 1, 0}}};
  graphs.made = {{1, {2, true, false}}, {2, {1, true, false}}};
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 0, kMs, 50, 1, 1);
  EXPECT_EQ(RunBy<results::Graphs>("graphs", MakeTrace({&builder})).count(), 1u);
  EXPECT_EQ(RunBy<results::Graphs>("graphs", MakeTrace({&builder}), "node").graphs_size(), 1);
}

}  // namespace
}  // namespace gpuprof::analysis::test
