// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A lock for gpuprof's own slow paths (starting and ending captures). It is always taken with a
// time limit: an application thread that exits or forks must never wait for gpuprof without bound.
// Not for hooks.

#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "inject/raw_syscall.h"
#include "proto/ticks.h"

namespace gpuprof::inject {

class ToolLock {
 public:
  bool Lock(uint64_t limit_ns) noexcept {
    if (Take()) return true;
    if (limit_ns == 0) return false;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    const bool is_taken = Await(limit_ns);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return is_taken;
  }
  // Returns whether a thread waits for the lock: who has it should let it go soon. Any thread.
  bool IsAwaited() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }
  void Unlock() noexcept {
    word_.store(0, std::memory_order_release);
    raw::Call(SYS_futex, raw::Arg(&word_), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  }
  // Frees the lock in a forked child: the thread that held it does not exist there.
  void Reset() noexcept {
    word_.store(0, std::memory_order_relaxed);
    waiting_.store(0, std::memory_order_relaxed);
  }

 private:
  bool Take() noexcept {
    uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  bool Await(uint64_t limit_ns) noexcept {
    const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
    while (!Take()) {
      const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
      if (now >= until) return false;
      const uint64_t left = until - now;
      const timespec wait = {static_cast<time_t>(left / 1'000'000'000u),
                             static_cast<long>(left % 1'000'000'000u)};
      raw::Call(SYS_futex, raw::Arg(&word_), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, raw::Arg(&wait));
    }
    return true;
  }

  std::atomic<uint32_t> word_{0};
  std::atomic<uint32_t> waiting_{0};
};

}  // namespace gpuprof::inject
