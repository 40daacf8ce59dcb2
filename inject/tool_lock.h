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
    const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
    uint32_t free = 0;
    while (!word_.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
      if (now >= until) return false;
      const uint64_t left = until - now;
      const timespec wait = {static_cast<time_t>(left / 1'000'000'000u),
                             static_cast<long>(left % 1'000'000'000u)};
      raw::Call(SYS_futex, raw::Arg(&word_), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, raw::Arg(&wait));
      free = 0;
    }
    return true;
  }
  void Unlock() noexcept {
    word_.store(0, std::memory_order_release);
    raw::Call(SYS_futex, raw::Arg(&word_), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  }
  // Frees the lock in a forked child: the thread that held it does not exist there.
  void Reset() noexcept { word_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> word_{0};
};

}  // namespace gpuprof::inject
