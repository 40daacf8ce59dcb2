// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// RequestQueue: order, cancelled requests, pings while a request is answered, limits.

#include "launcher/mcp/request_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gpuprof::launcher {
namespace {

using std::chrono::milliseconds;

TEST(RequestQueue, KnowsPingsAndCancelledRequests) {
  const auto ping = RequestQueue::FactsOf(R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
  EXPECT_TRUE(ping.is_ping);
  EXPECT_EQ(ping.id, "7");
  const auto cancelled = RequestQueue::FactsOf(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}})");
  EXPECT_EQ(cancelled.cancels, "\"7\"");
  EXPECT_EQ(cancelled.id, "");
  for (const char* line :
       {"", "{", "7", "[]", R"({"method":"ping"})", R"({"id":{},"method":"ping"})",
        R"({"method":"notifications/cancelled"})",
        R"({"method":"notifications/cancelled","params":[1]})",
        R"({"method":"notifications/cancelled","params":{"requestId":{}}})"}) {
    const auto facts = RequestQueue::FactsOf(line);
    EXPECT_FALSE(facts.is_ping) << line;
    EXPECT_EQ(facts.cancels, "") << line;
  }
}

TEST(RequestQueue, GivesLinesInTheirOrderWithoutTheCancelledOnes) {
  RequestQueue queue;
  for (const char* id : {"1", "\"1\"", "2"}) queue.Push({id, false}, id);
  queue.Cancel("\"1\"");
  queue.Cancel("9");
  queue.Close();
  RequestQueue::Line line;
  ASSERT_TRUE(queue.Pop(&line));
  EXPECT_EQ(line.text, "1");
  EXPECT_TRUE(queue.FinishAnswer());
  ASSERT_TRUE(queue.Pop(&line));
  EXPECT_EQ(line.text, "2");
  queue.Cancel("2");
  EXPECT_FALSE(queue.FinishAnswer());
  EXPECT_FALSE(queue.Pop(&line));
}

TEST(RequestQueue, IsNotIdleWhileALineWaitsOrIsAnswered) {
  RequestQueue queue;
  EXPECT_TRUE(queue.AwaitIdle(milliseconds(0)));
  queue.Push({"1", false}, "1");
  EXPECT_FALSE(queue.AwaitIdle(milliseconds(0)));
  RequestQueue::Line line;
  ASSERT_TRUE(queue.Pop(&line));
  EXPECT_FALSE(queue.AwaitIdle(milliseconds(0)));
  EXPECT_TRUE(queue.FinishAnswer());
  EXPECT_TRUE(queue.AwaitIdle(milliseconds(0)));
}

TEST(RequestQueue, HoldsFewBytes) {
  RequestQueue queue;
  std::atomic<int> pushed{0};
  std::thread reader([&] {
    for (int i = 0; i < 20; ++i) {
      queue.Push({std::string(size_t{1} << 20, 'x'), false}, "");
      ++pushed;
    }
    queue.Close();
  });
  RequestQueue::Line line;
  int popped = 0;
  for (; queue.Pop(&line); ++popped) {
    EXPECT_LE(pushed.load(), popped + 6);
    queue.FinishAnswer();
  }
  reader.join();
  EXPECT_EQ(popped, 20);
}

}  // namespace
}  // namespace gpuprof::launcher
