// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The walk through a buffer, as a library steps through it that keeps to its rules, and one that
// does not.

#include "tracer/cupti/record_walk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

constexpr size_t kValid = 48;

// The library's steps: each is a place in the buffer, or beyond it. Behind the last one it answers
// `g_last`, and leaves the place as it is.
std::vector<std::ptrdiff_t> g_places;
int g_last = kMaxLimitReached;
size_t g_taken = 0;

int NextPlace(uint8_t* buffer, size_t, void** at) {
  if (g_taken == g_places.size()) return g_last;
  *at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(buffer) +
                                static_cast<uintptr_t>(g_places[g_taken++]));
  return kSuccess;
}

struct Walked {
  bool is_whole = false;
  std::vector<size_t> lengths;
};

Walked Walk(const std::vector<std::ptrdiff_t>& places, int last = kMaxLimitReached) {
  std::vector<uint8_t> buffer(kValid);
  g_places = places;
  g_last = last;
  g_taken = 0;
  Walked walked;
  walked.is_whole = EachRecord(buffer.data(), buffer.size(), NextPlace, [&](const Record& record) {
    walked.lengths.push_back(record.bytes());
  });
  return walked;
}

using Lengths = std::vector<size_t>;

TEST(RecordWalk, VisitsEachRecordToTheEnd) {
  const Walked walked = Walk({0, 16, 40});
  EXPECT_TRUE(walked.is_whole);
  EXPECT_EQ(walked.lengths, (Lengths{16, 24, 8}));
}

TEST(RecordWalk, TheLastStepMayLeadToTheEnd) {
  const Walked walked = Walk({0, 16, kValid}, kUnknown);
  EXPECT_TRUE(walked.is_whole);
  EXPECT_EQ(walked.lengths, (Lengths{16, 32}));
}

TEST(RecordWalk, AFailureIsNotTheEnd) {
  EXPECT_FALSE(Walk({0, 16}, kUnknown).is_whole);
  EXPECT_FALSE(Walk({}, kUnknown).is_whole);
}

TEST(RecordWalk, EndsIfTheLibraryStaysWhereItIs) {
  const Walked walked = Walk({0, 16}, kSuccess);
  EXPECT_FALSE(walked.is_whole);
  EXPECT_EQ(walked.lengths, (Lengths{16}));
}

TEST(RecordWalk, EndsIfTheLibraryLeadsBackOrOutside) {
  for (const std::ptrdiff_t place :
       {std::ptrdiff_t{8}, std::ptrdiff_t{-8}, static_cast<std::ptrdiff_t>(kValid + 1)}) {
    const Walked walked = Walk({0, 16, place});
    EXPECT_FALSE(walked.is_whole) << place;
    EXPECT_EQ(walked.lengths, (Lengths{16})) << place;
  }
  const Walked walked = Walk({-1});
  EXPECT_FALSE(walked.is_whole);
  EXPECT_EQ(walked.lengths, Lengths{});
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
