// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The lines of `gpuprof dump`: their order and every key are a stable interface.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/table_columns.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

bool Append(void* context, std::string_view text) {
  static_cast<std::string*>(context)->append(text);
  return true;
}

std::vector<std::string> Lines(const Trace& trace, int32_t pid = 0, bool symbolize = false) {
  PassOptions options;
  options.pid = pid;
  options.symbolize = symbolize;
  std::string text;
  const Error error = Dump(trace, options, Append, &text);
  EXPECT_FALSE(error) << error.message;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class DumpTest : public testing::Test {
 protected:
  std::shared_ptr<const Trace> MustOpen(bool headers_only = false) {
    OpenOptions options;
    options.headers_only = headers_only;
    std::shared_ptr<const Trace> trace;
    const Error error = Open(directory_.path(), options, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }

  std::unique_ptr<TraceMaker> Maker(int32_t pid) {
    auto maker = std::make_unique<TraceMaker>(directory_.path(), pid, kWall / 1000);
    maker->Meta(maker->Identity(1));
    maker->Clock(0, kSecond, kWall);
    maker->Clock(2'000'000'000, 2 * kSecond, kWall + kSecond);
    return maker;
  }

  TemporaryDirectory directory_;
};

TEST_F(DumpTest, EveryKindInOrderOfTime) {
  const auto maker = Maker(100);
  maker->Strings({{2, "aten::mm \"quoted\"\n"}, {0x40000000, "/bin/ls"}});
  maker->Thread(0, 1, 101, "main");
  uint64_t name[2] = {};
  std::memcpy(name, "loader", 6);
  maker->Row(ChunkKind::kHeap, 1,
             {2000, proto::HeapOperation(false, 1, proto::kFlagSampled), 0x1230, 64, 3});
  maker->Row(ChunkKind::kHeap, 1, {2000, proto::HeapOperation(true, 3, 0), 0x1230, 0, 0});
  maker->Row(ChunkKind::kWait, 1,
             {2000, 1000, 4 | proto::kFlagTimedOut << 8, 0xabc0, 0x401000, 0, 12});
  maker->Row(ChunkKind::kOp, 1, {8000, 2000, 2, 1 | 3u << 16});
  maker->Row(ChunkKind::kTensor, 1,
             {6000, 0x0101, 0x5000, static_cast<uint64_t>(-4096), 12345, 99999});
  maker->Row(ChunkKind::kThreadEvent, 1, {3000, 1, 0x402000, 99});
  maker->Row(ChunkKind::kThreadEvent, 1, {3200, 2, name[0], name[1]});
  maker->Row(ChunkKind::kThreadEvent, 1, {3400, 3, 0, 0});
  maker->Row(ChunkKind::kProcessEvent, 1, {9000, 1, 4242, 0, 0});
  maker->Row(ChunkKind::kProcessEvent, 1, {9200, 4, 0, 2, 0x40000000});
  maker->Row(ChunkKind::kProcessEvent, 1, {9400, 5, 3, 2, 0});
  maker->Row(ChunkKind::kProcessEvent, 1, {9600, 77, 1, 2, 0});
  maker->End();
  maker->Close();

  // Zero is the start of the wait, tick 1000.
  EXPECT_THAT(
      Lines(*MustOpen()),
      ElementsAre(
          "500 100 101 1 heap call=malloc address=0x1230 size=64 stack=3 flags=sampled capture=1",
          "500 100 101 1 heap call=realloc_free address=0x1230 capture=1",
          "500 100 101 1 wait kind=condition start_ns=0 duration_ns=500 object=0xabc0 "
          "caller=0x401000 owner_tid=12 flags=timed_out",
          "1000 100 101 1 thread event=start start_routine=0x402000 creator_tid=99",
          "1100 100 101 1 thread event=name name=\"loader\"", "1200 100 101 1 thread event=exit",
          "2500 100 101 1 tensor device=cuda:1 address=0x5000 bytes=-4096 "
          "total_allocated_bytes=12345 total_reserved_bytes=99999",
          "3500 100 101 1 op name=\"aten::mm \\\"quoted\\\"\\u000a\" start_ns=2500 "
          "duration_ns=1000 scope=backward depth=3",
          "4000 100 101 1 process event=fork child_pid=4242",
          "4100 100 101 1 process event=exec path=\"/bin/ls\" errno=2",
          "4200 100 101 1 process event=exit exit_status=3 exit_way=_exit",
          "4300 100 101 1 process event=77 a=1 b=2 text=\"\""));
}

// As --json has it: text stays what it is, and nothing is a command to a terminal.
TEST_F(DumpTest, TextIsUtf8) {
  const auto maker = Maker(100);
  maker->Strings({{2, "\xc3\xa4\xe2\x82\xac \xf0\x9f\x98\x80"},
                  {3, "caf\xe9 \xe2\x82 \\"},
                  {4, "\x1b[2J\x7f\xc2\x9b"}});
  for (uint32_t name = 2; name <= 4; ++name) maker->Op(1, 1000 * name, 100, name);
  maker->End();
  maker->Close();
  std::vector<std::string> names;
  for (const std::string& line : Lines(*MustOpen())) {
    const size_t begin = line.find("name=") + 5;
    names.push_back(line.substr(begin, line.find(" start_ns=") - begin));
  }
  EXPECT_THAT(names, ElementsAre("\"\xc3\xa4\xe2\x82\xac \xf0\x9f\x98\x80\"",
                                 "\"caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd \\\\\"",
                                 "\"\\u001b[2J\\u007f\\u009b\""));
}

TEST(DumpGpu, RowsOfStreamsAndCalls) {
  test::ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("_Z3addPf", 64, 256);
  builder.Thread(6).Call("cudaLaunchKernel_v7000", 10, 20, 11);
  builder.Stream(0, 1, 7)
      .Kernel(add, 100, 150, 11)
      .Kernel(add, 160, 170, 12, 4)
      .Copy(1, 2, 3, 4096, 200, 300, 13)
      .Set(64, 310, 320, 14)
      .Sync(3, 330, 350, 15)
      .Sync(2, 360, 361, 16, 3, 40)
      .Recorded(355, 3, 17, 40);
  const Trace trace = test::MakeTrace({&builder});
  std::vector<std::string> found;
  for (const std::string& line : Lines(trace)) {
    // Without the numbers of tracks, which are the builder's.
    std::istringstream words(line);
    std::string time, pid, tid, track, rest;
    std::getline(words >> time >> pid >> tid >> track >> std::ws, rest);
    found.push_back(time + " " + pid + " " + tid + " " + rest);
  }
  const std::string stream = " device=0 context=1 stream=7";
  EXPECT_THAT(
      found,
      testing::IsSupersetOf({
          "20 5 6 api function=cudaLaunchKernel_v7000 start_ns=10 duration_ns=10 correlation=11"s,
          "150 5 0 kernel name=\"_Z3addPf\" start_ns=100 duration_ns=50" + stream +
              " grid=64,1,1 block=256,1,1 registers=32 static_shared_bytes=0 "
              "dynamic_shared_bytes=0 correlation=11 capture=1",
          "300 5 0 memcpy kind=HtoD source=pinned destination=device start_ns=200 "
          "duration_ns=100 bytes=4096" +
              stream + " correlation=13",
          "320 5 0 memset destination=device start_ns=310 duration_ns=10 bytes=64 value=0" +
              stream + " correlation=14",
          "350 5 0 sync kind=stream start_ns=330 duration_ns=20 context=1 stream=0 "
          "correlation=15"s,
          "361 5 0 sync kind=stream_wait start_ns=360 duration_ns=1 context=1 stream=0 event=3 "
          "event_record=40 correlation=16"s,
          "355 5 0 cuda_event event=3 record=40" + stream + " correlation=17",
      }));
  EXPECT_THAT(found, testing::Contains(HasSubstr("correlation=12 graph=4 graph_node=")));
}

// Adds a row whose every value is 1, whatever its table.
struct RowOfOnes {
  template <ChunkKind kKind, typename... Columns>
  void Rows(Columns&... columns) {
    (columns.push_back(1), ...);
  }
  void Capture(Column<uint16_t>& column) { column.push_back(1); }
  void Weight(Column<uint32_t>& column) { column.push_back(1); }
};

std::vector<std::string> LinesOfOnes(ChunkKind kind) {
  Trace trace;
  Process& process = trace.processes.emplace_back();
  process.pid = 5;
  process.strings[1] = "text";
  RowOfOnes ones;
  EXPECT_TRUE(VisitTable(&process.tracks.emplace_back(), kind, &ones));
  return Lines(trace);
}

TEST(DumpTables, EachTableOfTheSchemaHasALine) {
  for (const proto::TableSpec& table : proto::kTables) {
    EXPECT_THAT(LinesOfOnes(table.kind),
                ElementsAre(testing::StartsWith("1 5 0 0 "s + table.name + " ")));
  }
}

// No code knows these tables.
TEST(DumpTables, TypesOfColumnsMakeTheLine) {
  EXPECT_THAT(LinesOfOnes(ChunkKind::kLaunch),
              ElementsAre("1 5 0 0 launch function=1 correlation=1 stack=1"));
  EXPECT_THAT(LinesOfOnes(ChunkKind::kMemset),
              ElementsAre("1 5 0 0 memset destination=unknown start_ns=0 duration_ns=1 bytes=1 "
                          "value=1 correlation=1 graph=1 graph_node=1"));
  EXPECT_THAT(LinesOfOnes(ChunkKind::kRangePayload),
              ElementsAre("1 5 0 0 range_payload kind=push_pop domain=\"text\" unused=0 handles=0 "
                          "depth=0 definition=1 value=1"));
  EXPECT_THAT(LinesOfOnes(ChunkKind::kRowDetail),
              ElementsAre("1 5 0 0 row_detail table=meta detail=\"text\" row=1 external=1 "
                          "sequence=1"));
}

TEST_F(DumpTest, ProcessesAndTracksComeOneAfterTheOther) {
  for (const int32_t pid : {200, 100}) {
    const auto maker = Maker(pid);
    maker->Strings({{2, "op"}});
    for (uint64_t i = 1; i <= 2; ++i) {
      maker->Op(2, 1000 * i, 100, 2);
      maker->Op(1, 1000 * i + 500, 100, 2);
    }
    maker->End();
    maker->Close();
  }
  const auto trace = MustOpen();
  std::vector<std::string> heads;
  for (const std::string& line : Lines(*trace)) heads.push_back(line.substr(0, line.find(" op")));
  EXPECT_THAT(heads, ElementsAre("300 100 0 1", "800 100 0 1", "50 100 0 2", "550 100 0 2",
                                 "300 200 0 1", "800 200 0 1", "50 200 0 2", "550 200 0 2"));
  EXPECT_THAT(Lines(*trace, 200), SizeIs(4));
}

TEST_F(DumpTest, FramesAreNamedOnRequest) {
  const auto maker = Maker(100);
  proto::Stacks stacks;
  stacks.set_first_id(2);
  stacks.add_parent_back(0);
  stacks.add_pc_delta(0x1000);
  stacks.add_parent_back(1);
  stacks.add_pc_delta(0x10);
  maker->Table(ChunkKind::kStacks, 9, stacks, 2);
  maker->Row(ChunkKind::kHeap, 1, {1000, 2, 0x10, 8, 3});
  maker->Row(ChunkKind::kHeap, 1, {1000, 2, 0x20, 8, 1});
  maker->End();
  maker->Close();
  EXPECT_THAT(Lines(*MustOpen(), 0, true),
              ElementsAre(HasSubstr("stack=3 frames=\"0x1010;0x1000\" capture=1"),
                          HasSubstr("stack=1 capture=1")));
}

TEST_F(DumpTest, StopsWhenTheSinkHasEnough) {
  const auto maker = Maker(100);
  maker->Strings({{2, "op"}});
  for (uint64_t i = 1; i <= 20'000; ++i) maker->Op(1, 1000 * i, 100, 2);
  maker->End();
  maker->Close();
  int calls = 0;
  const auto once = [](void* context, std::string_view text) {
    ++*static_cast<int*>(context);
    EXPECT_EQ(text.back(), '\n') << "pieces are whole lines";
    return false;
  };
  EXPECT_FALSE(Dump(*MustOpen(), {}, once, &calls));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(Lines(*MustOpen()), SizeIs(20'000));
}

TEST_F(DumpTest, RefusesWhatItCannotShow) {
  const auto maker = Maker(100);
  maker->Op(1, 1000, 100, 2);
  maker->End();
  maker->Close();
  std::string text;
  EXPECT_EQ(Dump(*MustOpen(true), {}, Append, &text).kind, ErrorKind::kUsage);
  PassOptions options;
  options.pid = 555;
  const Error error = Dump(*MustOpen(), options, Append, &text);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("555"));
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace gpuprof::analysis
