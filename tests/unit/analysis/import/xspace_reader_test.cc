// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XSpaces, whole and broken: what the reader hands over, and what it tells.

#include "analysis/import/xspace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "analysis/import/wire.h"
#include "tests/unit/analysis/import/xspace_maker.h"

namespace gpuprof::analysis::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Writes one line of text for each plane, line and event.
class Collector : public XSpaceHandler {
 public:
  bool OnPlane(XPlaneTables& plane) override {
    plane_ = &plane;
    lines.push_back("plane " + plane.plane_name);
    return plane.plane_name != "unwanted";
  }
  bool OnLine(const XLine& line) override {
    lines.push_back("line " + std::to_string(line.id) + " " + line.name + " at " +
                    std::to_string(line.timestamp_ns) + " of " + std::to_string(line.events));
    return true;
  }
  void OnEvent(const XEvent& event) override {
    const auto place = plane_->FindEvent(event.metadata_id);
    std::string text = place ? std::string(plane_->EventName(*place)) : "?";
    text += " " + std::to_string(event.offset_ps) + "+" + std::to_string(event.duration_ps);
    for (const std::string_view message : event.stats) {
      const XStat stat = ReadXStat(message);
      const auto name = plane_->FindStat(stat.metadata_id);
      text += " " + (name ? std::string(plane_->StatName(*name)) : "?") + "=" +
              (stat.text.empty() ? std::to_string(static_cast<int64_t>(stat.bits))
                                 : std::string(stat.text));
    }
    lines.push_back(text);
  }
  std::vector<std::string> lines;

 private:
  const XPlaneTables* plane_ = nullptr;
};

struct Reading {
  std::vector<std::string> lines;
  XSpaceFacts facts;
  Error error;
};

Reading Read(std::string bytes, size_t window = ByteWindow::kBytes) {
  Reading out;
  const HeldBytes file(std::move(bytes));
  Collector collector;
  out.error = ReadXSpace(file, "x.pb", &collector, &out.facts, window);
  out.lines = collector.lines;
  return out;
}

// Field numbers of the reader are those of the schema: protobuf writes, the reader reads.
xspace::XSpace Example() {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:0");
  xspace::XLine* stream = device.Line(7, "Stream #7", 1000);
  xspace::XEvent* kernel = device.Event(stream, "gemm", -3000, 5000);
  device.Stat(kernel, "correlation_id", 11);
  device.Stat(kernel, "kernel_details", "grid:8,1,1");
  device.Event(stream, "relu", 9000, 0);
  PlaneMaker host(&space, "/host:CPU");
  host.Event(host.Line(100, "python"), "call", 1, 2);
  PlaneMaker(&space, "Task Environment");
  space.add_errors("an error");
  space.add_warnings("a warning");
  space.add_hostnames("host-a");
  return space;
}

const char* const kExample[] = {"plane /host:CPU",
                                "line 100 python at 0 of 1",
                                "call 1+2",
                                "plane /device:GPU:0",
                                "line 7 Stream #7 at 1000 of 2",
                                "gemm -3000+5000 correlation_id=11 kernel_details=grid:8,1,1",
                                "relu 9000+0",
                                "plane Task Environment"};

TEST(XSpaceReader, HostPlanesComeFirstAndNamesAreKnown) {
  for (const size_t window : {size_t{24}, size_t{64}, ByteWindow::kBytes}) {
    const Reading reading = Read(Example().SerializeAsString(), window);
    EXPECT_FALSE(reading.error) << reading.error.message;
    EXPECT_EQ(reading.lines, std::vector<std::string>(std::begin(kExample), std::end(kExample)));
    EXPECT_EQ(reading.facts.events, 3u);
    EXPECT_EQ(reading.facts.host, "host-a");
    EXPECT_THAT(reading.facts.errors, ElementsAre("an error"));
    EXPECT_THAT(reading.facts.warnings, ElementsAre("a warning"));
    EXPECT_FALSE(reading.facts.is_truncated);
    EXPECT_EQ(reading.facts.broken_parts + reading.facts.unreadable_events, 0u);
  }
}

TEST(XSpaceReader, FieldsOfALineMayComeBehindItsEvents) {
  xspace::XSpace space;
  PlaneMaker plane(&space, "/host:CPU");
  xspace::XLine first, second;
  plane.Event(&first, "a", 1, 2);
  second.set_id(5);
  second.set_timestamp_ns(77);
  // Two messages, one behind the other, are one message.
  const std::string both = first.SerializeAsString() + second.SerializeAsString();
  std::string bytes = plane.plane()->SerializeAsString();
  bytes += "\x1a" + std::string(1, static_cast<char>(both.size())) + both;
  bytes = "\x0a" + std::string(1, static_cast<char>(bytes.size())) + bytes;
  EXPECT_THAT(Read(bytes).lines, ElementsAre("plane /host:CPU", "line 5  at 77 of 1", "a 1+2"));
}

TEST(XSpaceReader, AFileThatIsCutAnywhereGivesWhatCameBefore) {
  const std::string whole = Example().SerializeAsString();
  WireField field;
  std::set<size_t> seams = {0};  // between parts of the space
  for (WireReader reader(whole); reader.Next(&field);)
    seams.insert(static_cast<size_t>(field.bytes.data() + field.bytes.size() - whole.data()));
  size_t most = 0;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const Reading reading = Read(whole.substr(0, bytes));
    EXPECT_LE(reading.lines.size(), std::size(kExample));
    EXPECT_EQ(reading.facts.is_truncated, !seams.count(bytes)) << bytes;
    EXPECT_EQ(reading.facts.broken_parts, 0u) << bytes;
    EXPECT_GE(reading.facts.events + reading.facts.lost_in_end, most) << bytes;
    most = std::max<size_t>(most, reading.facts.events);
  }
  EXPECT_EQ(most, 3u);
}

TEST(XSpaceReader, APlaneThatIsCutBeforeItsNamesCountsItsEvents) {
  xspace::XSpace space;
  PlaneMaker plane(&space, "/host:CPU");
  xspace::XLine* line = plane.Line(1, "t");
  for (int i = 0; i < 10; ++i) plane.Event(line, "a", i, 1);
  const std::string whole = space.SerializeAsString();
  const size_t names = whole.find("\x22", whole.size() - 16);
  ASSERT_NE(names, std::string::npos);
  const Reading reading = Read(whole.substr(0, names));
  EXPECT_TRUE(reading.lines.empty());
  EXPECT_TRUE(reading.facts.is_truncated);
  EXPECT_EQ(reading.facts.truncated_at, names);
  EXPECT_EQ(reading.facts.lost_in_end, 10u);
}

TEST(XSpaceReader, WrongLengthsAndTypesEndThePartAlone) {
  xspace::XSpace space;
  PlaneMaker plane(&space, "/host:CPU");
  xspace::XLine* line = plane.Line(1, "t");
  for (int i = 1; i <= 3; ++i) plane.Event(line, "a", i, 1);
  const std::string whole = space.SerializeAsString();
  const std::string event = "\x22\x06\x08\x01\x10\x02\x18\x01";
  const size_t second = whole.find(event);
  ASSERT_NE(second, std::string::npos);
  std::string longer = whole;
  longer[second + 1] = 0x7f;  // longer than its line
  Reading reading = Read(longer);
  EXPECT_THAT(reading.lines, ElementsAre("plane /host:CPU", "line 1 t at 0 of 1", "a 1+1"));
  EXPECT_EQ(reading.facts.broken_parts, 1u);
  EXPECT_EQ(reading.facts.first_fault_at, second);
  std::string typed = whole;
  typed[second + 2] = 0x0a;  // the metadata's id as a text: longer than its event
  reading = Read(typed);
  EXPECT_THAT(reading.lines,
              ElementsAre("plane /host:CPU", "line 1 t at 0 of 3", "a 1+1", "a 3+1"));
  EXPECT_EQ(reading.facts.unreadable_events, 1u);
  EXPECT_EQ(reading.facts.broken_parts, 0u);
}

TEST(XSpaceReader, TheLastOfTwoEntriesWithOneIdCounts) {
  xspace::XSpace space;
  PlaneMaker plane(&space, "/host:CPU");
  plane.Event(plane.Line(1, "t"), "a", 1, 1);
  xspace::XPlane again;
  (*again.mutable_event_metadata())[1].set_name("b");
  const std::string bytes = plane.plane()->SerializeAsString() + again.SerializeAsString();
  const Reading reading = Read("\x0a" + std::string(1, static_cast<char>(bytes.size())) + bytes);
  EXPECT_EQ(reading.lines.back(), "b 1+1");
}

TEST(XSpaceReader, OtherFilesAreRefused) {
  EXPECT_EQ(Read("").facts.planes, 0u);
  EXPECT_EQ(Read("hello, world").facts.planes, 0u);
  const std::string riegeli = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f" + std::string(56, '\0');
  EXPECT_THAT(Read(riegeli).error.message, HasSubstr("iegeli"));
  EXPECT_TRUE(IsRiegeli(HeldBytes(riegeli)));
}

TEST(XSpaceReader, AnXSpaceIsKnownByItsBytes) {
  const std::string whole = Example().SerializeAsString();
  EXPECT_TRUE(LooksLikeXSpace(HeldBytes(whole)));
  EXPECT_FALSE(LooksLikeXSpace(HeldBytes(whole.substr(0, whole.size() - 3))));
  EXPECT_FALSE(LooksLikeXSpace(HeldBytes("")));
  EXPECT_FALSE(LooksLikeXSpace(HeldBytes("{\"traceEvents\": []}")));
  xspace::XSpace other;
  other.add_planes()->set_name("a message of another kind");
  EXPECT_FALSE(LooksLikeXSpace(HeldBytes(other.SerializeAsString())));
}

}  // namespace
}  // namespace gpuprof::analysis::import
