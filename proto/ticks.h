// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reading the recorder's clock. Ticks are raw time-stamp-counter values where that counter is fit
// for it, and CLOCK_MONOTONIC nanoseconds otherwise; ClockSnapshots in the trace let the reader
// convert both.
//
// Safe in hooks and signal handlers. Never allocates or locks.

#pragma once

#include <cstdint>
#include <ctime>

namespace gpuprof::proto {

enum class ClockKind : uint8_t {
  kMonotonic = 1,  // ticks are CLOCK_MONOTONIC nanoseconds
  kTsc = 2,        // x86 TSC, or the aarch64 virtual counter
};

inline uint64_t ReadCounter() noexcept {
#if defined(__x86_64__)
  // This is __rdtsc(). Its header of 60,000 lines takes the compiler a second.
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

inline uint64_t ReadClockNs(clockid_t clock) noexcept {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t ReadTicks(ClockKind kind) noexcept {
  return __builtin_expect(kind == ClockKind::kTsc, 1) ? ReadCounter()
                                                      : ReadClockNs(CLOCK_MONOTONIC);
}

}  // namespace gpuprof::proto
