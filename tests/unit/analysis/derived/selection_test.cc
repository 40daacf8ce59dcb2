// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Parts of a trace: windows, devices, work by its launch.

#include "analysis/derived/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::MakeTrace;
using test::ProcessBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// A thread with two operations and two launches, and a stream each of two devices.
class SelectTest : public testing::Test {
 protected:
  SelectTest() {
    const uint32_t signature = builder_.Signature("kernel", 1, 32);
    builder_.Thread(1).Op("outer", 0, 100).Op("inner", 50, 60);
    builder_.Thread(1).Call("cudaLaunchKernel", 10, 12, 1).Call("cudaLaunchKernel", 55, 57, 2);
    builder_.Stream(0, 1, 7).Kernel(signature, 20, 30, 1).Kernel(signature, 90, 95, 2);
    builder_.Stream(1, 2, 7).Kernel(signature, 40, 70);
    trace_ = MakeTrace({&builder_});
  }

  static const Track& StreamOf(const Trace& trace, uint32_t device) {
    for (const Track& track : trace.processes[0].tracks) {
      if (track.is_stream && track.device == device) return track;
    }
    ADD_FAILURE() << "no stream of device " << device;
    return trace.processes[0].tracks[0];
  }

  ProcessBuilder builder_{1};
  Trace trace_;
};

TEST_F(SelectTest, ARowIsInTheWindowInWhichItBegins) {
  Selection selection;
  selection.window = TimeWindow{50, 90};
  const auto part = Select(trace_, selection);
  const Track& thread = part->processes[0].tracks[0];
  EXPECT_THAT(thread.op.end_ns, ElementsAre(60));
  EXPECT_THAT(thread.api.correlation, ElementsAre(2));
  EXPECT_THAT(StreamOf(*part, 0).kernel.end_ns, IsEmpty());
  EXPECT_THAT(StreamOf(*part, 1).kernel.end_ns, IsEmpty());
  EXPECT_EQ(thread.Rows(proto::ChunkKind::kOp), 1u);
  EXPECT_EQ(part->processes[0].rows, 2u);
  EXPECT_EQ(part->processes[0].first_ns, 50);
  EXPECT_EQ(part->processes[0].last_ns, 90);
  EXPECT_EQ(trace_.processes[0].tracks[0].op.rows(), 2u) << "the whole stays";
}

TEST_F(SelectTest, ColumnsOfImportedRowsGoWithTheirTable) {
  for (Track& track : trace_.processes[0].tracks) {
    if (track.device != 1 || !track.is_stream) continue;
    track.kernel.external = {7};
    track.kernel.detail = {3};
  }
  Selection selection;
  selection.devices = {0};
  const auto part = Select(trace_, selection);
  EXPECT_THAT(StreamOf(*part, 1).kernel.end_ns, IsEmpty());
  EXPECT_THAT(StreamOf(*part, 1).kernel.external, IsEmpty());
  EXPECT_THAT(StreamOf(*part, 1).kernel.detail, IsEmpty());
  EXPECT_THAT(StreamOf(trace_, 1).kernel.detail, ElementsAre(3));
}

TEST_F(SelectTest, WorkCountsWhereItWasLaunched) {
  Selection selection;
  selection.window = TimeWindow{50, 60};
  selection.by_launch = true;
  const auto part = Select(trace_, selection);
  EXPECT_THAT(StreamOf(*part, 0).kernel.end_ns, ElementsAre(95));
  // The kernel ends at 95: the device's time reaches to there.
  EXPECT_EQ(part->processes[0].last_ns, 95);
  selection.window = TimeWindow{0, 50};
  const auto before = Select(trace_, selection);
  EXPECT_THAT(StreamOf(*before, 0).kernel.end_ns, ElementsAre(30));
  EXPECT_THAT(StreamOf(*before, 1).kernel.end_ns, ElementsAre(70)) << "its call is not known";
}

TEST_F(SelectTest, OtherDevicesAreLeftOut) {
  Selection selection;
  selection.devices = {1};
  const auto part = Select(trace_, selection);
  EXPECT_THAT(StreamOf(*part, 0).kernel.end_ns, IsEmpty());
  EXPECT_THAT(StreamOf(*part, 1).kernel.end_ns, ElementsAre(70));
  EXPECT_EQ(part->processes[0].tracks[0].op.rows(), 2u) << "rows of threads are of no device";
}

TEST_F(SelectTest, CallersOfPythonFunctionsKeepTheirRows) {
  PythonTable& python = trace_.processes[0].tracks[0].python;
  const std::pair<int64_t, uint32_t> rows[] = {
      {20, 1}, {40, PythonTable::kNoRow}, {60, 3}, {80, 1}};
  for (const auto& [end, parent] : rows) {
    python.end_ns.push_back(end);
    python.duration_ns.push_back(15);
    python.name.push_back(1);
    python.parent.push_back(parent);
    python.stack.push_back(0);
    python.self_ns.push_back(15);
  }
  Selection selection;
  selection.window = TimeWindow{25, 100};
  const auto part = Select(trace_, selection);
  EXPECT_THAT(part->processes[0].tracks[0].python.parent, ElementsAre(PythonTable::kNoRow, 2, 0));
}

// Segments that lie in the window, before it, behind it and across its borders.
TEST_F(SelectTest, PartsOfManySegmentsHaveTheRowsThatBeginInTheWindow) {
  ProcessBuilder builder{1};
  constexpr int kRows = 20'000;
  for (int i = 0; i < kRows; ++i)
    builder.Thread(1).Op(i % 2 == 0 ? "even" : "odd", 10 * i, 10 * i + 5);
  const Trace trace = MakeTrace({&builder});
  for (const TimeWindow window : {TimeWindow{0, 1}, TimeWindow{41'000, 41'001},
                                  TimeWindow{99'995, 150'010}, TimeWindow{-5, 400'000}}) {
    Selection selection;
    selection.window = window;
    const auto part = Select(trace, selection);
    std::vector<int64_t> expected;
    for (int i = 0; i < kRows; ++i) {
      if (10 * i >= window.start_ns && 10 * i < window.end_ns) expected.push_back(10 * i + 5);
    }
    const Track& track = part->processes[0].tracks[0];
    EXPECT_EQ(std::vector<int64_t>(track.op.end_ns.begin(), track.op.end_ns.end()), expected);
    ASSERT_EQ(track.op.name.size(), expected.size());
    for (size_t row = 0; row < expected.size(); ++row)
      ASSERT_EQ(part->processes[0].String(track.op.name[row]),
                (expected[row] - 5) / 10 % 2 == 0 ? "even" : "odd");
    EXPECT_EQ(track.Rows(proto::ChunkKind::kOp), expected.size());
  }
}

}  // namespace
}  // namespace gpuprof::analysis
