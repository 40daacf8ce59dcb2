// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/dormant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/hooks/signals.h"
#include "inject/interrupted_code.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

constexpr long kPause = 1'000'000;  // nanoseconds
constexpr uint32_t kMostTries = 10'000;

// One thread at a time changes from kDormant to kAwake.
enum State : uint32_t { kAwake, kDormant, kWaking };
std::atomic<uint32_t> g_state{kAwake};
std::atomic<void*> g_mapping{nullptr};
std::atomic<int> g_timer{-1};  // of the kernel
std::atomic<uint32_t> g_tries{0};
std::atomic<int> g_in_arena{0};  // the thread that is in a FromArena section

// Shows that the process is dormant. The mapping lies behind the end of our file: it has no memory,
// and nobody reads it.
bool ShowDormant(int signal) {
  if (g_mapping.load() != nullptr) return true;  // the parent's, which forked children inherit
  const long fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(InjectPath()), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto offset = static_cast<long>(proto::kDormantOffset +
                                        proto::kDormantUnit * static_cast<uint64_t>(signal));
  const long address =
      raw::Call(SYS_mmap, 0, proto::kPageBytes, PROT_NONE, MAP_PRIVATE, fd, offset);
  raw::Call(SYS_close, fd);
  if (raw::IsError(address)) return false;
  g_mapping.store(reinterpret_cast<void*>(address));
  return true;
}

void HideDormant() {
  void* mapping = g_mapping.exchange(nullptr);
  if (mapping != nullptr) raw::Call(SYS_munmap, raw::Arg(mapping), proto::kPageBytes);
}

bool SetTimer() {
  // The kernel's own structure: libc's may be larger.
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SignalInForce();
  event.sigev_value.sival_ptr = &g_timer;
  int timer = -1;
  if (raw::Call(SYS_timer_create, CLOCK_MONOTONIC, raw::Arg(&event), raw::Arg(&timer)) != 0)
    return false;
  g_timer.store(timer);
  // Again and again: a signal that comes while another thread is at it does nothing.
  const itimerspec time = {{0, kPause}, {0, kPause}};
  return raw::Call(SYS_timer_settime, timer, 0, raw::Arg(&time), 0) == 0;
}

void RemoveTimer() {
  const int timer = g_timer.exchange(-1);
  if (timer >= 0) raw::Call(SYS_timer_delete, timer);
}

// In a handler that may come again at once on another thread: the state keeps others out.
void Start() {
  {
    const FromArena section;
    StartControlThread(g_process.is_forked != 0);
  }
  RemoveTimer();
  RestartCalls(false);
  HideDormant();
  g_state.store(kAwake);
}

}  // namespace

bool FallDormant() noexcept {
  const int signal = SignalInForce();
  if (signal == 0 || !ShowDormant(signal)) return false;
  g_state.store(kDormant);
  return true;
}

bool IsDormant() noexcept { return g_state.load(std::memory_order_acquire) != kAwake; }

bool IsWakeUp(const siginfo_t* info) noexcept {
  const void* value = info->si_value.sival_ptr;
  if (info->si_code == SI_TIMER) return value == &g_timer;
  return info->si_code == SI_QUEUE && value == reinterpret_cast<void*>(proto::kWakeUpValue);
}

void WakeInHandler(const void* context) noexcept {
  uint32_t dormant = kDormant;
  if (!g_state.compare_exchange_strong(dormant, kWaking)) return;
  if (MayCreateThread(context)) return Start();
  RestartCalls(true);
  const bool waits = g_tries.fetch_add(1) < kMostTries && (g_timer.load() >= 0 || SetTimer());
  if (!waits) {
    g_tries.store(0);
    RemoveTimer();
    RestartCalls(false);
  }
  g_state.store(kDormant);
  if (waits) return;
  Say("the signal for a capture found the program in the C library each time; send it again");
}

void WakeNow() noexcept {
  uint32_t dormant = kDormant;
  if (g_state.compare_exchange_strong(dormant, kWaking)) Start();
}

void StayAwake() noexcept {
  g_state.store(kAwake);
  RemoveTimer();
  HideDormant();
}

bool AllocatesInHandler() noexcept { return g_in_arena.load() == raw::GetTid(); }

FromArena::FromArena() noexcept {
  g_in_arena.store(raw::GetTid());
  g_process.recording.fetch_or(kAllocateInHandler);
}

FromArena::~FromArena() noexcept {
  g_process.recording.fetch_and(~kAllocateInHandler);
  g_in_arena.store(0);
}

void ForgetWakeUps() noexcept {
  g_state.store(kAwake);
  g_timer.store(-1);
  g_tries.store(0);
  g_in_arena.store(0);
}

}  // namespace gpuprof::inject
