// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/dependency_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kUs;
using test::ProcessBuilder;
using Times = std::map<results::TimeCategory, int64_t>;  // us

class Graph {
 public:
  explicit Graph(const ProcessBuilder& builder)
      : process_(builder.Build()),
        ops_(process_),
        calls_(process_),
        classes_(process_),
        host_(&ops_),
        graph_(process_, 0, calls_, &ops_, &classes_, &host_) {}

  const DependencyGraph& get() const { return graph_; }
  // Returns the work that began at this time.
  uint32_t At(int64_t us) const {
    for (uint32_t n = 0; n < graph_.nodes().size(); ++n) {
      const DependencyNode& node = graph_.nodes()[n];
      if (node.kind == DependencyNode::Kind::kWork && node.span.start == us * kUs) return n;
    }
    return kNoNode;
  }
  // Returns the categories of the path from the begin of one piece of work to the end of another.
  Times Path(int64_t from_us, int64_t to_us) const {
    Times times;
    int64_t at = from_us * kUs;
    const uint32_t last = At(to_us);
    for (const PathPiece& piece : CriticalPath(graph_, last, true, from_us * kUs)) {
      EXPECT_EQ(piece.span.start, at) << "the path has a gap";
      at = piece.span.end;
      times[piece.category] += piece.span.length() / kUs;
    }
    EXPECT_EQ(at, graph_.nodes()[last].span.end);
    return times;
  }
  // Returns the time from the begin of one piece of work to the end of another, without a category.
  int64_t Without(results::TimeCategory category, int64_t from_us, int64_t to_us) const {
    DependencyGraph::Free free{};
    free[category] = true;
    const PlayedGraph played = graph_.Play(free);
    return (played.spans[At(to_us)].end - played.spans[At(from_us)].start) / kUs;
  }

 private:
  Process process_;
  ProcessOps ops_;
  CallIndex calls_;
  KernelClasses classes_;
  HostActivity host_;
  DependencyGraph graph_;
};

constexpr results::TimeCategory kCompute = results::TIME_CATEGORY_COMPUTE_UNKNOWN;
constexpr results::TimeCategory kHost = results::TIME_CATEGORY_HOST;
constexpr results::TimeCategory kLaunch = results::TIME_CATEGORY_LAUNCH;
constexpr results::TimeCategory kSync = results::TIME_CATEGORY_SYNC;
constexpr results::TimeCategory kCollective = results::TIME_CATEGORY_COLLECTIVE;

// Three launches, 100 us apart; each kernel begins 20 us after its launch and takes 10 us.
TEST(DependencyGraph, AHostThatLaunchesSlowlyIsThePath) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  auto& stream = builder.Stream(0, 1, 7);
  for (const int64_t at : {0, 100, 200}) {
    const auto id = static_cast<uint32_t>(at / 100 + 1);
    builder.Thread(7).Call("cudaLaunchKernel", at * kUs, (at + 5) * kUs, id);
    stream.Kernel(kernel, (at + 20) * kUs, (at + 30) * kUs, id);
  }
  const Graph graph(builder);
  EXPECT_EQ(graph.Path(20, 220), (Times{{kCompute, 10}, {kLaunch, 25}, {kHost, 175}}));
  EXPECT_EQ(graph.Without(kHost, 20, 220), 30) << "three kernels, one behind the other";
  EXPECT_EQ(graph.Without(kCompute, 20, 220), 200);
  EXPECT_EQ(graph.Without(kCollective, 20, 220), 210) << "there is none";
}

TEST(DependencyGraph, KernelsInAQueueAreThePath) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  auto& stream = builder.Stream(0, 1, 7);
  for (int64_t i = 0; i < 3; ++i) {
    const auto id = static_cast<uint32_t>(i + 1);
    builder.Thread(7).Call("cudaLaunchKernel", i * 10 * kUs, (i * 10 + 5) * kUs, id);
    stream.Kernel(kernel, (20 + i * 101) * kUs, (120 + i * 101) * kUs, id);
  }
  const Graph graph(builder);
  EXPECT_EQ(graph.Path(20, 222), (Times{{kCompute, 300}, {kLaunch, 2}}));
  EXPECT_EQ(graph.Without(kHost, 20, 222), 302) << "the host is ahead";
  // Without the kernels' time, launches are 10 us apart, and the way to the device takes 20 us.
  EXPECT_EQ(graph.Without(kCompute, 20, 222), 20);
}

TEST(DependencyGraph, AWaitForTheDeviceLeadsBackToItsWork) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7)
      .Call("cudaLaunchKernel", 0, 5 * kUs, 1)
      .Call("cudaDeviceSynchronize", 5 * kUs, 130 * kUs, 2)
      .Call("cudaLaunchKernel", 140 * kUs, 145 * kUs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 20 * kUs, 120 * kUs, 1)
      .Kernel(kernel, 160 * kUs, 200 * kUs, 3);
  const Graph graph(builder);
  EXPECT_EQ(graph.Path(20, 160), (Times{{kCompute, 140}, {kSync, 10}, {kHost, 10}, {kLaunch, 20}}));
  EXPECT_EQ(graph.Without(kSync, 20, 160), 140) << "both kernels, one behind the other";
  EXPECT_EQ(graph.Without(kHost, 20, 160), 170);
}

// The driver copies pageable memory piece by piece: the call takes as long as the copy.
TEST(DependencyGraph, ACallThatCopiesWithItsWorkTakesNoTimeWithoutIt) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7)
      .Call("cudaMemcpyAsync", 0, 100 * kUs, 1)
      .Call("cudaLaunchKernel", 110 * kUs, 115 * kUs, 2);
  builder.Stream(0, 1, 7)
      .Copy(1, 1, 3, 1 << 20, 20 * kUs, 103 * kUs, 1)
      .Kernel(kernel, 120 * kUs, 130 * kUs, 2);
  const Graph graph(builder);
  EXPECT_EQ(
      graph.Path(20, 120),
      (Times{{results::TIME_CATEGORY_COPY_HTOD, 80}, {kHost, 10}, {kLaunch, 10}, {kCompute, 10}}));
  EXPECT_EQ(graph.Without(results::TIME_CATEGORY_COPY_HTOD, 20, 120), 30);
}

// The second stream waits for an event that was recorded behind the collective.
TEST(DependencyGraph, WaitsForEventsLeadToTheOtherStream) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  const uint32_t reduce = builder.Signature("ncclKernel_AllReduce", 1, 32);
  builder.Thread(7)
      .Call("cudaLaunchKernel", 0, 1 * kUs, 1)
      .Call("cudaEventRecord", 1 * kUs, 2 * kUs, 2)
      .Call("cudaStreamWaitEvent", 2 * kUs, 3 * kUs, 3)
      .Call("cudaLaunchKernel", 3 * kUs, 4 * kUs, 4);
  builder.Stream(0, 1, 7).Kernel(reduce, 10 * kUs, 110 * kUs, 1).Recorded(1 * kUs, 9, 2, 77);
  builder.Stream(0, 1, 8)
      .Sync(kStreamEventWait, 2 * kUs, 3 * kUs, 3, 9, 77)
      .Kernel(kernel, 112 * kUs, 150 * kUs, 4);
  const Graph graph(builder);
  EXPECT_EQ(graph.Path(10, 112),
            (Times{{kCollective, 100}, {results::TIME_CATEGORY_DEPENDENCY, 2}, {kCompute, 38}}));
  EXPECT_EQ(graph.Without(kCollective, 10, 112), 41) << "its launch is 3 us behind the first";
}

// Another thread's first launch follows what the main thread did before.
TEST(DependencyGraph, AThreadThatIsGivenWorkFollowsTheMainThread) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7).Call("cudaLaunchKernel", 0, 5 * kUs, 1).Call("cudaFree", 50 * kUs, 80 * kUs, 2);
  builder.Thread(8)
      .Op("backward", 90 * kUs, 200 * kUs)
      .Call("cudaLaunchKernel", 100 * kUs, 105 * kUs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 10 * kUs, 20 * kUs, 1)
      .Kernel(kernel, 115 * kUs, 125 * kUs, 3);
  const Graph graph(builder);
  // 10 us kernel, 15 us launch, then host time back to 10: cudaFree is a call of the host.
  EXPECT_EQ(graph.Path(10, 115), (Times{{kCompute, 10}, {kLaunch, 15}, {kHost, 90}}));
  EXPECT_EQ(graph.Without(kHost, 10, 115), 20);
}

// In backward() the main thread waits for autograd's thread, which waits for room in the queue.
TEST(DependencyGraph, TheMainThreadWaitsForAutograd) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7)
      .Call("cudaLaunchKernel", 0, 5 * kUs, 1)
      .Call("cudaLaunchKernel", 200 * kUs, 205 * kUs, 4);
  builder.Thread(8)
      .Op("autograd::engine::evaluate_function: MmBackward0", 20 * kUs, 190 * kUs)
      .Call("cudaLaunchKernel", 30 * kUs, 35 * kUs, 2)
      .Call("cudaDeviceSynchronize", 40 * kUs, 180 * kUs, 3);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 10 * kUs, 20 * kUs, 1)
      .Kernel(kernel, 45 * kUs, 170 * kUs, 2)
      .Kernel(kernel, 215 * kUs, 225 * kUs, 4);
  const Graph graph(builder);
  EXPECT_EQ(graph.Path(10, 215), (Times{{kCompute, 135}, {kHost, 40}, {kLaunch, 30}, {kSync, 10}}));
  // The second launch at 30 us, its work at 45, the end of the wait at 55, the third launch at 75,
  // its work at 90.
  EXPECT_EQ(graph.Without(kCompute, 10, 215), 80);
}

TEST(DependencyGraph, PlayedUnchangedItIsAsItWas) {
  std::mt19937 random(23);
  const auto below = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int round = 0; round < 200; ++round) {
    ProcessBuilder builder(7);
    const uint32_t kernel = builder.Signature("k", 1, 32);
    test::TrackBuilder* streams[] = {&builder.Stream(0, 1, 7), &builder.Stream(0, 1, 8)};
    int64_t host[2] = {0, 0};
    int64_t free_at[2] = {0, 0};
    builder.Thread(7);
    for (uint32_t id = 1; id <= 20; ++id) {
      const auto thread = static_cast<size_t>(below(2));
      host[thread] += below(30) * kUs;
      auto& calls = builder.Thread(7 + static_cast<int32_t>(thread));
      if (below(4) == 0) {
        const int64_t end = std::max({host[thread], free_at[0], free_at[1]}) + below(3) * kUs;
        calls.Call("cudaDeviceSynchronize", host[thread], end, id);
        host[thread] = end;
        continue;
      }
      calls.Call("cudaLaunchKernel", host[thread], host[thread] + 3 * kUs, id);
      const auto s = static_cast<size_t>(below(2));
      const int64_t start = std::max(free_at[s], host[thread] + (1 + below(10)) * kUs);
      host[thread] += 3 * kUs;
      free_at[s] = start + (1 + below(20)) * kUs;
      streams[s]->Kernel(kernel, start, free_at[s], id);
    }
    const Graph graph(builder);
    const PlayedGraph played = graph.get().Play({});
    for (size_t n = 0; n < played.spans.size(); ++n)
      EXPECT_EQ(played.spans[n], graph.get().nodes()[n].span) << "round " << round << " node " << n;
    // Without some time nothing takes longer.
    DependencyGraph::Free free{};
    free[kHost] = true;
    const PlayedGraph faster = graph.get().Play(free);
    for (size_t n = 0; n < faster.spans.size(); ++n)
      EXPECT_LE(faster.spans[n].end, played.spans[n].end);
  }
}

}  // namespace
}  // namespace gpuprof::analysis
