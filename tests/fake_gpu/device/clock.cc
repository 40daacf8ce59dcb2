// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/clock.h"

#include <time.h>

#include <atomic>

#include "tests/fake_gpu/device/script.h"

namespace fake_gpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kSpin = 60'000;
constexpr uint64_t kTolerated = 5'000;

uint64_t Read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t Beginning() {
  static const uint64_t beginning = Read(CLOCK_MONOTONIC);
  return beginning;
}

// The scripted step, once its time has come.
int64_t StepAt(uint64_t monotonic) {
  const Script& script = TheScript();
  if (script.clock_step == 0) return 0;
  return monotonic - Beginning() >= script.clock_step_after ? script.clock_step : 0;
}

// What is between the two clocks now. Who is interrupted between reading the one and the other asks
// again.
uint64_t ReadOffset() {
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    const uint64_t before = Read(CLOCK_MONOTONIC);
    const uint64_t real = Read(CLOCK_REALTIME);
    const uint64_t after = Read(CLOCK_MONOTONIC);
    if (after - before < kTolerated || i == kTries) return real - (before + (after - before) / 2);
  }
}

// From the device's clock to the real one. Kept while it is right to some microseconds, so that two
// times converted apart keep their order and their distance: reading two clocks takes a while, and
// not always the same. Only a clock that is set makes it another.
uint64_t Offset() {
  static std::atomic<uint64_t> kept{0};
  const uint64_t now = ReadOffset();
  uint64_t known = kept.load(std::memory_order_relaxed);
  if (known != 0 && now - known + kTolerated < 2 * kTolerated) return known;
  // Of two threads that find this out at once one decides.
  return kept.compare_exchange_strong(known, now, std::memory_order_relaxed) ? now : known;
}

}  // namespace

uint64_t Monotonic() { return Read(CLOCK_MONOTONIC); }

uint64_t ToolTime() {
  const uint64_t real = Read(CLOCK_REALTIME);
  if (TheScript().clock_step == 0) return real;
  return real + static_cast<uint64_t>(StepAt(Monotonic()));
}

uint64_t ToolTimeOf(uint64_t monotonic) {
  uint64_t result = monotonic + Offset() + static_cast<uint64_t>(StepAt(monotonic));
  if (const double drift = TheScript().gpu_drift_ppm; drift != 0) {
    const double since = static_cast<double>(static_cast<int64_t>(monotonic - Beginning()));
    result += static_cast<uint64_t>(static_cast<int64_t>(since * drift / 1e6));
  }
  return result;
}

void WaitUntil(uint64_t monotonic) {
  for (uint64_t now = Monotonic(); now < monotonic; now = Monotonic()) {
    if (monotonic - now < kSpin) continue;
    const uint64_t until = monotonic - kSpin / 2;
    const timespec when{static_cast<time_t>(until / kSecond), static_cast<long>(until % kSecond)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
  }
}

}  // namespace fake_gpu
