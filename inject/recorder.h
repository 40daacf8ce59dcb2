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

// Guards one piece of our code on an application thread. Not active: the thread is already inside
// (a signal handler interrupted us, or it is one of our threads), or it has no ring; then record
// nothing.
class Recorder {
 public:
  explicit Recorder(uint32_t source) noexcept;
  ~Recorder() noexcept {
    if (ring_ != nullptr) t_thread.busy = 0;
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool active() const noexcept { return ring_ != nullptr; }
  proto::RingHeader* ring() const noexcept { return ring_; }

  // Exact time, and the coarse one (the drain's last refresh, never behind this thread's newest
  // record).
  uint64_t Now() const noexcept { return proto::ReadTicks(g_process.clock); }
  uint64_t CoarseNow() const noexcept;

  void Write(const proto::Record& record) noexcept;
  // The record with `duration` ticks, however long, ending at record.time.
  void WriteSpan(proto::Record record, uint64_t duration) noexcept;
  // The record with a text in front of it.
  void WriteWithText(const char* text, proto::Record record) noexcept;
  // The record with the caller's stack in front of it, when stacks are on and the unwinder is
  // there. `frame` is the hook's __builtin_frame_address(0).
  void WriteWithStack(proto::Record record, const void* frame) noexcept;

 private:
  proto::RingHeader* ring_ = nullptr;
};

// What rings call when they are half full: the drain thread comes at once.
struct WakeDrain {
  void operator()() const noexcept;
};

// The slow path of Recorder: finds or makes the thread's ring. Null: none to be had; the event is
// counted as lost.
proto::RingHeader* AcquireRing() noexcept;

// At thread exit, and when the thread's ring must not be used any more.
void ReleaseRing() noexcept;

}  // namespace gpuprof::inject
