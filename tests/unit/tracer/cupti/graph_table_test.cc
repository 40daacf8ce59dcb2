// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of graphs: nodes lead to what they were cloned from, executable graphs have the nodes
// that were cloned while they were made, and those of which nothing was seen are said to be older.

#include "tracer/cupti/graph_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "proto/trace.pb.h"

namespace gpuprof::tracer::cupti {
namespace {

struct Node {
  int64_t source, graph, source_graph;
  uint32_t type;
  bool operator==(const Node&) const = default;
};

class GraphTableTest : public testing::Test {
 protected:
  void Put(ResourceId what, uint64_t node, uint64_t source, uint32_t graph, uint32_t source_graph,
           uint64_t thread = 1) {
    GraphEvent event;
    event.what = what;
    event.node = node;
    event.source_node = source;
    event.graph = graph;
    event.source_graph = source_graph;
    event.thread = thread;
    event.node_type = static_cast<uint32_t>(node % 3);
    bool is_crowded = false;
    EXPECT_TRUE(events_->Put(event, &is_crowded));
  }

  // What was written, parsed as any reader does.
  proto::GraphNodes Take() {
    table_.Consume(events_.get());
    std::vector<uint8_t> bytes;
    taken_ = table_.Take(*events_, &bytes);
    proto::GraphNodes message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }

  static std::map<int64_t, Node> Nodes(const proto::GraphNodes& message) {
    std::map<int64_t, Node> nodes;
    int64_t node = 0, source = 0, graph = 0, source_graph = 0;
    for (int i = 0; i < message.node_size(); ++i) {
      nodes[node += message.node(i)] = {source += message.source(i), graph += message.graph(i),
                                        source_graph += message.source_graph(i), message.type(i)};
    }
    return nodes;
  }

  std::unique_ptr<GraphEvents> events_ = std::make_unique<GraphEvents>();
  GraphTable table_;
  uint32_t taken_ = 0;
};

constexpr int64_t kFar = int64_t{7} << 32;

TEST_F(GraphTableTest, ClonedNodesLeadToTheirSources) {
  Put(kGraphCreated, 0, 0, 1, 0);
  Put(kGraphNodeCreated, kFar + 1, 0, 1, 0);
  Put(kGraphNodeCreated, kFar + 2, 0, 1, 0);
  Put(kGraphCloned, 0, 0, 2, 1);
  Put(kGraphNodeCloned, 12, kFar + 1, 2, 1);
  const proto::GraphNodes message = Take();
  const std::map<int64_t, Node> expected = {{kFar + 1, {0, 1, 0, (kFar + 1) % 3}},
                                            {kFar + 2, {0, 1, 0, (kFar + 2) % 3}},
                                            {12, {kFar + 1, 2, 1, 0}}};
  EXPECT_EQ(Nodes(message), expected);
  ASSERT_EQ(message.made_size(), 2);
  EXPECT_EQ(message.made(1).id(), 2u);
  EXPECT_EQ(message.made(1).source(), 1u);
  EXPECT_FALSE(message.made(1).executable());
  EXPECT_EQ(taken_, 5u);
  EXPECT_EQ(Take().ByteSizeLong(), 0u) << "once";
  EXPECT_EQ(taken_, 0u);
}

TEST_F(GraphTableTest, NodesSayWhoMadeThemAndWhen) {
  const auto make = [this](ResourceId what, uint64_t node, uint64_t source, uint64_t ticks,
                           int32_t tid) {
    GraphEvent event;
    event.what = what;
    event.node = node;
    event.source_node = source;
    event.graph = 1;
    event.ticks = ticks;
    event.tid = tid;
    bool is_crowded = false;
    EXPECT_TRUE(events_->Put(event, &is_crowded));
  };
  constexpr uint64_t kLate = uint64_t{1} << 60;
  make(kGraphNodeCloned, 3, 2, 0, 0);
  make(kGraphNodeCreated, 5, 0, kLate, 4711);
  make(kGraphNodeCloned, 6, 5, 0, 0);
  make(kGraphNodeCreated, 7, 0, kLate + 9, 4712);
  const proto::GraphNodes message = Take();
  ASSERT_EQ(message.created_size(), 4);
  ASSERT_EQ(message.thread_size(), 4);
  std::vector<int64_t> threads, times;
  int64_t thread = 0, time = 0;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(thread += message.thread(i));
    times.push_back(time += message.created(i));
  }
  EXPECT_EQ(threads, (std::vector<int64_t>{0, 4711, 0, 4712}));
  EXPECT_EQ(times[1], static_cast<int64_t>(kLate));
  EXPECT_EQ(times[3], static_cast<int64_t>(kLate + 9));
  EXPECT_EQ(message.created(2), 0) << "one byte";
}

// Two threads at once; a node of a child graph is the executable graph's as well.
TEST_F(GraphTableTest, ExecutableGraphsHaveTheNodesOfTheirMaking) {
  Put(kGraphExecCreateStarting, 0, 0, 0, 0, 1);
  Put(kGraphExecCreateStarting, 0, 0, 0, 0, 2);
  Put(kGraphNodeCloned, 101, 11, 21, 1, 1);
  Put(kGraphNodeCloned, 201, 12, 31, 2, 2);
  Put(kGraphNodeCreated, 301, 0, 3, 0, 3);
  Put(kGraphNodeCloned, 102, 13, 22, 5, 1);
  EXPECT_EQ(Nodes(Take()).size(), 1u) << "the third thread makes none";
  Put(kGraphExecCreated, 0, 0, 90, 1, 1);
  Put(kGraphExecCreated, 0, 0, 0, 2, 2);  // an older library: its number is not told
  const proto::GraphNodes message = Take();
  const std::map<int64_t, Node> nodes = Nodes(message);
  EXPECT_EQ(nodes.at(101).graph, 90);
  EXPECT_EQ(nodes.at(102).graph, 90);
  EXPECT_EQ(nodes.at(102).source_graph, 5);
  EXPECT_EQ(nodes.at(201).graph, 31) << "that of its nodes";
  ASSERT_EQ(message.made_size(), 2);
  EXPECT_EQ(message.made(0).id(), 90u);
  EXPECT_EQ(message.made(0).source(), 1u);
  EXPECT_TRUE(message.made(0).executable());
  EXPECT_EQ(message.made(1).id(), 31u);
  EXPECT_EQ(message.made(1).source(), 2u);
}

TEST_F(GraphTableTest, AMakingThatFailedLosesNoNode) {
  Put(kGraphExecCreateStarting, 0, 0, 0, 0);
  Put(kGraphNodeCloned, 5, 1, 2, 1);
  Put(kGraphExecCreateStarting, 0, 0, 0, 0);
  Put(kGraphNodeCloned, 6, 1, 3, 1);
  EXPECT_EQ(Nodes(Take()).count(5), 1u);
  table_.GiveUpMaking();
  EXPECT_EQ(Nodes(Take()).count(6), 1u);
}

TEST_F(GraphTableTest, LaunchedWithoutHavingBeenMadeIsOlder) {
  Put(kGraphExecCreateStarting, 0, 0, 0, 0);
  Put(kGraphNodeCloned, 5, 1, 2, 1);
  Put(kGraphExecCreated, 0, 0, 2, 1);
  Take();
  table_.SawNode(2, 5);
  table_.SawNode(3, 77);
  table_.SawNode(3, 78);
  table_.SawNode(4, 5);  // by its node it is one of those that were made
  const proto::GraphNodes message = Take();
  ASSERT_EQ(message.made_size(), 1);
  EXPECT_EQ(message.made(0).id(), 3u);
  EXPECT_TRUE(message.made(0).before_capture());
  table_.SawNode(3, 77);
  EXPECT_EQ(Take().made_size(), 0) << "said once";
}

TEST_F(GraphTableTest, WhereEventsWereLeftOutNothingIsSaidToBeOlder) {
  bool is_crowded = false;
  for (uint32_t i = 0; i <= GraphEvents::kSlots; ++i) events_->Put({}, &is_crowded);
  EXPECT_EQ(events_->refused(), 1u);
  table_.SawNode(3, 77);
  EXPECT_EQ(Take().made_size(), 0);
  EXPECT_EQ(table_.waiting(), 0u);
}

TEST_F(GraphTableTest, WhatMayYetComeIsWaitedFor) {
  table_.SawNode(3, 77);
  Put(kGraphExecCreated, 0, 0, 3, 1);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(table_.Take(*events_, &bytes), 0u) << "the queue still holds something";
  const proto::GraphNodes message = Take();
  ASSERT_EQ(message.made_size(), 1);
  EXPECT_FALSE(message.made(0).before_capture());
}

TEST(IdSet, HoldsManyNumbersAndIsBounded) {
  IdSet set(10'000);
  for (uint64_t graph = 1; graph <= 100; ++graph) {
    for (uint64_t node = 1; node <= 100; ++node) ASSERT_TRUE(set.Add(graph << 32 | node));
  }
  EXPECT_TRUE(set.Add(uint64_t{100} << 32 | 1)) << "known already";
  EXPECT_FALSE(set.Add(5));
  EXPECT_TRUE(set.Has(uint64_t{50} << 32 | 99));
  EXPECT_FALSE(set.Has(uint64_t{50} << 32 | 101));
  EXPECT_FALSE(set.Has(0));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
