// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Operations get what was recorded of their inputs at their start, and no other operation does.

#include "analysis/read/operation_inputs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kInputs = 7, kOther = 8, kFirstText = 100;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

class OperationInputsTest : public testing::Test {
 protected:
  OperationInputsTest() {
    process_.strings[kInputs] = "torch_inputs";
    process_.strings[kOther] = "shape";
    process_.tracks.emplace_back();
  }
  Track& track() { return process_.tracks[0]; }
  void Op(int64_t end, int64_t duration) {
    track().op.end_ns.push_back(end);
    track().op.duration_ns.push_back(duration);
    track().op.name.push_back(1);
    track().op.operation.push_back(0);
    track().op.sequence.push_back(0);
  }
  void Value(int64_t time, uint32_t text, uint32_t name = kInputs) {
    track().op_value.time_ns.push_back(time);
    track().op_value.name.push_back(name);
    track().op_value.value.push_back(0);
    track().op_value.text.push_back(text);
  }
  std::vector<uint32_t> Details() {
    const Column<uint32_t>& details = track().op.detail;
    return {details.begin(), details.end()};
  }

  Process process_;
};

TEST_F(OperationInputsTest, TheStartJoinsThem) {
  Op(30, 10);  // within the next one
  Op(40, 30);  // 10 to 40
  Op(60, 10);
  Value(10, kFirstText);
  Value(20, kFirstText + 1);
  Value(50, kFirstText + 2, kOther);
  Value(51, kFirstText + 3);  // no operation began here
  JoinOperationInputs(&process_);
  EXPECT_EQ(Details(), (std::vector<uint32_t>{kFirstText + 1, kFirstText, 0}));
}

TEST_F(OperationInputsTest, WithoutInputsThereIsNoColumn) {
  Op(30, 10);
  Value(20, kFirstText, kOther);
  JoinOperationInputs(&process_);
  EXPECT_TRUE(track().op.detail.empty());
}

TEST_F(OperationInputsTest, ATrackWithoutOperations) {
  Value(20, kFirstText);
  JoinOperationInputs(&process_);
  EXPECT_TRUE(track().op.detail.empty());
}

// Many segments, of which most have no inputs. Threads read them at once.
TEST_F(OperationInputsTest, WindowsInALongTrace) {
  constexpr int kOps = 100'000, kFrom = 40'000, kTo = 50'000;
  std::mt19937 random(1);
  std::vector<uint32_t> expected(kOps);
  for (int i = 0; i < kOps; ++i) {
    const int64_t start = i * 100, duration = static_cast<int64_t>(random() % 90);
    Op(start + duration, duration);
    if (i < kFrom || i >= kTo || random() % 2 == 0) continue;
    expected[static_cast<size_t>(i)] = kFirstText + static_cast<uint32_t>(i % 10);
    Value(start, expected[static_cast<size_t>(i)]);
  }
  JoinOperationInputs(&process_);
  std::vector<std::vector<uint32_t>> read(4);
  std::vector<std::thread> threads;
  for (std::vector<uint32_t>& each : read) threads.emplace_back([&] { each = Details(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<uint32_t>& each : read) EXPECT_EQ(each, expected);
}

TEST_F(OperationInputsTest, TimesOfDamagedFiles) {
  Op(kLeast, kMost);
  Op(kMost, kLeast);
  Op(kMost, kMost);
  Op(5, -5);
  Op(5, 5);
  Value(kLeast, kFirstText);
  Value(kMost, kFirstText + 1);
  Value(0, kFirstText + 2);
  Value(0, kFirstText + 2);
  JoinOperationInputs(&process_);
  EXPECT_EQ(Details(), (std::vector<uint32_t>{0, 0, kFirstText + 2, 0, kFirstText + 2}));
}

}  // namespace
}  // namespace gpuprof::analysis
