// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/turn.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "proto/ticks.h"

namespace gpuprof::tracer::cupti {
namespace {

std::atomic<int> g_thread{0};  // that calls CUPTI; 0: none
std::atomic<bool> g_have_ended{false};

}  // namespace

int ThisThread() { return static_cast<int>(syscall(SYS_gettid)); }

Turn::Turn() : thread_(ThisThread()) {
  // Looked at when it is had: the end waits from then on.
  if (Take() && g_have_ended.load()) Leave();
}

Turn::Turn(uint64_t limit_ns) : thread_(ThisThread()) {
  constexpr timespec kMoment = {0, 1'000'000};
  const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
  while (!Take()) {
    if (g_thread.load() == thread_ || proto::ReadClockNs(CLOCK_MONOTONIC) >= until) return;
    syscall(SYS_nanosleep, &kMoment, nullptr);
  }
}

Turn::~Turn() {
  if (has_) Leave();
}

bool Turn::Take() {
  int nobody = 0;
  return has_ = g_thread.compare_exchange_strong(nobody, thread_);
}

void Turn::Leave() {
  has_ = false;
  g_thread.store(0);
}

void EndTurns() { g_have_ended.store(true); }
bool TurnsHaveEnded() { return g_have_ended.load(); }
void ForgetTurn() { g_thread.store(0); }

}  // namespace gpuprof::tracer::cupti
