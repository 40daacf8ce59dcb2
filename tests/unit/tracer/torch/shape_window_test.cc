// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Windows open with the capture and later on, and each ends after so many operations.

#include "tracer/torch/shape_window.h"

#include <gtest/gtest.h>

namespace gpuprof::tracer {
namespace {

int added = 0, removed = 0;
bool can_add = true;

bool Add() {
  added += can_add ? 1 : 0;
  return can_add;
}
void Remove() { ++removed; }

class ShapeWindowTest : public testing::Test {
 protected:
  void SetUp() override {
    added = removed = 0;
    can_add = true;
  }
  void TearDown() override { ShapeWindowsEnd(); }

  // Returns how many operations were read until no more were wanted.
  static int ReadAll() {
    int read = 0;
    while (WantsInputs()) {
      ++read;
      const bool was_last = NoteInputsRead();
      EXPECT_EQ(was_last, !WantsInputs());
    }
    return read;
  }
};

TEST_F(ShapeWindowTest, TheFirstOpensWithTheCapture) {
  EXPECT_FALSE(WantsInputs());
  ShapeWindowsBegin({Add, Remove});
  EXPECT_TRUE(WantsInputs());
  EXPECT_EQ(added, 1);
  EXPECT_EQ(ReadAll(), kOpsOfFirstWindow);
  EXPECT_EQ(removed, 0) << "the control thread does it";
  ShapeWindowsTick(1);
  EXPECT_EQ(removed, 1);
}

TEST_F(ShapeWindowTest, LaterOnesComeAfterAPause) {
  ShapeWindowsBegin({Add, Remove});
  uint64_t now = 1'000;
  for (int window = 1; window < 5; ++window) {
    ReadAll();
    ShapeWindowsTick(now);
    EXPECT_EQ(removed, window);
    ShapeWindowsTick(now + kWindowPauseNs - 1);
    EXPECT_FALSE(WantsInputs());
    now += kWindowPauseNs;
    ShapeWindowsTick(now);
    EXPECT_EQ(added, window + 1);
    for (int i = 1; i < kOpsOfWindow; ++i) EXPECT_FALSE(NoteInputsRead());
    EXPECT_TRUE(WantsInputs());
    EXPECT_TRUE(NoteInputsRead());
  }
}

TEST_F(ShapeWindowTest, AWindowStaysOpenUntilItsOperationsCome) {
  ShapeWindowsBegin({Add, Remove});
  ShapeWindowsTick(100 * kWindowPauseNs);
  EXPECT_TRUE(WantsInputs());
  EXPECT_EQ(removed, 0);
}

TEST_F(ShapeWindowTest, TheEndOfACaptureClosesIt) {
  ShapeWindowsBegin({Add, Remove});
  ShapeWindowsEnd();
  EXPECT_FALSE(WantsInputs());
  EXPECT_EQ(removed, 1);
  ShapeWindowsTick(100 * kWindowPauseNs);
  EXPECT_FALSE(WantsInputs());
  ShapeWindowsEnd();
  EXPECT_EQ(added, removed);
}

TEST_F(ShapeWindowTest, TooManyFailuresEndAWindow) {
  ShapeWindowsBegin({Add, Remove});
  for (uint32_t i = 1; i < kMostFailures; ++i) NoteInputsFailed();
  EXPECT_TRUE(WantsInputs());
  NoteInputsFailed();
  EXPECT_FALSE(WantsInputs());
  ShapeWindowsTick(1);
  ShapeWindowsTick(1 + kWindowPauseNs);
  EXPECT_TRUE(WantsInputs()) << "each window begins anew";
}

TEST_F(ShapeWindowTest, WithoutAnObserverNothingIsRead) {
  can_add = false;
  ShapeWindowsBegin({Add, Remove});
  EXPECT_FALSE(WantsInputs());
  ShapeWindowsTick(100 * kWindowPauseNs);
  ShapeWindowsEnd();
  EXPECT_EQ(removed, 0);
}

}  // namespace
}  // namespace gpuprof::tracer
