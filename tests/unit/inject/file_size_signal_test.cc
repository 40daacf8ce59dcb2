// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/file_size_signal.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace gpuprof::proto {
namespace {

std::atomic<bool> g_is_running{false}, g_is_cancelled{false};

// Holds the other signals back, also those of libc, as a hook does while it opens a ring.
void* UseGuardUntilCancelled(void*) {
  const uint64_t all = ~(uint64_t{1} << (SIGXFSZ - 1));
  uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
  g_is_running = true;
  while (!g_is_cancelled) const NoFileSizeSignal guard;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof(before));
  pthread_testcancel();
  return nullptr;
}

// sigtimedwait() is a cancellation point: threads hung or ended within it.
TEST(NoFileSizeSignal, HasNoCancellationPoint) {
  for (int round = 0; round < 100; ++round) {
    g_is_running = g_is_cancelled = false;
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, UseGuardUntilCancelled, nullptr), 0);
    while (!g_is_running) continue;
    ASSERT_EQ(pthread_cancel(thread), 0);
    g_is_cancelled = true;
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
}

}  // namespace
}  // namespace gpuprof::proto
