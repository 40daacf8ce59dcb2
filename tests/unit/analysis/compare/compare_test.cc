// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Comparisons of recordings whose difference is known by construction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "proto/results/baseline.pb.h"
#include "proto/results/diff.pb.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// Steps on a GPU: a kernel "mm" of `mm_us`, with noise, and a kernel "add" of 100 us.
Trace Make(int64_t mm_us, int64_t noise_us, int steps, uint32_t seed, bool with_add = true,
           uint32_t grid = 1, const std::string& cupti = "") {
  std::mt19937 random(seed);
  ProcessBuilder builder(5);
  if (!cupti.empty()) {
    proto::Note* note = builder.process().health.add_note();
    note->set_source("cupti");
    note->set_text(cupti);
  }
  const uint32_t mm = builder.Signature("mm", grid, 32), add = builder.Signature("add", 1, 32);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  int64_t at = 0;
  uint32_t id = 0;
  for (int step = 0; step < steps; ++step) {
    const int64_t begin = at;
    const int64_t extra =
        noise_us == 0 ? 0 : static_cast<int64_t>(random() % static_cast<uint64_t>(noise_us));
    thread.Op("aten::mm", at, at + 20 * kUs).Call("cudaLaunchKernel", at, at + 5 * kUs, ++id);
    const int64_t mm_end = at + 10 * kUs + (mm_us + extra) * kUs;
    stream.Kernel(mm, at + 10 * kUs, mm_end, id);
    at = mm_end;
    if (with_add) {
      thread.Call("cudaLaunchKernel", begin + 10 * kUs, begin + 15 * kUs, ++id);
      stream.Kernel(add, mm_end, mm_end + 100 * kUs, id);
      at += 100 * kUs;
    }
    thread.User("step " + std::to_string(step), begin, at);
  }
  return MakeTrace({&builder});
}

results::Diff Diff(const Trace& before, const Trace& after) {
  PassOptions options;
  options.symbolize = false;
  std::unique_ptr<google::protobuf::Message> result;
  const Error error = Compare(before, after, options, &result);
  EXPECT_FALSE(error) << error.message;
  return dynamic_cast<results::Diff&>(*result);
}

TEST(Compare, StepsOfOneLengthAreNeutral) {
  const results::Diff diff = Diff(Make(1000, 0, 20, 1), Make(1000, 0, 20, 2));
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_NEUTRAL);
  EXPECT_EQ(diff.comparability().score_ratio(), 1);
  EXPECT_FALSE(IsRegression(diff));
}

TEST(Compare, ASlowerKernelIsARegressionAndIsNamed) {
  const results::Diff diff = Diff(Make(1000, 20, 20, 1), Make(1200, 20, 20, 2));
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_REGRESSION);
  EXPECT_TRUE(IsRegression(diff));
  EXPECT_NEAR(diff.steps().change_ratio(), 200.0 / 1120, 0.02);
  EXPECT_LT(diff.steps().change_low_ratio(), diff.steps().change_ratio());
  EXPECT_GT(diff.steps().change_high_ratio(), diff.steps().change_ratio());
  ASSERT_EQ(diff.kernels_size(), 2);
  EXPECT_EQ(diff.kernels(0).name(), "mm") << "the greatest change first";
  EXPECT_NEAR(static_cast<double>(diff.kernels(0).change_ns()), 200e3, 10e3);
  EXPECT_EQ(diff.kernels(0).before_count(), 1);
  EXPECT_EQ(diff.kernels(1).change_ns(), 0);
  EXPECT_EQ(Diff(Make(1200, 20, 20, 2), Make(1000, 20, 20, 1)).verdict(),
            results::DIFF_VERDICT_IMPROVEMENT);
}

TEST(Compare, NoiseIsNoRegression) {
  int regressions = 0;
  for (uint32_t seed = 0; seed < 20; ++seed)
    regressions += IsRegression(Diff(Make(1000, 600, 15, seed), Make(1000, 600, 15, seed + 100)));
  EXPECT_LE(regressions, 1);
}

TEST(Compare, FewStepsAreInconclusive) {
  const results::Diff diff = Diff(Make(1000, 0, 3, 1), Make(2000, 0, 3, 2));
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_INCONCLUSIVE);
  EXPECT_THAT(diff.comparability().reasons(),
              testing::Contains(static_cast<int>(results::DIFF_REASON_FEW_STEPS)));
}

TEST(Compare, StepsOfTheHostAreNotThoseOfADevice) {
  results::Baseline host, device;
  for (int i = 0; i < 10; ++i) {
    host.add_step_ns(47 * kMs);
    device.add_step_ns(35 * kMs);
  }
  for (results::Baseline* side : {&host, &device}) {
    side->set_step_count(10);
    side->set_step_median_ns(side->step_ns(0));
  }
  host.set_window(results::STEP_WINDOW_MARK);
  device.set_window(results::STEP_WINDOW_DEVICE);
  std::unique_ptr<google::protobuf::Message> result;
  ASSERT_FALSE(CompareBaselines(host, device, &result));
  const auto& diff = dynamic_cast<results::Diff&>(*result);
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_INCONCLUSIVE);
  EXPECT_TRUE(diff.steps().differs_in_window());
  EXPECT_FALSE(diff.steps().has_change_ratio());
  EXPECT_THAT(Render(diff, Format::kText, {}, 0), testing::HasSubstr("not compared"));
}

TEST(Compare, ASingleStepHasNoInterval) {
  results::Baseline one;
  one.add_step_ns(47 * kMs);
  one.set_step_count(1);
  one.set_step_median_ns(47 * kMs);
  std::unique_ptr<google::protobuf::Message> result;
  ASSERT_FALSE(CompareBaselines(one, one, &result));
  const auto& diff = dynamic_cast<results::Diff&>(*result);
  EXPECT_TRUE(diff.steps().has_change_ratio());
  EXPECT_FALSE(diff.steps().has_change_low_ratio());
  EXPECT_THAT(Render(diff, Format::kText, {}, 0), testing::Not(testing::HasSubstr("95 %")));
}

TEST(Compare, KernelsOfOneSideAreThere) {
  const results::Diff diff = Diff(Make(1000, 0, 20, 1, true), Make(1000, 0, 20, 2, false));
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_IMPROVEMENT);
  ASSERT_EQ(diff.kernels(0).name(), "add");
  EXPECT_FALSE(diff.kernels(0).has_after_ns());
  EXPECT_EQ(diff.kernels(0).change_ns(), -100 * kUs);
  EXPECT_THAT(diff.comparability().reasons(),
              testing::ElementsAre(static_cast<int>(results::DIFF_REASON_OTHER_KERNEL_COUNT)));
}

TEST(Compare, OtherGridsAreOtherShapes) {
  const results::Diff same = Diff(Make(1000, 0, 20, 1), Make(1500, 0, 20, 2));
  EXPECT_EQ(same.comparability().shapes(), results::DIFF_SHAPES_GRIDS);
  EXPECT_EQ(same.comparability().same_shape_ratio(), 1) << "slower kernels have the same shapes";
  const results::Diff other = Diff(Make(1000, 0, 20, 1), Make(1000, 0, 20, 2, true, 2));
  // mm is 1,000 of 1,100 us.
  EXPECT_NEAR(other.comparability().same_shape_ratio(), 1.0 / 11, 1e-3);
  EXPECT_THAT(other.comparability().reasons(),
              testing::ElementsAre(static_cast<int>(results::DIFF_REASON_OTHER_SHAPES)));
  EXPECT_NEAR(other.comparability().score_ratio(), (1 + 1.0 / 11) / 2, 1e-3);
}

TEST(Compare, ShapesOfInputsGoBeforeGrids) {
  const auto make = [](const std::string& shapes) {
    ProcessBuilder builder(5);
    builder.Thread(5).Op("aten::mm", 0, kMs);
    const uint32_t detail = builder.Id("{\"Input Dims\":" + shapes + "}");
    Trace trace = MakeTrace({&builder});
    for (Track& track : trace.processes[0].tracks) {
      if (track.op.rows() == 1 && !shapes.empty()) track.op.detail.push_back(detail);
    }
    return trace;
  };
  const results::Diff same = Diff(make("[[2,3],[3,4]]"), make("[[2,3],[3,4]]"));
  EXPECT_EQ(same.comparability().shapes(), results::DIFF_SHAPES_INPUTS);
  EXPECT_EQ(same.comparability().same_shape_ratio(), 1);
  EXPECT_EQ(Diff(make("[[2,3],[3,4]]"), make("[[8,3],[3,4]]")).comparability().same_shape_ratio(),
            0);
  EXPECT_FALSE(Diff(make("[[2,3]]"), make("")).comparability().has_same_shape_ratio())
      << "one side does not tell";
}

TEST(Compare, VersionsCountIfBothSidesTellThem) {
  const auto reasons = [](const std::string& before, const std::string& after) {
    return Diff(Make(1000, 0, 20, 1, true, 1, before), Make(1000, 0, 20, 1, true, 1, after))
        .comparability()
        .reasons();
  };
  EXPECT_THAT(reasons("CUPTI 13.0 (130001) of /a/b", "CUPTI 12.9 (120900) of /a/b"),
              testing::ElementsAre(static_cast<int>(results::DIFF_REASON_OTHER_VERSIONS)));
  EXPECT_THAT(reasons("CUPTI 13.0 (130001) of /a/b", "CUPTI 13.0 (130001) of /c"),
              testing::IsEmpty());
  EXPECT_THAT(reasons("CUPTI 13.0 (130001) of /a/b", ""), testing::IsEmpty());
}

TEST(Compare, RowsHaveIntervals) {
  const results::Diff diff = Diff(Make(1000, 50, 20, 1), Make(1200, 50, 20, 2));
  const results::RowDiff& mm = diff.kernels(0);
  ASSERT_EQ(mm.name(), "mm");
  ASSERT_TRUE(mm.has_change_low_ns());
  EXPECT_LT(mm.change_low_ns(), mm.change_ns());
  EXPECT_GT(mm.change_high_ns(), mm.change_ns());
  EXPECT_GT(mm.change_low_ns(), 150 * kUs);
  EXPECT_FALSE(diff.kernels(1).has_change_low_ns()) << "add did not change";
  EXPECT_FALSE(Diff(Make(1000, 50, 3, 1), Make(1200, 50, 3, 2)).kernels(0).has_change_low_ns())
      << "three steps are too few";
}

TEST(Compare, NoiseOfAKernelIsWithinItsInterval) {
  int beyond = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const results::Diff diff = Diff(Make(1000, 600, 15, seed), Make(1000, 600, 15, seed + 100));
    for (const results::RowDiff& row : diff.kernels())
      beyond += row.has_change_low_ns() && (row.change_low_ns() > 0 || row.change_high_ns() < 0);
  }
  EXPECT_LE(beyond, 4) << "one in twenty, by chance";
}

// What a baseline keeps is bounded, and the figures stay those of all steps.
TEST(Compare, ManyStepsAreThinned) {
  const Trace trace = Make(100, 50, 3000, 1);
  std::unique_ptr<google::protobuf::Message> message, read;
  ASSERT_FALSE(MakeBaseline(trace, PassOptions(), &message));
  const std::string bytes = BaselineBytes(*message, {"main", 5, "1.2.3"});
  EXPECT_LT(bytes.size(), 20'000u);
  ASSERT_FALSE(ParseBaseline(bytes, "main.baseline", &read));
  const auto& baseline = dynamic_cast<const results::Baseline&>(*read);
  EXPECT_GE(baseline.step_count(), 2990u);
  EXPECT_EQ(baseline.step_ns_size(), 2000);
  EXPECT_EQ(baseline.kernels(0).step_ns_size(), 128);
  EXPECT_EQ(baseline.kernels(0).count(), 1);
  std::unique_ptr<google::protobuf::Message> saved, recorded;
  ASSERT_FALSE(CompareBaselines(*read, *message, &saved));
  ASSERT_FALSE(Compare(trace, trace, PassOptions(), &recorded));
  auto& diff = dynamic_cast<results::Diff&>(*saved);
  EXPECT_EQ(diff.baseline_name(), "main");
  diff.clear_baseline_name();
  diff.clear_baseline_saved_realtime_ns();
  EXPECT_EQ(diff.SerializeAsString(), recorded->SerializePartialAsString());
}

TEST(Compare, ImpossibleFiguresOfABaselineAreRefused) {
  std::unique_ptr<google::protobuf::Message> message, read;
  ASSERT_FALSE(MakeBaseline(Make(100, 50, 20, 1), PassOptions(), &message));
  const auto& good = dynamic_cast<const results::Baseline&>(*message);
  const auto is_refused = [&](auto&& change) {
    results::Baseline bad = good;
    change(&bad);
    return ParseBaseline(BaselineBytes(bad, {}), "b", &read).kind == ErrorKind::kUnreadable;
  };
  EXPECT_FALSE(is_refused([](results::Baseline*) {}));
  EXPECT_TRUE(is_refused([](results::Baseline* b) { b->set_step_ns(0, INT64_MAX); }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) { b->set_step_ns(0, -1); }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) { b->set_whole_ns(INT64_MIN); }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) { b->mutable_kernels(0)->set_total_ns(-5); }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) { b->mutable_ops(0)->set_count(std::nan("")); }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) {
    b->mutable_categories(0)->set_category(static_cast<results::TimeCategory>(99));
  }));
  EXPECT_TRUE(is_refused([](results::Baseline* b) {
    for (int i = 0; i < 5000; ++i) b->add_step_ns(1);
  }));
}

TEST(Compare, StepMarksAreOneRow) {
  const results::Diff diff = Diff(Make(1000, 0, 20, 1), Make(1000, 0, 10, 1));
  std::vector<std::string> names;
  for (const results::RowDiff& row : diff.ops()) names.push_back(row.name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("aten::mm", "step"));
}

TEST(Compare, RecordingsWithoutAnythingCanBeCompared) {
  ProcessBuilder builder(5);
  builder.Thread(5).Event(0, proto::ThreadEvent::kStart);
  const results::Diff diff = Diff(MakeTrace({&builder}), MakeTrace({&builder}));
  EXPECT_EQ(diff.verdict(), results::DIFF_VERDICT_INCONCLUSIVE);
  EXPECT_FALSE(diff.steps().has_change_ratio());
}

TEST(Compare, MarkdownKeepsCellsWhole) {
  ProcessBuilder builder(5);
  const uint32_t odd = builder.Signature("a|b`<script>`", 1, 32);
  builder.Stream(0, 1, 7).Kernel(odd, 0, kMs);
  ProcessBuilder empty(5);
  const uint32_t other = empty.Signature("k", 1, 32);
  empty.Stream(0, 1, 7).Kernel(other, 0, kMs);
  const std::string text =
      CompareMarkdown(Diff(MakeTrace({&builder}), MakeTrace({&empty})), PassOptions());
  EXPECT_THAT(text, testing::HasSubstr("### gpuprof: inconclusive"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("a|b")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
