// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/snapshot_reason.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::tracer {
namespace {

std::string Words(const char* text) {
  const NamedRequest read = ReadSnapshotRequest(text, 7);
  char words[256];
  ReasonWords(read.numbers, words, sizeof(words));
  return words;
}

TEST(SnapshotReason, OfSlowSteps) {
  EXPECT_EQ(Words("\n0 1 412 1900000000 463000000 0"),
            "step 412 took 1.90 s, 4.1 times the median of 463 ms");
  EXPECT_EQ(Words("\n0 1 9 31500 1000 12 "),
            "step 9 took 31.5 us, 31.5 times the median of 1.00 us (12 slow steps before it took "
            "no snapshot)");
}

TEST(SnapshotReason, OfStalls) {
  EXPECT_EQ(Words("\n3 2 88 30000000000 0 0"), "no step ended for 30.0 s after step 88");
}

TEST(SnapshotReason, NobodysReason) {
  EXPECT_EQ(Words("mine\n5 0 0 0 0 0"), "");
  EXPECT_EQ(Words(""), "");
  EXPECT_EQ(Words("\n0 1 1 1 0 0"), "") << "no median";
  EXPECT_EQ(Words("\n0 99 1 1 1 1"), "") << "a cause of later versions";
}

TEST(SnapshotReason, NamesOfSnapshots) {
  const auto name = [](const char* text) { return std::string(ReadSnapshotRequest(text, 7).name); };
  EXPECT_EQ(name("\n0 1 412 3 1 0"), "step-412-p7");
  EXPECT_EQ(name("\n0 2 88 3 0 0"), "stall-after-step-88-p7");
  EXPECT_EQ(name("\n0 0 0 0 0 0"), "");
  EXPECT_EQ(name("mine\n0 1 412 3 1 0"), "mine");
  EXPECT_EQ(name("mine"), "mine");
  EXPECT_EQ(name((std::string(200, 'a') + "\n1").c_str()), std::string(64, 'a'));
}

TEST(SnapshotReason, NumberOfKeptSnapshots) {
  EXPECT_EQ(ReadSnapshotRequest("x\n12", 7).numbers[proto::kKeepSnapshots], 12u);
  EXPECT_EQ(ReadSnapshotRequest("x\n", 7).numbers[proto::kKeepSnapshots], 0u);
}

}  // namespace
}  // namespace gpuprof::tracer
