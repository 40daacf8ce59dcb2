// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about samples of stacks: each with a finding, and just below its thresholds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/results/advice.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/sampled_process.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;

constexpr char kMain[] = "/srv/app.py(30): main";
constexpr char kHot[] = "/srv/app.py(10): Server.hot";
constexpr char kCold[] = "/srv/app.py(20): cold";
constexpr char kDumps[] = "/usr/lib/python3.11/json/__init__.py(231): dumps";
constexpr char kRead[] = "/usr/lib/python3.11/socket.py(700): SocketIO.readinto";
constexpr char kGet[] = "/usr/lib/python3.11/queue.py(171): Queue.get";
constexpr char kCondition[] = "/usr/lib/python3.11/threading.py(327): Condition.wait";

results::Advice Advise(const SampledProcess& process) {
  return RunPass<results::Advice>("advise", MakeTrace({&process.builder}));
}

const results::Finding* Find(const results::Advice& advice, const std::string& id) {
  for (const results::Finding& finding : advice.findings())
    if (finding.id() == id) return &finding;
  return nullptr;
}

std::string WordsOf(const results::Finding& finding) {
  std::string all = finding.name();
  for (const std::string& line : finding.evidence()) all += "\n" + line;
  return all;
}

// A run of a second. The hot function has this part of the processor time.
void FillRun(int64_t hot_ms, SampledProcess* process) {
  process->Sample(10, 0, hot_ms / 2, {kMain, kHot});
  process->Sample(10, hot_ms / 2, hot_ms, {kMain, kHot, kDumps});
  for (int64_t at = hot_ms; at < 1000; at += 50) {
    const std::string other = "/srv/app.py(50): other" + std::to_string(at);
    process->Sample(10, at, std::min<int64_t>(at + 50, 1000), {kMain, other});
  }
}

TEST(SampleRules, NameTheFunctionThatUsesTheProcessor) {
  SampledProcess process(10);
  FillRun(300, &process);
  const results::Advice advice = Advise(process);
  const results::Finding* finding = Find(advice, "PY-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->name(), "Server.hot uses 30.0 % of the processor time");
  const std::string words = WordsOf(*finding);
  EXPECT_THAT(words,
              HasSubstr("Server.hot (/srv/app.py:10) was on a processor for 300 ms of 1.00 s "
                        "(30.0 %), with the libraries that it calls, on 1 thread."));
  EXPECT_THAT(words, HasSubstr("150 ms of this were in libraries."));
  EXPECT_THAT(words, HasSubstr("Its callers: main (/srv/app.py) 300 ms."));
  ASSERT_TRUE(finding->has_gain());
  EXPECT_EQ(finding->gain().method(), results::GAIN_METHOD_BOUND);
  EXPECT_EQ(finding->gain().low_ns(), 0);
  EXPECT_EQ(finding->gain().high_ns(), 300 * kMs);
  EXPECT_EQ(finding->gain().base_ns(), 1000 * kMs);
  EXPECT_TRUE(finding->gain().is_of_run());
  EXPECT_THAT(Render(advice, Format::kText, {}, 200),
              HasSubstr("at most 300 ms of the run of 1.00 s, 30.0 %"));

  SampledProcess below(10);
  FillRun(290, &below);
  EXPECT_EQ(Find(Advise(below), "PY-001"), nullptr);
}

// A run of a second with pauses of these lengths.
results::Advice AdviseOfPauses(const std::vector<int64_t>& lengths_us) {
  SampledProcess process(10);
  process.Sample(10, 0, 1000, {kMain}, kWaits);
  int64_t at = 0;
  for (const int64_t length_us : lengths_us) {
    process.builder.Thread(10).GcPause(2, at, at + length_us * kUs, 5);
    at += 100 * kMs;
  }
  return Advise(process);
}

TEST(SampleRules, PausesOfTheCollectorInARun) {
  const results::Advice advice = AdviseOfPauses({6000, 4000});
  const results::Finding* finding = Find(advice, "PY-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("10.0 ms (1.0 %) of the run in 2 collections. The "
                                           "longest takes 6.00 ms."));
  EXPECT_EQ(finding->gain().high_ns(), 10 * kMs);
  EXPECT_THAT(finding->fix(0), HasSubstr("gc.freeze()"));
  EXPECT_EQ(Find(AdviseOfPauses({6000, 3900}), "PY-004"), nullptr);
  EXPECT_NE(Find(AdviseOfPauses({50'000}), "PY-004"), nullptr);
}

TEST(SampleRules, SayNothingOfAFunctionInARunThatWaits) {
  SampledProcess process(10);
  process.Sample(10, 0, 99, {kMain, kHot}).Sample(10, 99, 1000, {kMain}, kWaits);
  EXPECT_EQ(Find(Advise(process), "PY-001"), nullptr);
}

TEST(SampleRules, LeaveRunsWithStepsToOtherRules) {
  SampledProcess process(10);
  for (int64_t i = 0; i < 10; ++i)
    process.builder.Thread(10).User("step", i * 100 * kMs, (i * 100 + 99) * kMs);
  FillRun(900, &process);
  const results::Advice advice = Advise(process);
  EXPECT_EQ(Find(advice, "PY-001"), nullptr);
  EXPECT_EQ(Find(advice, "RU-001"), nullptr);
}

TEST(SampleRules, BoundTheGainByTheTimeInWhichTheFunctionRuns) {
  SampledProcess process(10);
  // Two threads run it side by side for half of the time.
  process.Sample(15, 0, 400, {kHot}).Sample(10, 0, 600, {kMain, kHot});
  process.Sample(10, 600, 1000, {kMain, kCold});
  const results::Advice advice = Advise(process);
  const results::Finding* finding = Find(advice, "PY-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("for 1.00 s of 1.40 s"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("on 2 threads"));
  EXPECT_EQ(finding->gain().high_ns(), 600 * kMs);
}

// Two threads; the second one waits for the first one's lock.
void FillGil(int64_t wait_ms, SampledProcess* process) {
  process->Sample(15, 0, wait_ms, {kCold}, kGil, 10);
  process->Sample(10, 0, 500, {kMain, kHot}, kRuns | proto::kSampleHasGil);
  process->Sample(10, 500, 1000, {kMain, kCold}, kRuns | proto::kSampleHasGil);
}

TEST(SampleRules, TellForWhomThreadsWaitForTheGil) {
  SampledProcess process(10);
  FillGil(250, &process);
  const results::Advice advice = Advise(process);
  const results::Finding* finding = Find(advice, "PY-002");
  ASSERT_NE(finding, nullptr);
  const std::string words = WordsOf(*finding);
  EXPECT_THAT(words, HasSubstr("1 thread waited for 250 ms: 20.0 % of the time in which"));
  EXPECT_THAT(words, HasSubstr("250 ms of this in cold (/srv/app.py:20)."));
  EXPECT_THAT(words, HasSubstr("these functions ran: Server.hot (/srv/app.py:10) 250 ms."));
  EXPECT_EQ(finding->gain().high_ns(), 250 * kMs);

  SampledProcess below(10);
  FillGil(110, &below);
  EXPECT_EQ(Find(Advise(below), "PY-002"), nullptr);
}

// The waits of the interpreter's lock were recorded, too: it is one cause, and one finding.
TEST(SampleRules, TheGilIsNoContentionOfOtherLocks) {
  for (const auto kind : {proto::WaitKind::kGil, proto::WaitKind::kMutex}) {
    SampledProcess process(10);
    FillGil(250, &process);
    for (int64_t at = 0; at < 1000; at += 20)
      process.builder.Thread(15).Wait(kind, 0x10, 0x20, at * kMs, (at + 15) * kMs);
    const results::Advice advice = Advise(process);
    EXPECT_NE(Find(advice, "PY-002"), nullptr);
    EXPECT_EQ(Find(advice, "SY-005") == nullptr, kind == proto::WaitKind::kGil);
  }
}

// A server whose worker waits for a peer, and whose idle thread waits for work.
void FillServer(int64_t wait_ms, const std::vector<std::string>& where, SampledProcess* process) {
  process->Sample(15, 0, wait_ms, where, kWaits);
  process->Sample(15, wait_ms, 1000, {kMain, kHot});
  process->Sample(16, 0, 1000, {kMain, kRead}, kWaits);
}

TEST(SampleRules, TellWhereThreadsWaitForLong) {
  SampledProcess process(10);
  FillServer(400, {kMain, kHot, kRead}, &process);
  const results::Advice advice = Advise(process);
  const results::Finding* finding = Find(advice, "PY-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->name(), "Threads wait in SocketIO.readinto for long");
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("1 thread waited in SocketIO.readinto (python3.11/socket.py:700), called "
                        "by Server.hot for 400 ms: 40.0 % of the time"));
  EXPECT_EQ(finding->gain().method(), results::GAIN_METHOD_NOT_COMPUTED);
  EXPECT_EQ(finding->severity(), results::SEVERITY_MEDIUM);

  SampledProcess below(10);
  FillServer(290, {kMain, kHot, kRead}, &below);
  EXPECT_EQ(Find(Advise(below), "PY-003"), nullptr);
}

TEST(SampleRules, LetPoolsWaitForWork) {
  SampledProcess process(10);
  FillServer(900, {kMain, kGet, kCondition}, &process);
  EXPECT_EQ(Find(Advise(process), "PY-003"), nullptr);
}

TEST(SampleRules, NeedSamples) {
  ProcessBuilder builder(10);
  builder.Thread(10).Sample(0, 0).Sample(2000 * kMs, 900 * kMs);
  const auto advice = RunPass<results::Advice>("advise", MakeTrace({&builder}));
  const results::Finding* run = Find(advice, "RU-001");
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->caveat(), HasSubstr("functions that computed are not known"));
  bool is_unchecked = false;
  for (const results::UncheckedRule& rule : advice.not_checked())
    is_unchecked = is_unchecked || (rule.id() == "PY-001" && rule.fix() == "--trace samples");
  EXPECT_TRUE(is_unchecked);
}

}  // namespace
}  // namespace gpuprof::analysis::test
