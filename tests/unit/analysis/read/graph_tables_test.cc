// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of graphs and the rows of whole launches, from a file into the model.

#include <gtest/gtest.h>

#include <memory>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr int kGraphNodesField = proto::Chunk::kGraphNodesFieldNumber;

class GraphTablesTest : public testing::Test {
 protected:
  void SetUp() override {
    maker_ = std::make_unique<TraceMaker>(directory_.path(), 5, kWall / 1000);
    maker_->Meta(maker_->Identity(1));
    maker_->Clock(0, 0, kWall);
    maker_->Clock(20 * kSecond, 10 * kSecond, kWall + 10 * kSecond);
  }
  std::shared_ptr<const Trace> Read() {
    maker_->End();
    maker_->Close();
    std::shared_ptr<const Trace> trace;
    const Error error = Open(directory_.path(), {}, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<TraceMaker> maker_;
};

TEST_F(GraphTablesTest, NodesLeadToTheirSourcesOverSeveralTables) {
  proto::GraphNodes first, second;
  for (const int64_t node : {100, 1}) first.add_node(node);  // 100, 101
  for (const int64_t zero : {0, 0}) first.add_source(zero);
  for (const int64_t graph : {1, 0}) first.add_graph(graph);
  for (const int64_t zero : {0, 0}) first.add_source_graph(zero);
  for (const uint32_t type : {0u, 1u}) first.add_type(type);
  second.add_node(200);
  second.add_source(101);
  second.add_graph(2);
  second.add_source_graph(1);
  second.add_type(1);
  proto::Graph* made = second.add_made();
  made->set_id(2);
  made->set_source(1);
  made->set_executable(true);
  proto::GraphModeMark* mark = second.add_mark();
  mark->set_ticks(8 * kSecond);
  mark->set_mode(static_cast<uint32_t>(proto::GraphMode::kWhole));
  mark->set_nodes(55);
  maker_->Table(ChunkKind::kGraphNodes, kGraphNodesField, first, 2);
  maker_->Table(ChunkKind::kGraphNodes, kGraphNodesField, second, 3);
  maker_->Row(ChunkKind::kGraphLaunch, 3, {kWall + 5 * kSecond, kSecond, 2, 77});
  maker_->Flush();
  const std::shared_ptr<const Trace> trace = Read();
  ASSERT_EQ(trace->processes.size(), 1u);
  const Process& process = trace->processes[0];
  EXPECT_EQ(process.graphs.nodes.size(), 3u);
  EXPECT_EQ(process.graphs.RootOf(200), 101u);
  EXPECT_EQ(process.graphs.nodes.at(200).graph, 2u);
  EXPECT_EQ(process.graphs.nodes.at(101).type, 1u);
  EXPECT_EQ(process.graphs.SourceOf(2), 1u);
  ASSERT_EQ(process.tracks.size(), 1u);
  const GraphLaunchTable& launches = process.tracks[0].graph_launch;
  ASSERT_EQ(launches.rows(), 1u);
  EXPECT_EQ(launches.graph[0], 2u);
  EXPECT_EQ(launches.correlation[0], 77u);
  EXPECT_EQ(launches.duration_ns[0], static_cast<int64_t>(kSecond));
  ASSERT_EQ(process.graphs.marks.size(), 1u);
  EXPECT_EQ(process.graphs.marks[0].mode, proto::GraphMode::kWhole);
  EXPECT_EQ(process.graphs.marks[0].nodes, 55u);
  EXPECT_EQ(process.graphs.marks[0].capture, 1u);
  EXPECT_EQ(process.graphs.marks[0].time_ns, launches.end_ns[0] - static_cast<int64_t>(kSecond))
      << "4 s on both clocks";
  EXPECT_TRUE(trace->faults.empty());
}

TEST_F(GraphTablesTest, NodesHaveTheMomentOfTheirMaking) {
  proto::GraphNodes table;
  for (const int64_t node : {100, 1}) table.add_node(node);
  for (const int64_t source : {0, 100}) table.add_source(source);
  for (int i = 0; i < 2; ++i) {
    table.add_graph(i == 0 ? 1 : 0);
    table.add_source_graph(0);
    table.add_type(0);
  }
  table.add_created(8 * kSecond);
  table.add_created(0);
  table.add_thread(4711);
  table.add_thread(-4711);
  proto::GraphModeMark* mark = table.add_mark();
  mark->set_ticks(8 * kSecond);
  maker_->Table(ChunkKind::kGraphNodes, kGraphNodesField, table, 3);
  const std::shared_ptr<const Trace> trace = Read();
  const Graphs& graphs = trace->processes[0].graphs;
  EXPECT_EQ(graphs.nodes.at(100).made_by, 4711);
  EXPECT_EQ(graphs.nodes.at(100).made_ns, graphs.marks.at(0).time_ns);
  EXPECT_EQ(graphs.nodes.at(101).made_by, 0) << "a clone";
}

TEST_F(GraphTablesTest, ColumnsOfDifferentLengthAreAFault) {
  proto::GraphNodes table;
  table.add_node(1);
  table.add_node(1);
  maker_->Table(ChunkKind::kGraphNodes, kGraphNodesField, table, 2);
  const std::shared_ptr<const Trace> trace = Read();
  EXPECT_EQ(trace->faults.size(), 1u);
  EXPECT_TRUE(trace->processes[0].graphs.nodes.empty());
}

}  // namespace
}  // namespace gpuprof::analysis
