// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A signal handler that calls a hooked function, after each instruction of a hook that records: the
// thread's ring has one producer, and the guard must keep it so. Each of the two events must be in
// the ring, whole, or counted as not recorded.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <new>
#include <string>

#include "tests/unit/codec/codec_test_util.h"
#include "tests/unit/ring/stepped_process.h"

#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/recorder.h"
#include "inject/ring_file.h"
#include "inject/thread_exit.h"

namespace gpuprof::inject {

namespace {

constexpr uint32_t kCapacity = 16;
constexpr uint32_t kSource = 1;
constexpr int kMostRounds = 5000;

proto::RingHeader* g_ring;  // what the thread gets

// Shared with the test; nothing else here tells sizes.
std::atomic<uint64_t>* HeadWhenClosed() { return &g_process.ring_file->file_bytes; }

}  // namespace

// The recorder's surroundings, in as much as they count.
proto::RingHeader* OpenRing(int) noexcept { return g_ring; }
void CloseRing(proto::RingHeader* ring) noexcept {
  HeadWhenClosed()->store(ring->head.load());
  ring->state.store(static_cast<uint32_t>(proto::RingState::kClosed), std::memory_order_release);
}
void CountThreadEdge() noexcept { g_process.ring_file->thread_edges.fetch_add(1); }
void WatchThreadExit() noexcept {}
// The rings of this test have their whole size, and a session.
bool GrowRing(proto::RingHeader*) noexcept { return false; }
bool SessionIsDue() noexcept { return false; }
bool AskForSession() noexcept { return false; }

namespace {

using proto::Record;
using proto::RecordKind;

constexpr uint64_t kInHook = 0x1000;
constexpr uint64_t kInHandler = 0x2000;
constexpr uint64_t kFiller = 0x3000;

Record Event(uint64_t id) {
  return {id + 1, 0, static_cast<uint8_t>(RecordKind::kHeapAlloc), 0, 1, id, id + 2};
}

void RecordOne(uint64_t id) {
  Recorder recorder(kSource);
  if (recorder.active()) recorder.Write(Event(id));
}

// Two records that belong together.
void RecordLongWait(uint64_t id) {
  Recorder recorder(kSource);
  if (!recorder.active()) return;
  recorder.WriteWait({id + 1, 0, static_cast<uint8_t>(RecordKind::kWait), 0, 1, id, id + 2},
                     uint64_t{1} << 40, 0, nullptr, 0);
}

void Handle(int) { RecordOne(kInHandler); }

class HandlerSteps : public testing::Test {
 protected:
  HandlerSteps() : process_(folder_ / "victim", 1, kCapacity), ring_(process_.ring(0)) {
    g_ring = ring_;
    g_process.ring_file = &process_.header();
    g_process.ring_file_state.store(2);
    g_process.generation.store(1);
    g_process.drain_wanted.store(1);  // nobody sleeps on it
    g_process.recording.store(kSource);
    t_thread = {};
    void* page =
        mmap(nullptr, proto::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ended_ = new (page) std::atomic<int>(0);
    signal(SIGUSR1, Handle);
    signal(SIGUSR2, Handle);
  }

  ~HandlerSteps() override { munmap(static_cast<void*>(ended_), proto::kPageBytes); }

  uint64_t Uncounted() {
    return ring_->reentered.load() + ring_->dropped.load() + process_.header().thread_edges.load();
  }

  // Takes what is in the ring; every record must be whole.
  uint64_t TakeEvents() {
    uint64_t events = 0;
    bool is_long = false;
    for (uint64_t at = ring_->tail.load(); at < ring_->head.load(); ++at) {
      const Record& record = *proto::RingSlot(ring_, at);
      const auto kind = static_cast<RecordKind>(record.kind);
      if (kind == RecordKind::kDuration) {
        is_long = true;
        continue;
      }
      if (kind == RecordKind::kDropped) continue;
      EXPECT_TRUE(kind == RecordKind::kHeapAlloc || kind == RecordKind::kWait) << int{record.kind};
      EXPECT_EQ(is_long, kind == RecordKind::kWait) << "a handler's record between the two";
      EXPECT_TRUE(record.a == kInHook || record.a == kInHandler || record.a == kFiller) << record.a;
      EXPECT_EQ(record.time, record.a + 1);
      EXPECT_EQ(record.b, record.a + 2);
      is_long = false;
      events += record.a == kFiller ? 0 : 1;
    }
    EXPECT_FALSE(is_long);
    if (ring_->state.load() == static_cast<uint32_t>(proto::RingState::kClosed)) {
      EXPECT_EQ(ring_->head.load(), HeadWhenClosed()->load()) << "written when given back";
    }
    ring_->tail.store(ring_->head.load());
    return events;
  }

  // In round n a signal comes after n instructions of `hook`, until it has no more. Each round has
  // `events` of them, hook and handlers together; `prepare` runs before it.
  void InterruptEverywhere(const std::function<void()>& hook, uint64_t events,
                           const std::function<void()>& prepare, int first_signal = 0) {
    SteppedProcess child([&] {
      for (int round = 0; round < kMostRounds; ++round) {
        ended_->store(0);
        SteppedProcess::Wait();
        hook();
        ended_->store(1);
      }
    });
    if (!child.allowed()) GTEST_SKIP() << "no process may be traced here: nothing was stepped";
    ASSERT_EQ(child.Run(), SteppedProcess::Stop::kWaiting);
    for (int round = 1; round < kMostRounds; ++round) {
      prepare();
      const uint64_t before = Uncounted();
      if (first_signal != 0) {
        ASSERT_EQ(child.Run(), SteppedProcess::Stop::kWaiting);
        ASSERT_EQ(child.Step(first_signal), SteppedProcess::Stop::kStepped);
      }
      int steps = 0;
      while (steps < round && ended_->load() == 0) {
        ASSERT_EQ(child.Step(), SteppedProcess::Stop::kStepped);
        ++steps;
      }
      if (ended_->load() != 0) return CheckCovered(round);
      ASSERT_EQ(child.Run(SIGUSR2), SteppedProcess::Stop::kWaiting);
      ASSERT_EQ(Uncounted() - before + TakeEvents(), events) << "after instruction " << round;
      ASSERT_FALSE(HasFailure()) << "after instruction " << round;
    }
    FAIL() << "the hook does not end";
  }

  void CheckCovered(int rounds) {
    EXPECT_GT(rounds, 30) << "hardly an instruction was seen";
    RecordProperty("instructions", rounds);
  }

  codec::TempFolder folder_;
  codec::FakeProcess process_;
  proto::RingHeader* ring_;
  std::atomic<int>* ended_ = nullptr;  // the hook of this round; shared
};

TEST_F(HandlerSteps, InAHookThatWritesOneRecord) {
  InterruptEverywhere([] { RecordOne(kInHook); }, 2, [] {});
}

TEST_F(HandlerSteps, InAHookThatWritesAGroup) {
  InterruptEverywhere([] { RecordLongWait(kInHook); }, 2, [] {});
}

// One of the two finds room.
TEST_F(HandlerSteps, OnAFullRing) {
  InterruptEverywhere([] { RecordOne(kInHook); }, 2,
                      [this] {
                        while (ring_->head.load() - ring_->tail.load() < kCapacity - 1) {
                          proto::RingWrite(ring_, Event(kFiller));
                        }
                      });
  EXPECT_GT(ring_->dropped.load(), 0u);
}

TEST_F(HandlerSteps, InAThreadsFirstEvent) {
  InterruptEverywhere(
      [] {
        t_thread.generation = 0;
        RecordOne(kInHook);
      },
      2, [] {});
}

// Once closed, the ring may be another thread's.
TEST_F(HandlerSteps, WhileAThreadGivesItsRingBack) {
  InterruptEverywhere(
      [this] {
        ring_->state.store(static_cast<uint32_t>(proto::RingState::kOwned));
        t_thread.exiting = t_thread.refused = 0;
        RecordOne(kInHook);
        t_thread.exiting = kLastExitRound;
        ReleaseRing();
      },
      2, [] {});
}

// Handlers interrupt each other: both events are counted.
TEST_F(HandlerSteps, AHandlerInAHandler) {
  InterruptEverywhere(
      [] {
        Recorder recorder(kSource);
        SteppedProcess::Wait();
      },
      2, [] {}, SIGUSR1);
}

}  // namespace
}  // namespace gpuprof::inject
