// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From a hook's event to a record in the calling thread's ring. Every function here runs on
// application threads and in signal handlers: no heap, no lock, no stdio, errno untouched. When
// something cannot be recorded it is counted and the program goes on.

#pragma once

#include <cstdint>

#include "inject/state.h"
#include "proto/record.h"

namespace gpuprof::inject {

// Guards one piece of gpuprof's code on an application thread. If it is not active, record nothing.
// Then the thread has no ring, or it is already inside gpuprof's code: a signal handler interrupted
// it, or the thread is gpuprof's.
class Recorder {
 public:
  explicit Recorder(uint32_t source) noexcept;  // inline, below
  ~Recorder() noexcept {
    if (ring_ == nullptr) return;
    // What was written is in the ring before a signal handler may write there.
    asm volatile("" ::: "memory");
    t_thread.busy = 0;
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool active() const noexcept { return ring_ != nullptr; }
  proto::RingHeader* ring() const noexcept { return ring_; }

  // Returns the exact time. CoarseNow returns the drain's last refresh, which is never behind this
  // thread's newest record; 0 while nothing refreshes it.
  uint64_t Now() const noexcept { return proto::ReadTicks(g_process.clock); }
  uint64_t CoarseNow() const noexcept;

  // Writes a record. Inline, so that the record is built in the ring itself: a copy would wait
  // until its just-written parts have left the store buffer.
  void Write(const proto::Record& record) noexcept;
  // Writes the caller's stack for a wait that is about to begin. The stack is taken now, because
  // later the thread may hold the lock that others want. Returns the place for WriteWait, 0 if
  // there is no stack.
  uint64_t WriteStackAhead(uint64_t now, const void* frame) noexcept;
  // Writes a wait of `duration` ticks. `owner` is the thread that held the lock, 0 if it is not
  // known. Without a `frame` the wait is over and its stack cannot be taken: the stack is the one
  // written ahead, if any.
  void WriteWait(const proto::Record& record, uint64_t duration, uint32_t owner, const void* frame,
                 uint64_t stack_ahead) noexcept;
  // Writes the record with a text before it.
  void WriteWithText(const char* text, proto::Record record) noexcept;
  // Writes the record with the caller's stack before it, if stacks are on and the unwinder is
  // loaded. `frame` is the hook's __builtin_frame_address(0).
  void WriteWithStack(const proto::Record& record, const void* frame) noexcept;

 private:
  // What changed in the thread's stack since the one in the ring before.
  struct StackChange {
    uint64_t pcs[proto::kMaxStackFrames];  // innermost first
    uint32_t frames;
    uint32_t shared;  // the outermost ones, which are the same
    uint32_t slots() const noexcept {
      return 1 + proto::PayloadSlots((frames - shared) * sizeof(uint64_t));
    }
  };
  // Takes the stack. False: no stack can be taken.
  bool Walk(const void* frame, StackChange* change) noexcept;
  // Stores the stack into reserved slots. Returns the position behind them.
  uint64_t StoreStack(uint64_t at, uint64_t time, uint8_t flags,
                      const StackChange& change) noexcept;
  // Writes `prefixes`, the stack and the record, in this order.
  void WriteStackAnd(const proto::Record* prefixes, uint32_t prefix_count,
                     const proto::Record& record, const void* frame) noexcept;
  void WriteAfter(const proto::Record* prefixes, uint32_t prefix_count,
                  const proto::Record& record) noexcept;

  proto::RingHeader* ring_ = nullptr;
};

// Around the slow path of a hook: one in many is timed, so that the trace can tell what recording
// cost. Which ones is left to chance: a program's calls come round, and so do our pages and
// buffers.
class HookTimer {
 public:
  HookTimer() noexcept {
    if (__builtin_expect(t_thread.hooks_until_timed <= 1, 0)) {
      Begin();
    } else {
      --t_thread.hooks_until_timed;
    }
  }
  ~HookTimer() noexcept {
    if (__builtin_expect(start_ != 0, 0)) Note(proto::ReadTicks(g_process.clock) - start_);
  }
  HookTimer(const HookTimer&) = delete;
  HookTimer& operator=(const HookTimer&) = delete;

  // Finds out what reading the clock takes, to leave it out. Once, before anything is recorded.
  static void Calibrate() noexcept;

 private:
  void Begin() noexcept;
  static void Note(uint64_t ticks) noexcept;

  uint64_t start_ = 0;
};

// What rings call when they are fuller than proto::kWakeShare: the drain thread comes at once. If a
// ring is full, the thread waits for the drain where it may (ring_room.h).
struct WakeDrain {
  void operator()() const noexcept;
  bool Grow(proto::RingHeader* ring) const noexcept;
  bool AwaitRoom(const proto::RingHeader* ring, uint64_t end) const noexcept;
};

// The same for records that may be missing: it never waits.
struct WakeDrainOnly : WakeDrain {
  bool AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }
};

// Finds or makes the thread's ring: the slow path of Recorder. Null: no ring can be had, and the
// event is counted as lost.
proto::RingHeader* AcquireRing() noexcept;

// Releases the thread's ring, at thread exit and if the ring must not be used any more.
void ReleaseRing() noexcept;

// Counts an event on a thread that is inside gpuprof's code already, unless the thread is gpuprof's
// own.
void CountReentered(const ThreadState& thread) noexcept;

// Calls `use` with the calling thread's ring of the present trace, if it has one, although nothing
// is recorded. The ring stays mapped meanwhile (inject/ring_users.h). Not in a child that was made
// behind gpuprof's back, whose ring is its parent's.
template <typename Use>
inline void WithOwnRing(Use use) noexcept {
  ThreadState& thread = t_thread;
  if (thread.busy != 0) return;
  thread.busy = 1;
  asm volatile("" ::: "memory");
  if (g_process.pid != 0 && thread.ring != nullptr &&
      thread.generation == g_process.generation.load(std::memory_order_relaxed))
    use(thread.ring);
  asm volatile("" ::: "memory");
  thread.busy = 0;
}

inline Recorder::Recorder(uint32_t source) noexcept {
  ThreadState& thread = t_thread;
  if (__builtin_expect(thread.busy != 0, 0)) {
    CountReentered(thread);
    return;
  }
  thread.busy = 1;
  // A signal handler on this thread must see it before anything else happens.
  asm volatile("" ::: "memory");
  // Looked at again under the guard: capture may have ended, and a forked child's pages were wiped.
  if (!Recording(source)) {
    thread.busy = 0;
    return;
  }
  const uint32_t generation = g_process.generation.load(std::memory_order_relaxed);
  ring_ = thread.generation == generation ? thread.ring : nullptr;
  if (__builtin_expect(ring_ == nullptr, 0)) ring_ = AcquireRing();
  if (ring_ == nullptr) thread.busy = 0;
}

inline uint64_t Recorder::CoarseNow() const noexcept {
  const proto::RingFileHeader* file = g_process.ring_file;
  // Null in a child that was forked by a signal handler which interrupted this hook.
  if (__builtin_expect(file == nullptr, 0)) return 0;
  const uint64_t coarse = file->coarse_ticks.load(std::memory_order_relaxed);
  if (__builtin_expect(coarse == 0, 0)) return 0;
  return coarse > ring_->last_time ? coarse : ring_->last_time;
}

inline void Recorder::Write(const proto::Record& record) noexcept {
  ring_->last_time = record.time;
  proto::RingWrite(ring_, record, WakeDrain());
}

inline void Recorder::WriteWithStack(const proto::Record& record, const void* frame) noexcept {
  if (g_process.stack_depth == 0) {
    Write(record);
  } else {
    WriteStackAnd(nullptr, 0, record, frame);
  }
}

}  // namespace gpuprof::inject
