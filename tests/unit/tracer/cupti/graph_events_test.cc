// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The queue between callbacks and drain: in order for each thread, nothing twice, what does not fit
// is counted.

#include "tracer/cupti/graph_events.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

GraphEvent Event(uint64_t thread, uint64_t node) {
  GraphEvent event;
  event.what = kGraphNodeCreated;
  event.thread = thread;
  event.node = node;
  return event;
}

TEST(GraphEvents, ComeOutAsTheyWentInOverManyRounds) {
  const auto queue = std::make_unique<GraphEvents>();
  bool is_crowded = false;
  GraphEvent event;
  uint64_t next = 0;
  for (uint64_t put = 0; put < 5 * uint64_t{GraphEvents::kSlots}; ++put) {
    ASSERT_TRUE(queue->Put(Event(1, put), &is_crowded));
    if (put % 1000 != 999) continue;
    EXPECT_FALSE(queue->IsEmpty());
    for (; queue->Take(&event); ++next) ASSERT_EQ(event.node, next);
    EXPECT_TRUE(queue->IsEmpty());
  }
  EXPECT_EQ(queue->refused(), 0u);
}

TEST(GraphEvents, FullItRefusesAndCounts) {
  const auto queue = std::make_unique<GraphEvents>();
  bool is_crowded = false;
  uint32_t calls = 0;
  for (uint32_t i = 0; i < GraphEvents::kSlots; ++i) {
    ASSERT_TRUE(queue->Put(Event(1, i), &is_crowded));
    calls += is_crowded ? 1 : 0;
  }
  EXPECT_EQ(calls, 4u) << "the drain is called before it is too late";
  EXPECT_FALSE(queue->Put(Event(1, 1), &is_crowded));
  EXPECT_EQ(queue->refused(), 1u);
  GraphEvent event;
  ASSERT_TRUE(queue->Take(&event));
  EXPECT_TRUE(queue->Put(Event(1, 7), &is_crowded));
  queue->Forget();
  EXPECT_TRUE(queue->IsEmpty());
  EXPECT_FALSE(queue->Take(&event));
  EXPECT_TRUE(queue->Put(Event(1, 8), &is_crowded));
  ASSERT_TRUE(queue->Take(&event));
  EXPECT_EQ(event.node, 8u);
}

TEST(GraphEvents, OfSeveralThreadsAllComeEachInItsOrder) {
  constexpr uint64_t kThreads = 4, kEach = 50'000;
  const auto queue = std::make_unique<GraphEvents>();
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&queue, t] {
      bool is_crowded = false;
      for (uint64_t i = 0; i < kEach; ++i) {
        while (!queue->Put(Event(t, i), &is_crowded)) std::this_thread::yield();
      }
    });
  }
  std::map<uint64_t, uint64_t> next;
  GraphEvent event;
  for (uint64_t taken = 0; taken < kThreads * kEach;) {
    if (!queue->Take(&event)) continue;
    ASSERT_EQ(event.node, next[event.thread]++);
    ++taken;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(queue->IsEmpty());
}

// A library whose numbers are the handles themselves.
int GraphId(void* handle, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
  return kSuccess;
}
int NodeId(void* handle, uint64_t* id) {
  *id = reinterpret_cast<uintptr_t>(handle);
  return kSuccess;
}
void* Handle(uintptr_t number) { return reinterpret_cast<void*>(number); }

TEST(GraphEvents, CallbacksAreReadByTheLibrarysNumbers) {
  Functions functions;
  functions.get_graph_id = GraphId;
  functions.get_graph_node_id = NodeId;
  functions.get_graph_exec_id = GraphId;
  const GraphData graph = {Handle(4), Handle(3), Handle(40), Handle(30), 2, nullptr, Handle(9)};
  const ResourceData data = {nullptr, nullptr, &graph};
  GraphEvent event;
  ASSERT_TRUE(ReadGraphEvent(functions, kGraphNodeCloned, data, &event));
  EXPECT_EQ(event.node, 40u);
  EXPECT_EQ(event.source_node, 30u);
  EXPECT_EQ(event.graph, 4u);
  EXPECT_EQ(event.source_graph, 3u);
  EXPECT_EQ(event.node_type, 2u);
  event = {};
  ASSERT_TRUE(ReadGraphEvent(functions, kGraphExecCreated, data, &event));
  EXPECT_EQ(event.graph, 9u);
  EXPECT_EQ(event.source_graph, 4u);
  functions.get_graph_exec_id = nullptr;  // before 12.3
  event = {};
  ASSERT_TRUE(ReadGraphEvent(functions, kGraphExecCreated, data, &event));
  EXPECT_EQ(event.graph, 0u);
  EXPECT_FALSE(ReadGraphEvent(functions, kContextCreated, data, &event));
  EXPECT_FALSE(ReadGraphEvent(functions, kGraphCreated, {nullptr, nullptr, nullptr}, &event));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
