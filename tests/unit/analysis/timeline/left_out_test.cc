// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A bundle of which only parts are there, and one of which no row was read yet.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/export/kept_parts.h"
#include "analysis/model/file_parts.h"
#include "analysis/steps/step_marks.h"
#include "analysis/timeline/page_timeline.h"
#include "analysis/timeline/timeline.h"

namespace gpuprof::analysis::timeline {
namespace {

const std::string kBundle = std::string(GPUPROF_GOLDEN_TRACES) + "/h200/pytorch/language_model";

std::shared_ptr<const Trace> Opened(std::shared_ptr<const FileParts> parts) {
  OpenOptions options;
  options.parts = std::move(parts);
  std::shared_ptr<const Trace> trace;
  const Error error = Open(kBundle, options, &trace);
  EXPECT_FALSE(error) << error.message;
  return trace;
}

// Returns what a report carries that has room for a window.
std::shared_ptr<const FileParts> PartsWith(Interval window) {
  std::unique_ptr<KeptParts> kept;
  EXPECT_FALSE(KeptParts::Open(kBundle, &kept));
  EXPECT_TRUE(kept->Keep(window, uint64_t{1} << 40));
  auto parts = std::make_shared<FileParts>();
  const proto::BundleParts message = kept->Message();
  for (const proto::PartsOfFile& file : message.file()) {
    for (int i = 0; i < file.offset_size(); ++i)
      parts->files[file.name()].push_back({file.offset(i), file.bytes(i)});
  }
  return parts;
}

Selection SelectionOf(double start, double end) {
  Selection selection;
  selection.start_ns = start;
  selection.end_ns = end;
  return selection;
}

RangeAnswer RangeOf(Timeline* timeline, TrackKind kind, double start, double end) {
  RangeAnswer answer;
  const Error error = timeline->Range(kind, SelectionOf(start, end), &answer);
  EXPECT_FALSE(error) << error.message;
  return answer;
}

double CountOf(const RangeAnswer& answer) {
  double count = 0;
  for (const RangeRow& row : answer.rows) count += row.count;
  return count;
}

using Row = std::tuple<std::string, double, double, double, double>;

std::vector<Row> RowsOf(const RangeAnswer& answer) {
  std::vector<Row> rows;
  for (const RangeRow& row : answer.rows)
    rows.emplace_back(row.name, row.count, row.total_ns, row.min_ns, row.max_ns);
  return rows;
}

std::shared_ptr<const std::vector<StepMark>> StepsOf(const Trace& trace) {
  std::map<uint32_t, ProcessOps> ops;
  return std::make_shared<std::vector<StepMark>>(
      FindStepMarks(trace, [&](uint32_t process) -> ProcessOps& {
        return ops.try_emplace(process, trace.processes[process]).first->second;
      }));
}

TEST(LeftOutTest, WhatIsKeptIsAsInTheWholeBundleAndTheRestIsCounted) {
  const std::shared_ptr<const Trace> whole_trace = Opened(nullptr);
  Timeline whole(whole_trace);
  TimelineOptions options;
  options.steps = StepsOf(*whole_trace);
  const double start = whole.info().start_ns, length = whole.info().end_ns - start;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  for (int i = 0; i < 12; ++i) {
    const double from = start + length * part(random) * 0.9;
    const double to = std::min(from + length * 0.2 * part(random) + 1, start + length);
    const Interval window{static_cast<int64_t>(from), static_cast<int64_t>(to)};
    Timeline parts(Opened(PartsWith(window)), options);
    EXPECT_EQ(parts.info().faults, whole.info().faults);
    EXPECT_EQ(parts.info().start_ns, start);
    for (size_t number = 0; number < kTrackKinds; ++number) {
      const auto kind = static_cast<TrackKind>(number);
      const RangeAnswer of_parts = RangeOf(&parts, kind, from, to);
      const RangeAnswer of_whole = RangeOf(&whole, kind, from, to);
      // Long spans of other blocks may reach into the window.
      if (of_parts.left_out == 0) EXPECT_EQ(RowsOf(of_parts), RowsOf(of_whole)) << number;
      const RangeAnswer all = RangeOf(&whole, kind, start, start + length + 1);
      const RangeAnswer rest = RangeOf(&parts, kind, start, start + length + 1);
      if (kind != TrackKind::kRange)  // some of its rows are no events
        EXPECT_EQ(CountOf(rest) + static_cast<double>(rest.left_out), CountOf(all)) << number;
    }
  }
}

TEST(LeftOutTest, BlocksAreDrawnInPlaceOfEvents) {
  auto none = std::make_shared<FileParts>();
  none->has_no_rows = true;
  TimelineOptions options;
  options.is_rough = true;
  options.steps = std::make_shared<std::vector<StepMark>>();
  Timeline rough(Opened(none), options);
  Timeline whole(Opened(nullptr));
  EXPECT_TRUE(rough.info().is_rough);
  EXPECT_EQ(rough.info().rows, whole.info().rows);
  uint64_t drawn = 0;
  for (const TrackInfo& track : rough.info().tracks) {
    EXPECT_NE(track.kind, TrackKind::kMemory);
    EXPECT_NE(track.kind, TrackKind::kQueue);
    SpansAnswer answer;
    const double length = rough.info().end_ns - rough.info().start_ns;
    ASSERT_FALSE(rough.Spans({track.id}, rough.info().start_ns, rough.info().end_ns + 1,
                             length / 1000, &answer));
    const Rectangles& rectangles = answer.tracks.front().rectangles;
    uint64_t count = 0;
    for (size_t i = 0; i < rectangles.count.size(); ++i) {
      EXPECT_TRUE(std::isnan(rectangles.busy_ns[i]));
      EXPECT_EQ(rectangles.row[i], kFolded);
      EXPECT_LE(rectangles.start_ns[i], rectangles.end_ns[i]);
      if (i != 0) EXPECT_GE(rectangles.start_ns[i], rectangles.start_ns[i - 1]);
      count += rectangles.count[i];
    }
    EXPECT_EQ(count, track.rows) << track.name;
    drawn += count;
  }
  EXPECT_GT(drawn, 1000u);
}

TEST(LeftOutTest, APartThatIsNowhereIsNotThere) {
  FileParts parts;
  parts.files["a.gpt"] = {{10, 5}, {20, 1}};
  EXPECT_TRUE(parts.Has("b.gpt", 0, 1000));
  EXPECT_TRUE(parts.Has("a.gpt", 10, 5));
  EXPECT_TRUE(parts.Has("a.gpt", 12, 3));
  EXPECT_TRUE(parts.Has("a.gpt", 20, 1));
  for (const FilePart part :
       {FilePart{9, 1}, FilePart{10, 6}, FilePart{14, 2}, FilePart{16, 1}, FilePart{20, 2},
        FilePart{~uint64_t{0}, 1}, FilePart{12, ~uint64_t{0}}})
    EXPECT_FALSE(parts.Has("a.gpt", part.offset, part.bytes)) << part.offset;
}

TEST(LeftOutTest, QuestionsSayWhichTimelineTheyAsk) {
  EXPECT_TRUE(analysis::AsksRoughly(R"({"ask":"info","rough":true})"));
  for (const char* text : {R"({"ask":"info"})", R"({"ask":"info","rough":1})", "", "[", "true"})
    EXPECT_FALSE(analysis::AsksRoughly(text)) << text;
}

}  // namespace
}  // namespace gpuprof::analysis::timeline
