// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waiting for a word that another thread of the process changes. Times in nanoseconds. Any thread;
// no heap.

#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "proto/ticks.h"

namespace gpuprof::tracer {

inline constexpr uint64_t kMillisecond = 1'000'000u;
inline constexpr uint64_t kSecond = 1000 * kMillisecond;

// Returns the time by CLOCK_MONOTONIC.
inline uint64_t Monotonic() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// Waits while the word is `value`, for `ns` at most. May return earlier.
inline void FutexWait(std::atomic<uint32_t>* word, uint32_t value, uint64_t ns) {
  const timespec limit = {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, &limit, nullptr, 0);
}

// Wakes `most` of the threads that wait for the word.
inline void FutexWake(std::atomic<uint32_t>* word, int most = 1) {
  syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, most, nullptr, nullptr, 0);
}

}  // namespace gpuprof::tracer
