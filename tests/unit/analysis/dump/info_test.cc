// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof info`: the facts of a bundle in words and in JSON.

#include "analysis/dump/info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/analysis.h"
#include "proto/results/threads.pb.h"
#include "tests/unit/analysis/read/trace_maker.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using nlohmann::json;
using proto::ChunkKind;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

class InfoTest : public testing::Test {
 protected:
  InfoTest() {
    TraceMaker maker(directory_.path(), 100, kWall / 1000);
    proto::Meta meta = maker.Identity(7);
    meta.add_argv("--epochs");
    meta.add_argv("\xff not UTF-8");
    meta.add_framework("torch 2.13.0+cpu");
    proto::CaptureMark* mark = meta.add_capture_mark();
    mark->set_capture(1);
    mark->set_start(true);
    mark->set_ticks(1000);
    mark->set_trigger("signal");
    maker.Meta(meta);
    maker.Clock(0, kSecond, kWall);
    maker.Clock(2'000'000'000, 2 * kSecond, kWall + kSecond);
    maker.Strings({{2, "op"}});
    for (uint64_t i = 1; i <= 1500; ++i) maker.Op(1, 2000 * i, 100, 2);
    maker.Row(ChunkKind::kHeap, 1, {3'000'000, 2, 0x10, 8, 0});
    maker.Table(static_cast<ChunkKind>(99), 13, maker.Identity(1), 12);
    proto::Health health;
    proto::Loss* loss = health.add_loss();
    loss->set_kind(proto::LOSS_RING_FULL);
    loss->set_count(17);
    health.add_loss()->set_kind(proto::LOSS_WRITE_ERROR);  // none of these
    proto::Note* note = health.add_note();
    note->set_source("clock");
    note->set_text("fell back to CLOCK_MONOTONIC");
    health.add_note()->set_text("/tmp/caf\xe9: cannot be written");
    maker.Table(ChunkKind::kHealth, 14, health, 1);
    maker.End(proto::ExitWay::kReturn, 3);
    maker.Close();
    proto::Bundle manifest;
    manifest.add_command("python3");
    manifest.add_command("train.py");
    manifest.set_host("testhost");
    manifest.add_setting("GPUPROF_BUNDLE=/tmp/caf\xe9");
    manifest.set_started_realtime_ns(kWall);
    manifest.set_ended_realtime_ns(kWall + 2 * kSecond);
    manifest.set_exit_status(3);
    WriteManifest(directory_.path(), manifest);
    OpenOptions options;
    options.headers_only = true;
    EXPECT_FALSE(Open(directory_.path(), options, &trace_));
  }

  TemporaryDirectory directory_;
  std::shared_ptr<const Trace> trace_;
};

TEST_F(InfoTest, TextTellsEachFact) {
  EXPECT_THAT(
      DescribeText(*trace_),
      AllOf(HasSubstr("command     python3 train.py\n"), HasSubstr("2023-11-14 22:13:20 UTC"),
            HasSubstr("2.00 s, exit status 3"), HasSubstr("pid 100, parent 7"),
            HasSubstr("1.50 k (heap 1, op 1.50 k); 12 rows of kinds"),
            HasSubstr("exited with status 3"), HasSubstr("17 ring_full"),
            Not(HasSubstr("write_error")), HasSubstr("torch 2.13.0+cpu"),
            HasSubstr("begun by signal, end not recorded"), HasSubstr("clock: fell back")));
}

TEST(Info, OfAFlightRecordersWindowTellsWhatWasLetGo) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 100, kWall / 1000);
  proto::Meta meta = maker.Identity(7);
  meta.set_kept_from(4 * kSecond);
  proto::CaptureMark* mark = meta.add_capture_mark();
  mark->set_capture(1);
  mark->set_start(true);
  mark->set_ticks(1000);
  mark->set_trigger("now");
  maker.Meta(meta);
  maker.Clock(0, kSecond, kWall);
  maker.Clock(5 * kSecond, 6 * kSecond, kWall + 5 * kSecond);
  maker.Strings({{2, "op"}});
  maker.Op(1, 5 * kSecond, 100, 2);
  maker.End();
  maker.Close();
  std::shared_ptr<const Trace> trace;
  ASSERT_FALSE(Open(directory.path(), {}, &trace));
  EXPECT_THAT(DescribeText(*trace),
              AllOf(HasSubstr("from 0 ns, begun by now 4.00 s before that"),
                    HasSubstr("kept        only the newest part;"),
                    HasSubstr("lost        none of the kept part\n"), Not(HasSubstr("none\n"))));
  const json process = json::parse(DescribeJson(*trace))["processes"][0];
  EXPECT_EQ(process["kept_from_ns"], 0);
  EXPECT_EQ(process["captures"][0]["let_go_ns"], 4 * kSecond - 1000);
}

// Programs name themselves and their files: no line is theirs to make, and none is a command to a
// terminal.
TEST(Info, HoldsNothingThatATerminalObeys) {
  Trace trace;
  trace.path = "/tmp/b\x1b[2J";
  Process& process = trace.processes.emplace_back();
  process.file = "p1\x1b]0;title\x07.gpt";
  process.argv = {"sh", "\x1b[1A"};
  process.frameworks = {"torch\nlost        forged"};
  proto::Note* note = process.health.add_note();
  note->set_source("clock");
  note->set_text(
      "\xc2\x9b"
      "2J caf\xe9");
  trace.faults.push_back({"f\x1b[2J", 0, "what\r"});
  const std::string text = DescribeText(trace);
  EXPECT_THAT(text, AllOf(HasSubstr("/tmp/b\\x1b[2J\n"), HasSubstr("p1\\x1b]0;title\\x07.gpt"),
                          HasSubstr("torch\\nlost        forged\n"),
                          HasSubstr("clock: \\u009b2J caf\xef\xbf\xbd\n"),
                          HasSubstr("f\\x1b[2J at byte 0: what\\x0d\n")));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("\x1b"), HasSubstr("\x07"), HasSubstr("\r"))));
  EXPECT_THAT(DescribeJson(trace), Not(AnyOf(HasSubstr("\x1b"), HasSubstr("\xc2\x9b"))));
  EXPECT_EQ(json::parse(DescribeJson(trace))["processes"][0]["notes"][0]["text"],
            "\xc2\x9b"
            "2J caf\xef\xbf\xbd");
}

TEST_F(InfoTest, JsonTellsTheSame) {
  const json info = json::parse(DescribeJson(*trace_));
  EXPECT_EQ(info["command"], json({"python3", "train.py"}));
  EXPECT_EQ(info["count"], 1501);
  EXPECT_EQ(info["lost_count"], 17);
  EXPECT_EQ(info["faults"], json::array());
  EXPECT_EQ(info["settings"][0], "GPUPROF_BUNDLE=/tmp/caf\xef\xbf\xbd");
  ASSERT_EQ(info["processes"].size(), 1u);
  const json& process = info["processes"][0];
  EXPECT_EQ(process["pid"], 100);
  EXPECT_EQ(process["ppid"], 7);
  EXPECT_EQ(process["argv"][3], "\xef\xbf\xbd not UTF-8");
  EXPECT_EQ(process["notes"][1]["text"], "/tmp/caf\xef\xbf\xbd: cannot be written");
  EXPECT_EQ(process["exit_way"], "return");
  EXPECT_EQ(process["exit_status"], 3);
  EXPECT_EQ(process["unknown_blocks"], 1);
  EXPECT_EQ(process["duration_ns"], 1'499'050);
  EXPECT_EQ(process["losses"], json::parse(R"([{"name": "ring_full", "count": 17}])"));
  EXPECT_EQ(process["captures"][0]["start_trigger"], "signal");
  json op;
  for (const json& kind : process["kinds"]) {
    if (kind["name"] == "op") op = kind;
  }
  EXPECT_EQ(op["count"], 1500);
  EXPECT_EQ(op["is_event"], true);
}

TEST(Info, CountsTheThreadsThatThePassThreadsCounts) {
  test::ProcessBuilder builder(5);
  builder.Thread(5).Call("cudaLaunchKernel_v7000", 10, 20, 1);
  builder.Thread(6, "gpuprof-drain");
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 30, 40, 1);
  builder.Stream(0, kNoCudaId, kNoCudaId).Sync(4, 50, 60, 2);
  Trace trace = test::MakeTrace({&builder});
  trace.processes[0].tracks[1].tool = true;
  EXPECT_EQ(json::parse(DescribeJson(trace))["processes"][0]["threads"], 1);
  EXPECT_THAT(DescribeText(trace), HasSubstr("  threads     1\n"));
  std::unique_ptr<google::protobuf::Message> result;
  ASSERT_FALSE(analysis::Run("threads", trace, {}, &result));
  EXPECT_EQ(dynamic_cast<const results::Threads&>(*result).processes(0).thread_count(), 1u);
}

TEST(Info, EndsWithoutABeginAreNotLost) {
  Trace trace;
  Process& process = trace.processes.emplace_back();
  process.has_end = true;
  proto::Loss* loss = process.health.add_loss();
  loss->set_kind(proto::LOSS_UNPAIRED_SPAN);
  loss->set_count(2);
  EXPECT_THAT(
      DescribeText(trace),
      AllOf(HasSubstr("\nlost        none\n"), HasSubstr("  lost        none\n"),
            HasSubstr(
                "  spans       2 ranges ended that began before the capture or had no begin\n")));
  const json info = json::parse(DescribeJson(trace));
  EXPECT_EQ(info["lost_count"], 0);
  EXPECT_EQ(info["processes"][0]["losses"][0]["name"], "unpaired_span") << "as it was recorded";
}

TEST(ShortCommand, CutsBetweenCharacters) {
  Process process;
  process.argv = {"python3", "-c", "print \xc3\xa9\xc3\xa9"};
  EXPECT_EQ(ShortCommand(process, 100), "python3 -c 'print \xc3\xa9\xc3\xa9'");
  EXPECT_EQ(ShortCommand(process, 19), "python3 -c 'print ...");
  process.argv.clear();
  process.executable = "/bin/a\nb";
  EXPECT_EQ(ShortCommand(process, 100), "$'/bin/a\\nb'");
}

TEST(HowItEnded, EachWayHasWords) {
  Process process;
  EXPECT_THAT(HowItEnded(process), HasSubstr("no end"));
  process.alive = true;
  EXPECT_EQ(HowItEnded(process), "still running");
  process.alive = false;
  process.has_end = true;
  process.recovered = true;
  process.exit_status = -1;
  EXPECT_THAT(HowItEnded(process),
              AllOf(HasSubstr("SIGKILL"), HasSubstr("finished after its end")));
  process.exit_status = 128 + 9;
  EXPECT_THAT(HowItEnded(process), HasSubstr("killed by signal 9"));
  process.exit_status = 3;
  EXPECT_THAT(HowItEnded(process), HasSubstr("exited with status 3 by the system call itself"));
  process.exit_way = static_cast<uint32_t>(proto::ExitWay::kExec);
  EXPECT_THAT(HowItEnded(process), HasSubstr("exec"));
  process.exit_way = 99;
  EXPECT_FALSE(HowItEnded(process).empty());
}

}  // namespace
}  // namespace gpuprof::analysis
