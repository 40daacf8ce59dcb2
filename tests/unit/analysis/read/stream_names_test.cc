// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of handles become those of the streams that had them at the time, and of no others.

#include "analysis/read/stream_names.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using proto::RangeKind;
using Names = std::map<uint32_t, std::string>;  // by the stream's number

constexpr uint64_t kHandle = 0x7f0000001000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

// Track 0 is a thread's.
class StreamNamesTest : public testing::Test {
 protected:
  StreamNamesTest() {
    process_.tracks.emplace_back();
    process_.tracks[0].name = "main";
  }
  void Stream(uint32_t number, uint64_t handle, int64_t since, uint32_t device = 0,
              uint32_t context = 1) {
    Track& track = process_.tracks.emplace_back();
    track.is_stream = true;
    track.device = device;
    track.context = context;
    track.stream = number;
    track.handle = handle;
    track.handle_since_ns = since;
  }
  void Name(const std::string& name, uint64_t handle, int64_t time, uint8_t flags = 0,
            RangeKind kind = RangeKind::kNameStream, size_t track = 0) {
    const auto id = static_cast<uint32_t>(process_.strings.size() + 2);
    process_.strings[id] = name;
    RangeTable& table = process_.tracks[track].range;
    table.end_ns.push_back(time);
    table.duration_ns.push_back(0);
    table.name.push_back(id);
    table.operation.push_back(static_cast<uint32_t>(kind) | uint32_t{flags} << 8);
    table.domain.push_back(0);
    table.style.push_back(0);
    table.payload.push_back(handle);
    table.begin_thread.push_back(0);
  }
  void Capture(int64_t start, int64_t end) {
    CaptureWindow& window = process_.captures.emplace_back();
    window.start_ns = start;
    window.end_ns = end;
  }
  Names Result() {
    NameStreams(&process_);
    EXPECT_EQ(process_.tracks[0].name, "main");
    Names names;
    for (const Track& track : process_.tracks) {
      if (track.is_stream) names[track.stream] = track.name;
    }
    return names;
  }

  Process process_;
};

TEST_F(StreamNamesTest, TheLastNameCounts) {
  process_.tracks.emplace_back();
  Stream(14, kHandle, 100);
  Stream(15, kHandle + 8, 100);
  Stream(7, 0, 0);
  Name("last", kHandle, 300);
  Name("first", kHandle, 200, 0, RangeKind::kNameStream, 1);
  Name("an event", kHandle + 8, 300, 0, RangeKind::kNameEvent);
  Name("nobody's", kHandle + 16, 300);
  Name("no handle", 0, 300);
  EXPECT_EQ(Result(), (Names{{7, ""}, {14, "last"}, {15, ""}}));
}

TEST_F(StreamNamesTest, AHandleThatComesAgainIsAnothersFromThenOn) {
  Stream(16, kHandle, 500);
  Stream(14, kHandle, 100);
  Stream(15, kHandle, 300);
  Name("before all", kHandle, 99);
  Name("one", kHandle, 100);
  Name("three", kHandle, 501);
  EXPECT_EQ(Result(), (Names{{14, "one"}, {15, ""}, {16, "three"}}));
}

TEST_F(StreamNamesTest, WhatWasGivenBeforeTheCaptureIsNobodys) {
  Stream(14, kHandle, 100);
  Name("of a stream that is gone", kHandle, 200, proto::kFlagEarlier);
  EXPECT_EQ(Result(), (Names{{14, ""}}));
}

TEST_F(StreamNamesTest, BetweenCapturesAHandleMayHaveChangedItsStream) {
  Capture(0, 1000);
  Capture(2000, 3000);
  Stream(14, kHandle, 100);
  Stream(15, kHandle + 8, 2100);
  Name("in the first", kHandle, 900);
  Name("in the second", kHandle, 2200);
  Name("both in the second", kHandle + 8, 2200);
  EXPECT_EQ(Result(), (Names{{14, "in the first"}, {15, "both in the second"}}));
}

// Its device was not known at first.
TEST_F(StreamNamesTest, AStreamOnTwoTracksHasItsNameOnBoth) {
  Stream(14, kHandle, 100, 0, 1);
  Stream(14, kHandle, 100, kNoCudaId, 1);
  Name("one", kHandle, 200);
  Result();
  EXPECT_EQ(process_.tracks[1].name, "one");
  EXPECT_EQ(process_.tracks[2].name, "one");
}

// As a damaged file may have it.
TEST_F(StreamNamesTest, NoNameIsGivenToTwoStreams) {
  Stream(14, kHandle, 100);
  Stream(15, kHandle, 100);
  Stream(15, kHandle, 100, 0, 2);
  Name("one", kHandle, 200);
  Result();
  int count = 0;
  for (const Track& track : process_.tracks) count += track.name == "one" ? 1 : 0;
  EXPECT_EQ(count, 1);
}

// Ticks of half a nanosecond; rows tell the times rounded, and the handle's moment is exact.
TEST(StreamNames, ComeWithTheFile) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 5, kWall / 1000, proto::ClockKind::kTsc, 5);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, 0, kWall);
  maker.Clock(20 * kSecond, 10 * kSecond, kWall + 10 * kSecond);
  maker.Strings({{2, "copies"}, {3, "later"}});
  proto::Streams first, second;
  proto::Stream* stream = first.add_stream();
  stream->set_track(9);
  stream->set_context(1);
  stream->set_stream(14);
  *second.add_stream() = *stream;  // told again, with its handle
  second.mutable_stream(0)->set_handle(kHandle);
  second.mutable_stream(0)->set_handle_since(2 * kSecond + 30);
  stream = second.add_stream();
  stream->set_track(10);
  stream->set_context(1);
  stream->set_stream(15);
  stream->set_handle(kHandle);
  stream->set_handle_since(6 * kSecond);
  maker.Table(ChunkKind::kStreams, proto::Chunk::kStreamsFieldNumber, first, 1);
  maker.Table(ChunkKind::kStreams, proto::Chunk::kStreamsFieldNumber, second, 2);
  const auto kind = static_cast<uint64_t>(RangeKind::kNameStream);
  maker.Row(ChunkKind::kRange, 1, {2 * kSecond + 31, 0, 2, kind, 0, 0, kHandle, 0});
  maker.Row(ChunkKind::kRange, 1, {7 * kSecond, 0, 3, kind, 0, 0, kHandle, 0});
  maker.Flush();
  maker.End();
  maker.Close();
  std::shared_ptr<const Trace> trace;
  const Error error = Open(directory.path(), {}, &trace);
  ASSERT_FALSE(error) << error.message;
  Names names;
  for (const Track& track : trace->processes.at(0).tracks) {
    if (!track.is_stream) continue;
    EXPECT_EQ(track.handle, kHandle);
    names[track.stream] = track.name;
  }
  EXPECT_EQ(names, (Names{{14, "copies"}, {15, "later"}}));
  EXPECT_TRUE(trace->faults.empty());
}

}  // namespace
}  // namespace gpuprof::analysis
