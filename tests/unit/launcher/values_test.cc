// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of settings: what is taken, and that refusals name a fix.

#include "launcher/base/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

uint64_t Size(std::string_view text) {
  uint64_t bytes = 0;
  EXPECT_EQ(ParseSize(text, &bytes), "") << text;
  return bytes;
}

uint64_t Nanoseconds(std::string_view text) {
  uint64_t ns = 0;
  EXPECT_EQ(ParseDuration(text, &ns), "") << text;
  return ns;
}

TEST(Values, Sizes) {
  EXPECT_EQ(Size("0"), 0u);
  EXPECT_EQ(Size("65536"), 65536u);
  EXPECT_EQ(Size("7B"), 7u);
  EXPECT_EQ(Size("512KiB"), 512u << 10);
  EXPECT_EQ(Size("32M"), 32u << 20);
  EXPECT_EQ(Size("32MB"), 32u << 20);
  EXPECT_EQ(Size("2g"), uint64_t{2} << 30);
  uint64_t bytes = 0;
  for (const char* bad :
       {"", "MiB", "1.5M", "-1", "1X", "1MiBs", " 1", "1 M", "99999999999999999999"}) {
    EXPECT_THAT(ParseSize(bad, &bytes), HasSubstr("write a whole number")) << bad;
  }
  EXPECT_THAT(ParseSize("18446744073709551615G", &bytes), HasSubstr("write a whole number"));
}

TEST(Values, Durations) {
  EXPECT_EQ(Nanoseconds("500ms"), 500'000'000u);
  EXPECT_EQ(Nanoseconds("5s"), 5'000'000'000u);
  EXPECT_EQ(Nanoseconds("1.5m"), 90'000'000'000u);
  EXPECT_EQ(Nanoseconds("2h"), 7'200'000'000'000u);
  uint64_t ns = 0;
  for (const char* bad : {"", "5", "s", "5x", "-1s", "1..5s", "5 s", "1e3s"}) {
    EXPECT_THAT(ParseDuration(bad, &ns), HasSubstr("a number and its unit")) << bad;
  }
  EXPECT_THAT(ParseDuration("300h", &ns), HasSubstr("ten days"));
}

TEST(Values, Signals) {
  int number = -1;
  const auto parse = [&](std::string_view text) {
    number = -1;
    EXPECT_EQ(ParseSignal(text, &number), "") << text;
    return number;
  };
  EXPECT_EQ(parse("USR1"), 10);
  EXPECT_EQ(parse("SIGUSR2"), 12);
  EXPECT_EQ(parse("28"), 28);
  EXPECT_EQ(parse("40"), 40);
  EXPECT_EQ(parse("none"), 0);
  for (const char* bad : {"KILL", "STOP", "SEGV", "9", "ABRT", "32", "33", "TSTP"}) {
    EXPECT_THAT(ParseSignal(bad, &number), HasSubstr("cannot toggle a capture")) << bad;
  }
  for (const char* bad : {"0", "65", "-1"}) EXPECT_NE(ParseSignal(bad, &number), "") << bad;
  EXPECT_THAT(ParseSignal("USR3", &number), HasSubstr("Did you mean 'USR"));
}

TEST(Values, Captures) {
  Capture capture;
  EXPECT_EQ(ParseCapture("now", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kNow);
  EXPECT_EQ(ParseCapture("off", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kOff);
  EXPECT_EQ(ParseCapture("signal", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kOff);
  EXPECT_EQ(ParseCapture("cuda-profiler", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kProfilerCalls);
  EXPECT_THAT(ParseCapture("cuda-profiler:x", &capture), HasSubstr("cuda-profiler."));
  EXPECT_THAT(ParseCapture("cudaprofiler", &capture), HasSubstr("Did you mean 'cuda-profiler'"));
  EXPECT_EQ(ParseCapture("nvtx:my range@app", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kRange);
  EXPECT_EQ(capture.range, "my range@app");
  EXPECT_EQ(ParseCapture("steps:10-15", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kSteps);
  EXPECT_EQ(capture.first_step, 10u);
  EXPECT_EQ(capture.last_step, 15u);
  EXPECT_EQ(capture.range, "");
  EXPECT_EQ(ParseCapture("steps:7@train@app", &capture), "");
  EXPECT_EQ(capture.first_step, 7u);
  EXPECT_EQ(capture.last_step, 7u);
  EXPECT_EQ(capture.range, "train@app");
  EXPECT_THAT(ParseCapture("steps:-5", &capture), HasSubstr("FIRST-LAST"));
  EXPECT_THAT(ParseCapture("steps:3-", &capture), HasSubstr("FIRST-LAST"));
  EXPECT_THAT(ParseCapture("nvtx:" + std::string(300, 'x'), &capture), HasSubstr("at most 250"));
  EXPECT_EQ(ParseCapture("delay:5s", &capture), "");
  EXPECT_EQ(capture.when, Capture::When::kDelay);
  EXPECT_EQ(capture.start_ns, 5'000'000'000u);
  EXPECT_EQ(capture.length_ns, 0u);
  EXPECT_EQ(ParseCapture("delay:500ms+10s", &capture), "");
  EXPECT_EQ(capture.start_ns, 500'000'000u);
  EXPECT_EQ(capture.length_ns, 10'000'000'000u);
  EXPECT_THAT(ParseCapture("delay:5s+0s", &capture), HasSubstr("at least 1ms"));
  EXPECT_THAT(ParseCapture("delay:5", &capture), HasSubstr("unit"));
  EXPECT_THAT(ParseCapture("nwo", &capture), HasSubstr("Did you mean 'now'?"));
}

TEST(Values, Sources) {
  Sources sources;
  EXPECT_EQ(ParseSources("heap,locks,threads,ops,tensors", &sources), "");
  EXPECT_EQ(sources.bits, 31u);
  EXPECT_EQ(sources.heap, proto::HeapMode::kSampled);
  EXPECT_EQ(sources.heap_period, proto::kDefaultHeapPeriod);
  EXPECT_EQ(ParseSources("heap=exact", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceHeap);
  EXPECT_EQ(sources.heap, proto::HeapMode::kExact);
  EXPECT_EQ(ParseSources("heap=sampled:1MiB,ops", &sources), "");
  EXPECT_EQ(sources.heap_period, 1u << 20);
  EXPECT_EQ(ParseSources("heap=off,locks", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceLocks);
  EXPECT_THAT(ParseSources("haep", &sources), HasSubstr("Did you mean 'heap'?"));
  EXPECT_THAT(ParseSources("heap=all", &sources), HasSubstr("heap=exact"));
  EXPECT_THAT(ParseSources("locks=1", &sources), HasSubstr("takes no value"));
  EXPECT_EQ(ParseSources("ops=names,locks", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceOps | proto::kSourceLocks);
  EXPECT_EQ(ParseSources("ops=shapes", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceOps);
  EXPECT_THAT(ParseSources("ops=all", &sources), HasSubstr("ops=names"));
  EXPECT_THAT(ParseSources("ops=", &sources), HasSubstr("ops=names"));
  EXPECT_THAT(ParseSources("heap=sampled:1", &sources), HasSubstr("between"));
  EXPECT_NE(ParseSources("heap,,ops", &sources), "");
  EXPECT_NE(ParseSources("", &sources), "");
  EXPECT_EQ(ParseSources("files", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceFiles);
  EXPECT_EQ(ParseSources("um", &sources), "");
  EXPECT_EQ(sources.bits, proto::kSourceUnifiedMemory | proto::kSourceCuda) << "it needs cuda";
  EXPECT_THAT(ParseSources("?", &sources),
              HasSubstr("nvtx, itt, nccl, files, samples, comma separated"));
}

// The list of sources knows which are on by default, and so does the table of the environment.
TEST(Values, DefaultSources) {
#define GPUPROF_FALLBACK(constant, variable, fallback, meaning) \
  if (std::string(proto::constant) == proto::kEnvTrace) defaults = fallback;
  std::string defaults;
  GPUPROF_ENVIRONMENT(GPUPROF_FALLBACK)
#undef GPUPROF_FALLBACK
  Sources sources;
  EXPECT_EQ(ParseSources(defaults, &sources), "");
  EXPECT_EQ(sources.bits, proto::kDefaultSources);
}

TEST(Values, ProgramsAndChoices) {
  std::vector<std::string> names;
  EXPECT_EQ(ParsePrograms("", &names), "");
  EXPECT_THAT(names, testing::IsEmpty());
  EXPECT_EQ(ParsePrograms("bash,make", &names), "");
  EXPECT_THAT(names, ElementsAre("bash", "make"));
  EXPECT_THAT(ParsePrograms("/bin/bash", &names), HasSubstr("write 'bash'"));
  EXPECT_NE(ParsePrograms("a,,b", &names), "");
  EXPECT_EQ(ParseChoice("tsc", {"auto", "tsc"}), "");
  EXPECT_THAT(ParseChoice("atuo", {"auto", "tsc"}), HasSubstr("Did you mean 'auto'?"));
  uint64_t count = 0;
  EXPECT_EQ(ParseCount("127", 127, &count), "");
  EXPECT_EQ(count, 127u);
  for (const char* bad : {"128", "", "-1", "1x", "+1"})
    EXPECT_NE(ParseCount(bad, 127, &count), "") << bad;
}

}  // namespace
}  // namespace gpuprof::launcher
