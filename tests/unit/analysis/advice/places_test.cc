// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where findings lead to in the timeline.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "proto/results/locks.pb.h"
#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kProduct = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn";

// Returns the place of a finding. An empty one: there is no such finding, or it has no place.
results::Place PlaceOf(const Trace& trace, const std::string& id) {
  const results::Advice advice = Advise(trace);
  const results::Finding* finding = Find(advice, id);
  EXPECT_NE(finding, nullptr) << id;
  return finding == nullptr ? results::Place() : finding->place();
}

// Expects a place from `start` on, in microseconds.
void ExpectAt(const results::Place& place, results::PlaceKind kind, int64_t start, int64_t length) {
  EXPECT_EQ(results::PlaceKind_Name(place.kind()), results::PlaceKind_Name(kind));
  EXPECT_EQ(place.start_ns(), start * kUs);
  EXPECT_EQ(place.end_ns(), (start + length) * kUs);
  EXPECT_EQ(place.pid(), 5);
}

// Makes five steps. `body` gets the loop and the number of the step.
template <typename Body>
Trace NumberedSteps(const Body& body) {
  LoopMaker loop;
  for (int i = 0; i < 5; ++i) {
    loop.BeginStep();
    body(loop, i);
    loop.Synchronize();
  }
  return loop.Build();
}

TEST(Places, TheLongestCall) {
  int64_t at = 0;
  const Trace trace = NumberedSteps([&](LoopMaker& loop, int step) {
    for (int i = 0; i < 4; ++i) {
      const bool is_longest = step == 3 && i == 1;
      if (is_longest) at = loop.now();
      loop.Call("cudaMalloc", is_longest ? 310 : 300);
      loop.Kernel(kProduct, 100);
    }
  });
  const results::Place place = PlaceOf(trace, "SY-002");
  ExpectAt(place, results::PLACE_KIND_LONGEST_CALL, at, 310);
  EXPECT_EQ(place.tid(), 5);
  EXPECT_FALSE(place.has_device());
  EXPECT_EQ(place.step(), 3u);
}

TEST(Places, TheLongestCopy) {
  int64_t at = 0;
  const Trace trace = NumberedSteps([&](LoopMaker& loop, int step) {
    for (int i = 0; i < 4; ++i) {
      const bool is_longest = step == 2 && i == 2;
      if (is_longest) at = loop.now();
      loop.Copy(LoopMaker::kHtoD, 1 << 20, is_longest ? 320 : 300, true);
      loop.Kernel(kProduct, 300);
    }
  });
  const results::Place place = PlaceOf(trace, "CP-001");
  EXPECT_EQ(place.kind(), results::PLACE_KIND_LONGEST_COPY);
  EXPECT_EQ(place.end_ns() - place.start_ns(), 320 * kUs);
  // It waits for the kernel before it.
  EXPECT_GT(place.start_ns(), at * kUs);
  EXPECT_LT(place.start_ns(), (at + 310) * kUs);
  EXPECT_EQ(place.device(), 0u);
  EXPECT_FALSE(place.has_tid());
  EXPECT_EQ(place.step(), 2u);
}

// The host is late before each kernel, most before one of the fourth step.
TEST(Places, TheLongestGapOfTheCause) {
  int64_t at = 0;
  const Trace trace = NumberedSteps([&](LoopMaker& loop, int step) {
    for (int i = 0; i < 10; ++i) {
      const bool is_longest = step == 3 && i == 5;
      if (is_longest) at = loop.now();
      loop.Host(is_longest ? 400 : 200);
      loop.Kernel(kProduct, 100);
    }
  });
  const results::Place place = PlaceOf(trace, "LA-001");
  // The kernel before it ended 105 us behind the begin of its call, which takes 5 us.
  ExpectAt(place, results::PLACE_KIND_LONGEST_GAP, at + 105, 400 - 105 + 10);
  EXPECT_EQ(place.device(), 0u);
  EXPECT_EQ(place.step(), 3u);
}

// With the time behind the wait in which the device has no work.
TEST(Places, TheWaitThatCostsMost) {
  int64_t at = 0;
  const Trace trace = NumberedSteps([&](LoopMaker& loop, int step) {
    for (int i = 0; i < 10; ++i) {
      loop.Host(step == 2 && i == 5 ? 450 : 400);
      loop.Kernel(kProduct, 600);
      if (step == 2 && i == 4) at = loop.now();
      loop.Synchronize();
    }
  });
  const results::Place place = PlaceOf(trace, "SY-001");
  // The kernel has 605 us left when the wait begins, and the wait ends 5 us behind it.
  ExpectAt(place, results::PLACE_KIND_LONGEST_WAIT, at, 605 + 5 + 450 + 10);
  EXPECT_EQ(place.tid(), 5);
}

// The longest launch of all is in another step than the typical one.
TEST(Places, TheLongestLaunchOfTheTypicalStep) {
  int64_t at = 0;
  const Trace trace = NumberedSteps([&](LoopMaker& loop, int step) {
    loop.DescribeDevice();
    loop.Shape(kProduct, 132 * 8, 256);
    loop.Shape("direct_copy_kernel_cuda", 132 * 8, 256);
    for (int i = 0; i < 5; ++i) loop.Kernel(kProduct, 160);
    // Steps of 0, 1, 2, 3 and 40 us more: the third is of median length.
    for (int i = 0; i < 4; ++i) {
      if (step == 2 && i == 3) at = loop.now();
      loop.Kernel("direct_copy_kernel_cuda", 50 + (i == 3 ? 10 + (step == 4 ? 40 : step) : 0));
    }
  });
  const results::Place place = PlaceOf(trace, "GP-015");
  EXPECT_EQ(place.kind(), results::PLACE_KIND_LONGEST_KERNEL);
  EXPECT_EQ(place.end_ns() - place.start_ns(), 62 * kUs);
  EXPECT_EQ(place.step(), 2u);
  EXPECT_GT(place.start_ns(), at * kUs);
}

// Steps on the host alone, of these lengths.
Trace HostSteps(const std::vector<int64_t>& lengths_us) {
  ProcessBuilder builder(5);
  TrackBuilder& thread = builder.Thread(7);
  int64_t at = 0;
  for (size_t i = 0; i < lengths_us.size(); ++i) {
    const int64_t length = lengths_us[i] * kUs;
    thread.User("step " + std::to_string(i), at, at + length);
    thread.Op("aten::mm", at, at + length / 2);
    at += length;
  }
  return MakeTrace({&builder});
}

TEST(Places, StepsOfTheHost) {
  const Trace trace = HostSteps({9000, 1000, 1001, 1002, 1003, 1900, 1001, 2000, 1001, 1700, 1001});
  const results::Place longest = PlaceOf(trace, "ST-002");
  ExpectAt(longest, results::PLACE_KIND_LONGEST_STEP,
           9000 + 1000 + 1001 + 1002 + 1003 + 1900 + 1001, 2000);
  EXPECT_EQ(longest.step(), 7u);
  EXPECT_EQ(longest.tid(), 7);
  ExpectAt(PlaceOf(trace, "ST-001"), results::PLACE_KIND_LONGEST_STEP, 0, 9000);
  // Nothing tells a moment of the time without operations: a step of median length shows it.
  const results::Place typical = PlaceOf(trace, "HO-001");
  ExpectAt(typical, results::PLACE_KIND_TYPICAL_STEP, 9000 + 1000, 1001);
}

TEST(Places, WhatIsAboutTheWholeRecordingHasNoPlaceWithoutSteps) {
  LoopMaker loop;
  for (int i = 0; i < 100; ++i) loop.Kernel(kProduct, 100);
  const results::Advice advice = Advise(loop.Build());
  const results::Finding* finding = Find(advice, "OV-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(finding->has_place());
}

TEST(Places, LocksThatStepsWaitFor) {
  ProcessBuilder builder(5);
  TrackBuilder& thread = builder.Thread(7);
  for (int i = 0; i < 5; ++i) {
    const int64_t at = i * kMs;
    thread.User("step " + std::to_string(i), at, at + kMs);
    const int64_t length = (i == 3 ? 310 : 300) * kUs;
    thread.Wait(proto::WaitKind::kMutex, 0x10, 0x20, at + 100 * kUs, at + 100 * kUs + length);
  }
  const results::Place place = PlaceOf(MakeTrace({&builder}), "SY-004");
  ExpectAt(place, results::PLACE_KIND_LONGEST_WAIT, 3100, 310);
  EXPECT_EQ(place.tid(), 7);
}

TEST(Places, TextTellsThePlaceIfNoEvidenceDoes) {
  const Trace trace = HostSteps({1000, 1001, 1002, 1003, 1900, 1001, 2000, 1001, 1700, 1001, 1000});
  const std::string words = Render(Advise(trace), Format::kText, {}, 120);
  EXPECT_THAT(words, HasSubstr("see: the longest step: 2.00 ms at 6.91 ms, step 6"));
  const Trace calls = NumberedSteps([&](LoopMaker& loop, int) {
    for (int i = 0; i < 4; ++i) {
      loop.Call("cudaMalloc", 300);
      loop.Kernel(kProduct, 100);
    }
  });
  EXPECT_THAT(Render(Advise(calls), Format::kText, {}, 120),
              Not(HasSubstr("see: the longest call")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
