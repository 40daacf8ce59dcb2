// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When contexts came and went, as a file tells it.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = uint64_t{1'700'000'000} * kSecond;

void Add(proto::Devices* devices, uint32_t id, uint64_t begin, uint64_t end) {
  proto::ContextLife* life = devices->add_context();
  life->set_id(id);
  life->set_begin(begin);
  life->set_end(end);
}

// Ticks of half a nanosecond.
TEST(ContextLives, WhatIsToldOfOneAddsUp) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 5, kWall / 1000, proto::ClockKind::kTsc, 5);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, 0, kWall);
  maker.Clock(20 * kSecond, 10 * kSecond, kWall + 10 * kSecond);
  proto::Devices first, second;
  Add(&first, 3, 8 * kSecond, 0);
  Add(&first, 1, 2 * kSecond, 0);
  Add(&second, 1, 0, 6 * kSecond);
  Add(&second, 2, 0, 10 * kSecond);
  maker.Table(ChunkKind::kDevices, proto::Chunk::kDevicesFieldNumber, first, 2);
  maker.Table(ChunkKind::kDevices, proto::Chunk::kDevicesFieldNumber, second, 2);
  maker.Flush();
  maker.End();
  maker.Close();
  std::shared_ptr<const Trace> trace;
  const Error error = Open(directory.path(), {}, &trace);
  ASSERT_FALSE(error) << error.message;
  const auto& lives = trace->processes.at(0).contexts;
  ASSERT_EQ(lives.size(), 3u);
  EXPECT_EQ(lives[0].id, 1u);
  EXPECT_EQ(lives[0].end_ns - lives[0].begin_ns, 2 * kSecond);
  EXPECT_EQ(lives[1].id, 2u);
  EXPECT_EQ(lives[1].begin_ns, INT64_MIN) << "it was there before";
  EXPECT_EQ(lives[1].end_ns - lives[0].end_ns, 2 * kSecond);
  EXPECT_EQ(lives[2].id, 3u);
  EXPECT_EQ(lives[2].begin_ns - lives[0].begin_ns, 3 * kSecond);
  EXPECT_EQ(lives[2].end_ns, INT64_MAX) << "it is still there";
  EXPECT_TRUE(trace->faults.empty());
}

}  // namespace
}  // namespace gpuprof::analysis
