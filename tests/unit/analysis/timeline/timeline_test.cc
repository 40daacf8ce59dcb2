// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/derived/call_kind.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::timeline {
namespace {

using test::kUs;
using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const Trace> TraceOf(Process process) {
  ModelBuilder model("bundle");
  model.AddProcess(std::move(process));
  return std::make_shared<const Trace>(model.Finish());
}

std::shared_ptr<const Trace> TraceOf(const test::ProcessBuilder& builder) {
  return TraceOf(builder.Build());
}

uint32_t TrackOf(const Timeline& timeline, TrackKind kind) {
  for (const TrackInfo& track : timeline.info().tracks) {
    if (track.kind == kind) return track.id;
  }
  ADD_FAILURE() << "no track " << TrackKindWord(kind);
  return 0;
}

std::vector<std::string> NamesOf(const std::vector<EventRef>& refs) {
  std::vector<std::string> names;
  for (const EventRef& ref : refs) names.push_back(ref.name);
  return names;
}

test::ProcessBuilder& Kernels(test::ProcessBuilder& builder) {
  const uint32_t gemm = builder.Signature("ampere_sgemm_128x64_nn", 8, 128);
  const uint32_t relu = builder.Signature("relu_kernel", 8, 128);
  builder.Thread(7).Call("cudaLaunchKernel", 0, 2 * kUs, 1);
  builder.Stream(0, 1, 7)
      .Kernel(gemm, 10 * kUs, 110 * kUs, 1)
      .Kernel(relu, 110 * kUs, 111 * kUs)
      .Kernel(relu, 112 * kUs, 113 * kUs)
      .Kernel(gemm, 500 * kUs, 600 * kUs);
  return builder;
}

TEST(TimelineTest, ShortSpansAreGatheredAndLongOnesAreDrawn) {
  test::ProcessBuilder builder(7);
  Timeline timeline(TraceOf(Kernels(builder)));
  const uint32_t stream = TrackOf(timeline, TrackKind::kStream);
  EXPECT_EQ(timeline.info().tracks[stream].rows, 4u);
  SpansAnswer answer;
  // Short is less than 4 us; a cell is 64 us and more wide: 65,536 ns. 110 us are in the second.
  ASSERT_FALSE(timeline.Spans({stream}, 0, 1000 * kUs, 1000, &answer));
  ASSERT_EQ(answer.tracks.size(), 1u);
  const Rectangles& drawn = answer.tracks[0].rectangles;
  EXPECT_THAT(drawn.start_ns, ElementsAre(10 * kUs, 110 * kUs, 500 * kUs));
  EXPECT_THAT(drawn.end_ns, ElementsAre(110 * kUs, 113 * kUs, 600 * kUs));
  EXPECT_THAT(drawn.count, ElementsAre(1u, 2u, 1u));
  EXPECT_THAT(drawn.busy_ns, ElementsAre(100 * kUs, 2 * kUs, 100 * kUs));
  EXPECT_THAT(drawn.row, ElementsAre(0u, kFolded, 3u));
  EXPECT_THAT(drawn.bar_first, ElementsAre(0u, 0u, drawn.bar_first[2], drawn.bar_first[2]));
  double busy = 0;
  for (const double each : drawn.bar_busy_ns) busy += each;
  EXPECT_EQ(busy, 2 * kUs);
  EXPECT_EQ(answer.names.size(), 1u);  // cells have no name
  EXPECT_EQ(drawn.cls[0], static_cast<uint8_t>(SpanClass::kGemm));
}

TEST(TimelineTest, RangesAreCutAtTheirEdges) {
  test::ProcessBuilder builder(7);
  Timeline timeline(TraceOf(Kernels(builder)));
  RangeAnswer range;
  Selection selection;
  selection.start_ns = 60 * kUs;
  selection.end_ns = 550 * kUs;
  ASSERT_FALSE(timeline.Range(TrackKind::kStream, selection, &range));
  ASSERT_EQ(range.rows.size(), 2u);
  EXPECT_EQ(range.rows[0].count, 2);
  EXPECT_EQ(range.rows[0].total_ns, 100 * kUs);  // 50 of the first, 50 of the last
  EXPECT_EQ(range.rows[0].mean_ns, 100 * kUs);
  EXPECT_EQ(range.rows[1].total_ns, 2 * kUs);
  EXPECT_EQ(range.busy[0].busy_ns, 102 * kUs);
  std::vector<DeviceGaps> gaps;
  ASSERT_FALSE(timeline.Gaps(selection, &gaps));
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].gap_count, 2u);
  EXPECT_EQ(gaps[0].idle_ns, 388 * kUs);
  EXPECT_EQ(gaps[0].gaps[0].start_ns, 113 * kUs);
  EXPECT_EQ(gaps[0].window_ns, 490 * kUs);
  selection.devices = {{1}};
  ASSERT_FALSE(timeline.Gaps(selection, &gaps));
  EXPECT_THAT(gaps, IsEmpty());
}

TEST(TimelineTest, AnEventHasItsCausesAndEffects) {
  test::ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("kernel", 1, 32);
  builder.Thread(7)
      .Op("aten::linear", 0, 100 * kUs)
      .Op("aten::mm", 10 * kUs, 40 * kUs)
      .Call("cudaLaunchKernel", 20 * kUs, 25 * kUs, 1)
      .Range("", "forward", 0, 200 * kUs);
  builder.Stream(0, 1, 7).Kernel(kernel, 30 * kUs, 60 * kUs, 1);
  Timeline timeline(TraceOf(builder));
  const uint32_t stream = TrackOf(timeline, TrackKind::kStream);
  EventDetail event;
  ASSERT_FALSE(timeline.Event(stream, 0, &event));
  EXPECT_THAT(NamesOf(event.causes), ElementsAre("cudaLaunchKernel", "aten::mm", "forward"));
  for (const EventRef& cause : std::vector<EventRef>(event.causes)) {
    EventDetail back;
    ASSERT_FALSE(timeline.Event(cause.track, cause.row, &back));
    ASSERT_EQ(back.effects.size(), 1u) << cause.name;
    EXPECT_EQ(back.effects[0].track, stream);
  }
  EXPECT_TRUE(timeline.Event(stream, 1, &event));
  EXPECT_TRUE(timeline.Event(99, 0, &event));
}

// By time alone the work would belong to what ran on the thread of the call.
TEST(TimelineTest, TheSourcesOwnIdsDecideOperations) {
  test::ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("kernel", 1, 32);
  builder.Thread(7).Op("aten::a", 0, 10 * kUs).Call("cudaLaunchKernel", 5 * kUs, 6 * kUs, 1);
  builder.Thread(8).Op("aten::b", 0, 10 * kUs);
  builder.Stream(0, 1, 7).Kernel(kernel, 20 * kUs, 30 * kUs, 1).Kernel(kernel, 30 * kUs, 31 * kUs);
  Process process = builder.Build();
  process.tracks[0].op.external = {11};
  process.tracks[1].op.external = {12};
  process.tracks[2].kernel.external = {12, 11};
  Timeline timeline(TraceOf(std::move(process)));
  const uint32_t stream = TrackOf(timeline, TrackKind::kStream);
  EventDetail event;
  ASSERT_FALSE(timeline.Event(stream, 0, &event));
  EXPECT_THAT(NamesOf(event.causes), ElementsAre("cudaLaunchKernel", "aten::b"));
  const EventRef op_b = event.causes[1];
  ASSERT_FALSE(timeline.Event(stream, 1, &event));  // its call was not recorded
  EXPECT_THAT(NamesOf(event.causes), ElementsAre("aten::a"));
  const EventRef op_a = event.causes[0];
  ASSERT_FALSE(timeline.Event(op_b.track, op_b.row, &event));
  ASSERT_EQ(event.effects.size(), 1u);
  EXPECT_EQ(event.effects[0].row, 0u);
  ASSERT_FALSE(timeline.Event(op_a.track, op_a.row, &event));
  ASSERT_EQ(event.effects.size(), 1u);
  EXPECT_EQ(event.effects[0].row, 1u);
}

TEST(TimelineTest, FindsEventsByNameAndByTime) {
  test::ProcessBuilder builder(7);
  Timeline timeline(TraceOf(Kernels(builder)));
  SearchAnswer found;
  ASSERT_FALSE(timeline.Search("RELU", 1, &found));
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.total_ns, 2 * kUs);
  ASSERT_EQ(found.hits.size(), 1u);
  EXPECT_EQ(found.hits[0].start_ns, 110 * kUs);
  const uint32_t stream = TrackOf(timeline, TrackKind::kStream);
  std::optional<EventRef> at;
  ASSERT_FALSE(timeline.At(stream, 112.5 * kUs, &at));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->row, 2u);
  ASSERT_FALSE(timeline.At(stream, 300 * kUs, &at));
  EXPECT_FALSE(at);
}

TEST(TimelineTest, WorkThatWaitsIsACurve) {
  test::ProcessBuilder builder(7);
  Timeline timeline(TraceOf(Kernels(builder)));
  CounterAnswer curve;
  ASSERT_FALSE(timeline.Counter(TrackOf(timeline, TrackKind::kQueue), 0, 1e9, 1, &curve));
  EXPECT_THAT(curve.time_ns, ElementsAre(2 * kUs, 10 * kUs));
  EXPECT_THAT(curve.most, ElementsAre(1, 0));
  EXPECT_TRUE(timeline.Counter(TrackOf(timeline, TrackKind::kStream), 0, 1e9, 1, &curve));
}

TEST(TimelineTest, StreamsOfGraphsAloneShareLanes) {
  test::ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("kernel", 1, 32);
  for (uint32_t stream = 0; stream < 10; ++stream)
    builder.Stream(0, 1, 20 + stream)
        .Kernel(kernel, stream * 5 * kUs, (stream * 5 + 7) * kUs, 0, 3);
  Timeline timeline(TraceOf(builder));
  const TrackInfo& lanes = timeline.info().tracks[TrackOf(timeline, TrackKind::kGraphLane)];
  EXPECT_EQ(lanes.name, "10 graph streams");
  EXPECT_EQ(lanes.rows, 10u);
  EXPECT_EQ(lanes.depth, 2u);
  EventDetail event;
  ASSERT_FALSE(timeline.Event(lanes.id, 9, &event));
  EXPECT_EQ(event.event.start_ns, 45 * kUs);
  ASSERT_FALSE(event.fields.empty());
  EXPECT_EQ(event.fields[0].value, "stream 29");
}

// Spans that nest and cross, many of them short, with equal starts and moments among them.
std::shared_ptr<const Trace> RandomTrace(uint32_t seed, int64_t rows) {
  std::mt19937 random(seed);
  const auto below = [&random](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  test::ProcessBuilder builder(7);
  std::vector<uint32_t> signatures;
  for (const char* name : {"ampere_sgemm_128x64_nn", "relu_kernel", "ncclKernel", "copy_kernel"})
    signatures.push_back(builder.Signature(name, 1, 32));
  test::TrackBuilder& stream = builder.Stream(0, 1, 7);
  test::TrackBuilder& thread = builder.Thread(7);
  int64_t now = 0;
  for (int64_t i = 0; i < rows; ++i) {
    now += below(8) == 0 ? below(100 * kUs) : below(200);
    const int64_t length = below(20) == 0 ? below(300 * kUs) : below(4) == 0 ? 0 : below(900);
    const uint32_t signature = signatures[static_cast<size_t>(below(4))];
    stream.Kernel(signature, now, now + length);
    thread.Op("op" + std::to_string(below(9)), now / 2, now / 2 + length * below(3));
  }
  return TraceOf(builder);
}

bool Same(const Rectangles& x, const Rectangles& y) {
  return x.start_ns == y.start_ns && x.end_ns == y.end_ns && x.depth == y.depth &&
         x.name == y.name && x.cls == y.cls && x.row == y.row && x.count == y.count &&
         x.busy_ns == y.busy_ns && x.bar_first == y.bar_first && x.bar_start_ns == y.bar_start_ns &&
         x.bar_end_ns == y.bar_end_ns && x.bar_cls == y.bar_cls && x.bar_busy_ns == y.bar_busy_ns;
}

TimelineOptions Fine() {
  TimelineOptions options;
  options.grain = {16, 10, 64};
  return options;
}

class TimelineOfRandomRows : public testing::TestWithParam<uint32_t> {};

// What pyramids and stretches keep must not show in any answer.
TEST_P(TimelineOfRandomRows, AnswersDoNotDependOnTheGrain) {
  const auto trace = RandomTrace(GetParam(), 3000);
  Timeline fine(trace, Fine()), coarse(trace);
  TimelineOptions poor = Fine();
  poor.memory_limit_bytes = 0;
  Timeline forgetful(trace, poor);
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> part(0, 1);
  const double end = coarse.info().end_ns;
  std::vector<uint32_t> tracks = {TrackOf(coarse, TrackKind::kStream),
                                  TrackOf(coarse, TrackKind::kOp)};
  for (int turn = 0; turn < 60; ++turn) {
    const double length = end * std::pow(part(random), 4);
    Selection at;
    at.start_ns = (end - length) * part(random);
    at.end_ns = at.start_ns + length;
    const double scale = length / (20 + 2000 * part(random)) + 0.001;
    SpansAnswer expected, found, again;
    ASSERT_FALSE(coarse.Spans(tracks, at.start_ns, at.end_ns, scale, &expected));
    ASSERT_FALSE(fine.Spans(tracks, at.start_ns, at.end_ns, scale, &found));
    ASSERT_FALSE(forgetful.Spans(tracks, at.start_ns, at.end_ns, scale, &again));
    EXPECT_EQ(found.names, expected.names);
    for (size_t i = 0; i < tracks.size(); ++i) {
      ASSERT_TRUE(Same(found.tracks[i].rectangles, expected.tracks[i].rectangles))
          << at.start_ns << " " << at.end_ns << " " << scale;
      ASSERT_TRUE(Same(again.tracks[i].rectangles, expected.tracks[i].rectangles));
    }
    RangeAnswer wanted, range;
    for (const TrackKind kind : {TrackKind::kStream, TrackKind::kOp}) {
      ASSERT_FALSE(coarse.Range(kind, at, &wanted));
      ASSERT_FALSE(fine.Range(kind, at, &range));
      ASSERT_EQ(range.rows.size(), wanted.rows.size());
      for (size_t i = 0; i < range.rows.size(); ++i) {
        EXPECT_EQ(range.rows[i].name, wanted.rows[i].name);
        EXPECT_EQ(range.rows[i].count, wanted.rows[i].count);
        EXPECT_NEAR(range.rows[i].total_ns, wanted.rows[i].total_ns, 1e-3);
      }
      EXPECT_NEAR(range.busy[0].busy_ns, wanted.busy[0].busy_ns, 1e-3);
    }
    std::optional<EventRef> here, there;
    ASSERT_FALSE(coarse.At(tracks[1], at.start_ns, &here));
    ASSERT_FALSE(fine.At(tracks[1], at.start_ns, &there));
    ASSERT_EQ(here.has_value(), there.has_value());
    if (here) {
      EXPECT_EQ(here->row, there->row);
    }
  }
  SearchAnswer wanted, found;
  ASSERT_FALSE(coarse.Search("op3", 20, &wanted));
  ASSERT_FALSE(fine.Search("op3", 20, &found));
  EXPECT_EQ(found.count, wanted.count);
  EXPECT_EQ(found.hits.back().row, wanted.hits.back().row);
}

// Each nanosecond of each event is in one cell or rectangle.
TEST_P(TimelineOfRandomRows, CellsKeepAllEvents) {
  const auto trace = RandomTrace(GetParam(), 2000);
  Timeline timeline(trace, Fine());
  const uint32_t stream = TrackOf(timeline, TrackKind::kStream);
  RangeAnswer range;
  Selection all;
  all.end_ns = timeline.info().end_ns + 1;
  ASSERT_FALSE(timeline.Range(TrackKind::kStream, all, &range));
  double total = 0;
  for (const RangeRow& row : range.rows) total += row.total_ns;
  for (const double pixels : {1.0, 30.0, 3840.0, 1e6}) {
    SpansAnswer answer;
    ASSERT_FALSE(timeline.Spans({stream}, 0, all.end_ns, all.end_ns / pixels, &answer));
    const Rectangles& drawn = answer.tracks[0].rectangles;
    double busy = 0, count = 0, bars = 0, folded = 0;
    for (size_t i = 0; i < drawn.count.size(); ++i) {
      busy += drawn.busy_ns[i];
      count += drawn.count[i];
      if (drawn.row[i] == kFolded) folded += drawn.busy_ns[i];
    }
    for (const double each : drawn.bar_busy_ns) bars += each;
    EXPECT_EQ(count, 2000);
    EXPECT_EQ(busy, total);
    EXPECT_EQ(bars, folded);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimelineOfRandomRows, testing::Range(1u, 6u));

TEST(TimelineTest, MemoryAboveTheLimitIsGivenBack) {
  const auto trace = RandomTrace(1, 2000);
  TimelineOptions options = Fine();
  options.memory_limit_bytes = 0;
  Timeline poor(trace, options), rich(trace, Fine());
  SpansAnswer answer;
  const uint32_t stream = TrackOf(poor, TrackKind::kStream), op = TrackOf(poor, TrackKind::kOp);
  for (Timeline* each : {&poor, &rich}) {
    ASSERT_FALSE(each->Spans({stream, op}, 0, 1e9, 1e6, &answer));
    ASSERT_FALSE(each->Spans({stream}, 0, 1e9, 1e6, &answer));
  }
  EXPECT_GT(poor.bytes(), 0u);
  EXPECT_LT(poor.bytes(), rich.bytes());
}

TEST(TimelineTest, DamagedTimesAndManyLanesAreDrawn) {
  test::ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("kernel", 1, 32);
  test::TrackBuilder& stream = builder.Stream(0, 1, 7);
  for (int i = 0; i < 1000; ++i) stream.Kernel(kernel, i, 5000 + i);
  Process process = builder.Build();
  KernelTable& kernels = process.tracks[0].kernel;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const auto& [end, duration] : std::vector<std::pair<int64_t, int64_t>>{
           {kMost, -1}, {kMost, kMost}, {-kMost, kMost}, {-kMost - 1, 1}, {0, -kMost - 1}}) {
    kernels.end_ns.push_back(end);
    kernels.duration_ns.push_back(duration);
    kernels.signature.push_back(77);  // not known
    kernels.correlation.push_back(0xffffffff);
    kernels.graph.push_back(0);
    kernels.graph_node.push_back(0);
    kernels.capture.push_back(1);
    kernels.weight.push_back(0);
  }
  Timeline timeline(TraceOf(std::move(process)), Fine());
  const uint32_t track = TrackOf(timeline, TrackKind::kStream);
  EXPECT_EQ(timeline.info().tracks[track].depth, 256u);
  for (const double scale : {1e-9, 1e-3, 1.0, 1e6, 1e15, 1e300}) {
    for (const double end : {1e4, 1e18, 1e19, 1e300}) {
      SpansAnswer answer;
      ASSERT_FALSE(timeline.Spans({track}, -end, end, scale, &answer)) << scale << " " << end;
      double count = 0;
      for (const uint32_t each : answer.tracks[0].rectangles.count) count += each;
      EXPECT_GE(count, 1000) << scale << " " << end;
    }
  }
  RangeAnswer range;
  Selection all;
  all.start_ns = -1e19;
  all.end_ns = 1e19;
  ASSERT_FALSE(timeline.Range(TrackKind::kStream, all, &range));
  for (uint32_t row = 0; row < 1005; ++row) {
    EventDetail event;
    ASSERT_FALSE(timeline.Event(track, row, &event));
  }
}

TEST(TimelineTest, CallsOfPythonAreATree) {
  test::ProcessBuilder builder(7);
  builder.Thread(7).Op("x", 0, 1);
  Process process = builder.Build();
  PythonTable& python = process.tracks[0].python;
  const uint32_t main = builder.Id("main"), step = builder.Id("step");
  process.strings[main] = "main";
  process.strings[step] = "step";
  // Rows are written when calls end.
  for (const auto& [start, end, name] : std::vector<std::tuple<int64_t, int64_t, uint32_t>>{
           {10, 30, step}, {40, 60, step}, {0, 100, main}}) {
    python.end_ns.push_back(end);
    python.duration_ns.push_back(end - start);
    python.name.push_back(name);
    python.parent.push_back(name == main ? PythonTable::kNoRow : 2);
    python.stack.push_back(0);
    python.self_ns.push_back(0);
  }
  Timeline timeline(TraceOf(std::move(process)));
  CallTree tree;
  Selection range;
  range.start_ns = 20;
  range.end_ns = 50;
  ASSERT_FALSE(timeline.Calls(range, &tree));
  EXPECT_THAT(tree.names, ElementsAre("", "main", "step"));
  EXPECT_THAT(tree.caller, ElementsAre(0u, 0u, 1u));
  EXPECT_THAT(tree.self_ns, ElementsAre(0, 10, 20));
}

TEST(CallKindTest, NamesOfCallsTellWhatTheyAreFor) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"cudaLaunchKernel", "launch"},
      {"cuLaunchKernelEx_ptsz", "launch"},
      {"cudaGraphLaunch_v10000", "launch"},
      {"cudaStreamSynchronize", "wait"},
      {"cudaStreamSynchronize_ptsz", "wait"},
      {"cudaStreamWaitEvent", "wait"},
      {"cudaMemcpyAsync", "copy"},
      {"cudaMemset", "copy"},
      {"cudaMalloc", "memory"},
      {"cuMemAlloc_v2", "memory"},
      {"cudaMemGetInfo", "memory"},
      {"cudaHostAlloc", "memory"},
      {"cuModuleLoadData", "code"},
      {"cudaFuncGetAttributes", "code"},
      {"cudaGetDevice", "other"},
      {"cudaEventQuery", "other"},
      {"", "other"}};
  for (const auto& [name, kind] : kinds) EXPECT_EQ(CallKindWord(CallKindOf(name)), kind) << name;
  EXPECT_EQ(PlainCallName("cuMemcpyDtoH_v2_ptds"), "cuMemcpyDtoH");
  EXPECT_EQ(PlainCallName("_v2"), "_v2");
}

}  // namespace
}  // namespace gpuprof::analysis::timeline
