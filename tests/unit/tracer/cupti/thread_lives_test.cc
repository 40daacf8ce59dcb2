// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread's track is found by its id and the time, also when it has ended, and when its id is
// another's by then.

#include "tracer/cupti/thread_lives.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "proto/trace.pb.h"

namespace gpuprof::tracer::cupti {
namespace {

using proto::RingHeader;
using proto::RingState;

constexpr uint64_t kNow = 1'000'000;

class ThreadLivesTest : public testing::Test {
 protected:
  ThreadLivesTest() {
    host_.rings = slots_;
    host_.ring_count = &ring_count_;
    host_.next_track = &next_track_;
  }

  RingHeader* AddRing(int32_t tid, uint32_t track, uint64_t opened,
                      RingState state = RingState::kOwned) {
    rings_.push_back(std::make_unique<RingHeader>());
    RingHeader* ring = rings_.back().get();
    ring->tid = tid;
    ring->track = track;
    ring->opened = opened;
    ring->state.store(static_cast<uint32_t>(state));
    slots_[ring_count_.load()] = ring;
    ring_count_.fetch_add(1);
    return ring;
  }

  // As the drain does when a thread has gone.
  void Retire(RingHeader* ring) {
    lives_.AddEnded(*ring);
    ring->state.store(static_cast<uint32_t>(RingState::kFree));
  }

  uint32_t TrackAt(uint32_t tid, uint64_t ticks) { return lives_.Find(tid, ticks, kNow).track; }

  std::vector<std::unique_ptr<RingHeader>> rings_;
  RingHeader* slots_[proto::kMaxRings] = {};
  std::atomic<uint32_t> ring_count_{0};
  std::atomic<uint32_t> next_track_{100};
  Host host_ = {};
  ThreadLives lives_{&host_};
};

TEST_F(ThreadLivesTest, LivesAndOneThatIsEndingHaveTheirRingsTracks) {
  AddRing(7, 1, 500);
  AddRing(8, 2, 600, RingState::kClosed);
  EXPECT_EQ(TrackAt(7, 700), 1u);
  EXPECT_EQ(TrackAt(8, 700), 2u);
  const ThreadLife life = lives_.Find(7, 700, kNow);
  EXPECT_EQ(life.since, 500u);
  EXPECT_EQ(life.until, kNow) << "who has the id later is not known yet";
}

TEST_F(ThreadLivesTest, OneThatHasEndedIsStillFound) {
  Retire(AddRing(7, 1, 500));
  EXPECT_EQ(TrackAt(7, 700), 1u);
  std::vector<uint8_t> message;
  EXPECT_EQ(lives_.TakeMade(kNow, &message), 0u);
}

TEST_F(ThreadLivesTest, AnothersRingInItsPlaceIsNotTaken) {
  RingHeader* ring = AddRing(7, 1, 500);
  Retire(ring);
  ring->tid = 9;
  ring->track = 2;
  ring->opened = 800;
  ring->state.store(static_cast<uint32_t>(RingState::kOwned));
  EXPECT_EQ(TrackAt(7, 700), 1u);
  EXPECT_EQ(TrackAt(9, 900), 2u);
}

TEST_F(ThreadLivesTest, AnIdThatWasGivenAgainIsTheOnesOfTheTime) {
  Retire(AddRing(7, 1, 500));
  Retire(AddRing(7, 2, 800));
  AddRing(7, 3, 900);
  EXPECT_EQ(TrackAt(7, 799), 1u);
  EXPECT_EQ(TrackAt(7, 800), 2u);
  EXPECT_EQ(TrackAt(7, 950), 3u);
  const ThreadLife second = lives_.Find(7, 850, kNow);
  EXPECT_EQ(second.since, 800u);
  EXPECT_EQ(second.until, 900u);
}

// Both rings are there until the drain comes to the first.
TEST_F(ThreadLivesTest, AnIdThatWasGivenAgainBeforeTheFirstRingIsFree) {
  AddRing(7, 2, 800);
  AddRing(7, 1, 500, RingState::kClosed);
  EXPECT_EQ(TrackAt(7, 700), 1u);
  EXPECT_EQ(TrackAt(7, 850), 2u);
}

TEST_F(ThreadLivesTest, WhatCameBeforeTheFirstOwnEventIsTheSameThreads) {
  AddRing(7, 1, 500);
  const ThreadLife life = lives_.Find(7, 400, kNow);
  EXPECT_EQ(life.track, 1u);
  EXPECT_EQ(life.since, 0u);
  EXPECT_EQ(life.until, 500u);
}

TEST_F(ThreadLivesTest, OneWithoutARingGetsATrackOnce) {
  EXPECT_EQ(TrackAt(7, 400), 101u);
  EXPECT_EQ(TrackAt(8, 400), 102u);
  EXPECT_EQ(TrackAt(7, 600), 101u);
  std::vector<uint8_t> message;
  EXPECT_EQ(lives_.TakeMade(kNow, &message), 2u);
  proto::Threads threads;
  ASSERT_TRUE(threads.ParseFromArray(message.data(), static_cast<int>(message.size())));
  ASSERT_EQ(threads.thread_size(), 2);
  EXPECT_EQ(threads.thread(0).track(), 101u);
  EXPECT_EQ(threads.thread(0).tid(), 7);
  message.clear();
  EXPECT_EQ(lives_.TakeMade(kNow, &message), 0u) << "they are told once";
  // It then pushes a range: what it does from there on is beside it.
  AddRing(7, 1, 700);
  EXPECT_EQ(TrackAt(7, 699), 101u);
  EXPECT_EQ(TrackAt(7, 700), 1u);
}

TEST_F(ThreadLivesTest, OnlySoManyAreRemembered) {
  RingHeader ring = {};
  for (uint32_t i = 0; i <= ThreadLives::kMostEnded; ++i) {
    ring.tid = static_cast<int32_t>(1000 + i);
    ring.track = 1 + i;
    ring.opened = 500 + i;
    lives_.AddEnded(ring);
  }
  EXPECT_EQ(TrackAt(1001, 900'000), 2u);
  EXPECT_EQ(TrackAt(1000 + ThreadLives::kMostEnded, 900'000), 1 + ThreadLives::kMostEnded);
  EXPECT_EQ(TrackAt(1000, 900'000), 101u) << "the oldest made room";
}

// One after the other, as for requests: a thread that lives, or whose calls go on, stays the same.
TEST_F(ThreadLivesTest, OfVeryManyWithoutARingThoseThatHaveEndedAreForgotten) {
  constexpr uint32_t kNoThread = 10'000'000;  // and above: Linux gives no such ids
  const auto living = static_cast<uint32_t>(syscall(SYS_gettid));
  constexpr uint32_t kBusy = kNoThread, kEnded = kNoThread + 1;
  const uint32_t tracks[] = {TrackAt(living, 400), TrackAt(kBusy, 400), TrackAt(kEnded, 400)};
  size_t most = 0;
  std::vector<uint8_t> message;
  uint32_t told = 0;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const uint32_t track = TrackAt(kNoThread + 10 + i, 400);
    ASSERT_EQ(TrackAt(kNoThread + 10 + i, 500), track);
    if (i % 500 != 499) continue;
    EXPECT_EQ(TrackAt(kBusy, 400), tracks[1]);
    message.clear();
    told += lives_.TakeMade(kNow, &message);
    most = std::max(most, lives_.made());
  }
  EXPECT_EQ(told, 100'003u) << "each once";
  EXPECT_LE(most, ThreadLives::kMostMade);
  EXPECT_EQ(TrackAt(living, 400), tracks[0]);
  EXPECT_EQ(TrackAt(kBusy, 400), tracks[1]);
  EXPECT_NE(TrackAt(kEnded, 400), tracks[2]);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
