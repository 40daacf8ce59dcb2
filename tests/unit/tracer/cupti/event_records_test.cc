// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recordings of CUDA events get the time of the call that made them, in whatever order the records
// come; those whose call never comes are counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/tracer/cupti/activity_records.h"
#include "tracer/cupti/event_times.h"

namespace gpuprof::tracer::cupti {
namespace {

using Expected = std::vector<std::pair<uint32_t, codec::Row>>;

constexpr uint64_t kTime = 1'750'000'000'000'000'000;
constexpr uint64_t kLimit = 1000;
constexpr uint32_t kEventRecord = 135;

std::vector<std::pair<uint32_t, uint64_t>> Released(EventTimes* events, uint64_t now,
                                                    uint64_t given_up = 0, bool all = false) {
  std::vector<EventRecording> out;
  EXPECT_EQ(events->Release(now, kLimit, all, &out), given_up);
  std::vector<std::pair<uint32_t, uint64_t>> times;
  for (const EventRecording& recording : out)
    times.emplace_back(recording.correlation, recording.time);
  std::sort(times.begin(), times.end());
  return times;
}

using Times = std::vector<std::pair<uint32_t, uint64_t>>;

TEST(EventTimes, EitherMayComeFirst) {
  EventTimes events;
  events.Take({.correlation = 5});
  events.TakeCall(6, 600);
  EXPECT_TRUE(Released(&events, 1).empty());
  events.TakeCall(5, 500);
  events.Take({.correlation = 6});
  events.Take({.correlation = 7});
  EXPECT_EQ(Released(&events, 2), (Times{{5, 500}, {6, 600}}));
  EXPECT_EQ(events.held(), 1u) << "what was joined is forgotten";
  events.TakeCall(7, 700);
  EXPECT_EQ(Released(&events, 3), (Times{{7, 700}}));
}

TEST(EventTimes, NoneIsHeldForLongerThanTheLimit) {
  EventTimes events;
  events.Take({.correlation = 5});
  events.TakeCall(6, 600);
  EXPECT_TRUE(Released(&events, 10).empty());
  EXPECT_TRUE(Released(&events, 10 + kLimit).empty());
  EXPECT_EQ(events.held(), 2u);
  EXPECT_TRUE(Released(&events, 11 + kLimit, 1).empty());
  EXPECT_EQ(events.held(), 0u);
  events.Take({.correlation = 6});
  EXPECT_TRUE(Released(&events, 3000, 1, true).empty()) << "an id that comes again is another call";
}

TEST(EventTimes, WhatIsHeldHasAnEnd) {
  EventTimes events;
  for (uint32_t i = 0; i <= EventTimes::kMost; ++i) {
    events.Take({.correlation = 2 * i});
    events.TakeCall(2 * i + 1, i);
  }
  EXPECT_TRUE(Released(&events, 1, EventTimes::kMost + 1).empty());
  EXPECT_EQ(events.held(), 0u);
}

TEST(EventTimes, InAnyOrderEachGetsItsOwn) {
  std::mt19937 random(5);
  EventTimes events;
  std::vector<uint32_t> records(20000), calls;
  for (uint32_t i = 0; i < records.size(); ++i) records[i] = i;
  calls = records;
  std::shuffle(records.begin(), records.end(), random);
  std::shuffle(calls.begin(), calls.end(), random);
  Times all;
  for (size_t i = 0; i < records.size(); ++i) {
    events.Take({.correlation = records[i]});
    events.TakeCall(calls[i], 10 * calls[i] + 1);
    if (i % 1000 != 999) continue;
    for (const auto& time : Released(&events, 1)) all.push_back(time);
  }
  EXPECT_EQ(all.size(), records.size());
  for (const auto& [correlation, time] : all) EXPECT_EQ(time, 10 * correlation + 1);
}

class EventRecords : public ActivityRecords {
 protected:
  EventRecords() {
    names_.is_recorded[kRuntimeApi][kEventRecord] = true;
    names_.is_event_record[kRuntimeApi][kEventRecord] = true;
    names_.is_recorded[kRuntimeApi][1] = true;
  }
  void Release(bool all = false) { sorter_.Release(1, 1'000'000'000, all, names_); }
};

Bytes Event(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t record,
            size_t size = 56) {
  return Bytes(Activity::kCudaEvent, size)
      .U32(cuda_event::kCorrelation, correlation)
      .U32(cuda_event::kContext, 1)
      .U32(cuda_event::kStream, stream)
      .U32(cuda_event::kEvent, event)
      .U32(cuda_event::kDevice, 2)
      .U64(cuda_event::kRecord, record);
}

Bytes Call(uint32_t correlation, uint64_t start, uint32_t id = kEventRecord) {
  return Bytes(Activity::kRuntime, 40)
      .U32(api::kCallbackId, id)
      .U64(api::kStart, start)
      .U64(api::kEnd, start + 5)
      .U32(api::kThread, 77)
      .U32(api::kCorrelation, correlation);
}

Bytes Wait(uint32_t type, uint64_t record, size_t size = 56) {
  return Bytes(Activity::kSynchronization, size)
      .U32(sync::kType, type)
      .U64(sync::kStart, kTime)
      .U64(sync::kEnd, kTime + 5)
      .U32(sync::kCorrelation, 9)
      .U32(sync::kContext, 1)
      .U32(sync::kStream, 13)
      .U32(sync::kEvent, 3)
      .U64(sync::kEventRecord, record);
}

TEST_F(EventRecords, AreOnTheirStreamWhenTheCallBegan) {
  Give({Event(11, 7, 3, 101), Call(11, kTime), Event(12, 13, 3, 102)});
  Release();
  Give({Call(12, kTime + 50), Call(13, kTime + 90, 1)});
  Release();
  EXPECT_EQ(Rows(proto::ChunkKind::kCudaEvent),
            (Expected{{101, {kTime, 11, 3, 101}}, {102, {kTime + 50, 12, 3, 102}}}));
  EXPECT_EQ(sorter_.counters().without_times, 0u);
}

TEST_F(EventRecords, OfOldLibrariesHaveNoNumberOfTheirOwn) {
  Give({Event(11, 7, 3, 101, 24), Call(11, kTime),
        Bytes(Activity::kContext, 16).U32(context::kId, 1).U32(context::kDevice, 2)});
  Release();
  EXPECT_EQ(Rows(proto::ChunkKind::kCudaEvent), (Expected{{101, {kTime, 11, 3, 0}}}));
}

TEST_F(EventRecords, WithoutTheirCallTheyAreCounted) {
  Give({Event(11, 7, 3, 101), Call(11, kTime, 1)});
  Release();
  EXPECT_EQ(sorter_.counters().without_times, 0u);
  Release(/*all=*/true);
  EXPECT_TRUE(Rows(proto::ChunkKind::kCudaEvent).empty());
  EXPECT_EQ(sorter_.counters().without_times, 1u);
}

TEST_F(EventRecords, WaitsNameTheRecordingTheyAreFor) {
  Give({Wait(sync::kStreamForEvent, 101), Wait(sync::kForEvent, 102), Wait(3, 0),
        Wait(3, UINT64_MAX), Wait(sync::kForEvent, kNoId), Wait(sync::kStreamForEvent, 101, 40)});
  std::vector<uint64_t> records;
  for (const auto& [track, row] : Rows(proto::ChunkKind::kSync)) records.push_back(row.at(7));
  EXPECT_EQ(records, (std::vector<uint64_t>{101, 102, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
