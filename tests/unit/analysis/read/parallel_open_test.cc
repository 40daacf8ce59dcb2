// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A bundle of two million rows: opened by one thread and by several it must be the same, and every
// row must be where and what was written.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/parallel.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr uint64_t kRowsPerTrack = 250'000;
constexpr uint64_t kTracks = 4;
constexpr uint64_t kBlockRows = 10'000;

// Row `i` of a track, reproducible without state.
uint64_t Mix(uint64_t i, uint64_t salt) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + salt * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 29;
}

void Fill(TraceMaker* maker) {
  maker->Meta(maker->Identity(1));
  for (uint64_t second = 0; second < 3; ++second) {
    maker->Clock(second * 2'000'000'000, (10 + second) * kSecond, kWall + second * kSecond);
  }
  for (uint64_t i = 0; i < kRowsPerTrack; ++i) {
    for (uint64_t track = 1; track <= kTracks; ++track) {
      const uint64_t time = 20'000 * (i + 1) + track;
      if (track % 2 == 0) {
        const uint64_t row[] = {time, Mix(i, 1) % 512, Mix(i, 2) & ~uint64_t{15},
                                Mix(i, 3) % 100'000, Mix(i, 4) % 50};
        maker->Row(ChunkKind::kHeap, static_cast<uint32_t>(track), row);
      } else {
        maker->Op(static_cast<uint32_t>(track), time, Mix(i, 5) % 10'000,
                  static_cast<uint32_t>(Mix(i, 6) % 1000 + 2));
      }
    }
    if (i % kBlockRows == kBlockRows - 1) maker->Flush();
  }
  maker->End();
  maker->Close();
}

std::shared_ptr<const Trace> OpenWith(const std::string& path, int threads) {
  OpenOptions options;
  options.threads = threads;
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_FALSE(error) << error.message;
  return trace;
}

void ExpectSame(const Trace& x, const Trace& y) {
  ASSERT_EQ(x.processes.size(), y.processes.size());
  EXPECT_EQ(x.origin_realtime_ns, y.origin_realtime_ns);
  for (size_t p = 0; p < x.processes.size(); ++p) {
    ASSERT_EQ(x.processes[p].tracks.size(), y.processes[p].tracks.size());
    for (size_t t = 0; t < x.processes[p].tracks.size(); ++t) {
      const Track& a = x.processes[p].tracks[t];
      const Track& b = y.processes[p].tracks[t];
      EXPECT_EQ(a.id, b.id);
      EXPECT_TRUE(a.heap.time_ns == b.heap.time_ns && a.heap.operation == b.heap.operation &&
                  a.heap.address == b.heap.address && a.heap.size == b.heap.size &&
                  a.heap.stack == b.heap.stack && a.heap.capture == b.heap.capture);
      EXPECT_TRUE(a.op.end_ns == b.op.end_ns && a.op.duration_ns == b.op.duration_ns &&
                  a.op.name == b.op.name && a.op.operation == b.op.operation);
    }
  }
}

TEST(ParallelOpen, TwoMillionRowsEqualWithAnyNumberOfThreads) {
  TemporaryDirectory directory;
  for (int32_t pid = 100; pid < 102; ++pid) {
    TraceMaker maker(directory.path(), pid, kWall / 1000 + static_cast<uint64_t>(pid));
    Fill(&maker);
  }
  const auto single = OpenWith(directory.path(), 1);
  ASSERT_TRUE(single->faults.empty());
  ASSERT_EQ(single->processes.size(), 2u);

  const int64_t origin =
      static_cast<int64_t>(10'000);  // tick 20001 minus the op's own length, at least
  for (const Process& process : single->processes) {
    ASSERT_EQ(process.tracks.size(), kTracks);
    EXPECT_EQ(process.rows, kTracks * kRowsPerTrack);
    for (const Track& track : process.tracks) {
      const bool is_heap = track.id % 2 == 0;
      ASSERT_EQ(is_heap ? track.heap.rows() : track.op.rows(), kRowsPerTrack);
      const int64_t shift =
          is_heap ? track.heap.time_ns[0] - static_cast<int64_t>((20'000 + track.id) / 2)
                  : track.op.end_ns[0] - static_cast<int64_t>((20'000 + track.id) / 2);
      EXPECT_LE(-shift, origin);
      uint64_t wrong = 0;
      for (uint64_t i = 0; i < kRowsPerTrack; ++i) {
        const int64_t time = static_cast<int64_t>((20'000 * (i + 1) + track.id) / 2) + shift;
        if (is_heap) {
          wrong += track.heap.time_ns[i] != time || track.heap.operation[i] != Mix(i, 1) % 512 ||
                   track.heap.address[i] != (Mix(i, 2) & ~uint64_t{15}) ||
                   track.heap.size[i] != Mix(i, 3) % 100'000 ||
                   track.heap.stack[i] != Mix(i, 4) % 50;
        } else {
          // Both ends are rounded down, each on its own.
          const int64_t length = static_cast<int64_t>(Mix(i, 5) % 10'000);
          wrong += track.op.end_ns[i] != time ||
                   std::abs(2 * track.op.duration_ns[i] - length) > 1 ||
                   track.op.name[i] != Mix(i, 6) % 1000 + 2;
        }
      }
      EXPECT_EQ(wrong, 0u) << "track " << track.id;
    }
  }
  for (const int threads : {2, 3, 8}) ExpectSame(*single, *OpenWith(directory.path(), threads));
}

TEST(ParallelFor, EveryIndexOnceAndTheFirstExceptionReachesTheCaller) {
  std::vector<int> counts(10'000, 0);
  ParallelFor(counts.size(), 4, [&](size_t i, int) { ++counts[i]; });
  for (const int count : counts) ASSERT_EQ(count, 1);
  EXPECT_THROW(ParallelFor(100, 4,
                           [](size_t i, int) {
                             if (i == 50) throw std::bad_alloc();
                           }),
               std::bad_alloc);
  EXPECT_NO_THROW(ParallelFor(0, 4, [](size_t, int) {}));
}

}  // namespace
}  // namespace gpuprof::analysis
