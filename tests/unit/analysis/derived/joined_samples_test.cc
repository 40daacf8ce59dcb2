// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Native samples get the functions of Python that called them, and take their part of the time.

#include "analysis/read/joined_samples.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/derived/host_samples.h"
#include "tests/unit/analysis/sampled_process.h"

namespace gpuprof::analysis::test {
namespace {

constexpr uint32_t kNative = proto::kSampleRuns | proto::kSampleNative;
constexpr uint64_t kLoop = 0x10100, kCall = 0x10200;   // of the interpreter
constexpr uint64_t kDot = 0x20100, kKernel = 0x20200;  // of a library
constexpr char kStep[] = "/srv/train.py(7): step", kMain[] = "/srv/train.py(9): main";

class JoinedSamplesTest : public testing::Test {
 protected:
  JoinedSamplesTest() {
    proto::Module& python = builder().process().modules.front();
    python.set_start(0x10000);
    python.set_end(0x20000);
    proto::Module& library = builder().process().modules.emplace_back();
    library.set_path("/usr/lib/libblas.so.3");
    library.set_start(0x20000);
    library.set_end(0x30000);
  }

  ProcessBuilder& builder() { return process_.builder; }

  // Frames from inside out.
  void Native(int32_t tid, const std::vector<uint64_t>& pcs, int64_t end_ms) {
    builder().Thread(11).StackSample(tid, builder().Stack(pcs), (end_ms - 10) * kMs, end_ms * kMs,
                                     kNative);
  }

  // Time on processors in milliseconds, by frames from inside out: "dot step main".
  std::map<std::string, int64_t> Times() {
    Process& process = builder().process();
    JoinSamples(&process);
    std::map<std::string, int64_t> times;
    const HostSamples samples(process);
    for (const SampledStack& each : samples.stacks()) {
      std::string text;
      StackNode node;
      for (uint32_t id = each.stack; id > 1 && process.stacks.Find(id, &node); id = node.parent) {
        const std::string name = IsNamedFrame(node.pc) ? process.String(NameOfFrame(node.pc)) : "";
        const std::string word = name.empty() ? node.pc == kDot      ? "dot"
                                                : node.pc == kKernel ? "kernel"
                                                                     : "other"
                                              : name.substr(name.rfind(' ') + 1);
        text += (text.empty() ? "" : " ") + word;
      }
      times[text] += each.times[HostState::kRuns] / kMs;
    }
    return times;
  }

  SampledProcess process_{10};
};

using Expected = std::map<std::string, int64_t>;

TEST_F(JoinedSamplesTest, NativeFunctionsLieOnThoseOfPython) {
  process_.Sample(10, 0, 50, {kMain, kStep});
  Native(10, {kKernel, kDot, kCall, kLoop, kCall}, 20);
  Native(10, {kKernel, kDot, kCall, kLoop, kCall}, 30);
  EXPECT_EQ(Times(), (Expected{{"kernel dot step main", 20}, {"step main", 30}}));
}

TEST_F(JoinedSamplesTest, TimeInTheInterpreterIsOfTheFunctionOfPython) {
  process_.Sample(10, 0, 20, {kMain, kStep});
  Native(10, {kLoop, kCall}, 10);
  Native(10, {kLoop, kCall}, 20);
  EXPECT_EQ(Times(), (Expected{{"step main", 20}}));
}

TEST_F(JoinedSamplesTest, ARowOfPythonHasNoMoreTimeThanItsOwn) {
  process_.Sample(10, 0, 10, {kMain});
  process_.Sample(10, 10, 15, {kMain, kStep});
  for (const int64_t end : {11, 12, 13, 14}) Native(10, {kDot, kLoop}, end);
  EXPECT_EQ(Times(), (Expected{{"main", 10}, {"dot step main", 5}}));
}

TEST_F(JoinedSamplesTest, OtherThreadsAndTimesAreNotJoined) {
  process_.Sample(10, 0, 20, {kMain});
  Native(12, {kDot}, 10);   // a thread without Python
  Native(10, {kDot}, 100);  // behind the last row of Python
  EXPECT_EQ(Times(), (Expected{{"main", 20}, {"dot", 20}}));
}

TEST_F(JoinedSamplesTest, WaitsOfPythonStayWaits) {
  process_.Sample(10, 0, 20, {kMain}, kWaits);
  Native(10, {kDot, kLoop}, 10);
  EXPECT_EQ(Times(), (Expected{{"main", 0}}));
}

}  // namespace
}  // namespace gpuprof::analysis::test
