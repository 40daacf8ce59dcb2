// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/profiler_calls.h"

#include <errno.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/cuda_injection.h"
#include "inject/lifecycle.h"
#include "inject/marked_captures.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/tracer_object.h"
#include "proto/ticks.h"

namespace gpuprof::inject {
namespace {

constexpr char kTrigger[] = "cuda_profiler";
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMillisecond;

enum State : uint32_t { kOff, kBegins, kOn, kEnds };
std::atomic<uint32_t> g_state{kOff};

// How deep the thread is in hooks of these functions.
__thread uint32_t t_depth __attribute__((tls_model("initial-exec"))) = 0;

// 1: a thread in cuInit waits for the tracer. 2: the control thread has seen to it.
std::atomic<uint32_t> g_tracer_wanted{0};

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void Pause() {
  constexpr timespec kMoment = {0, 100'000};
  raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
}

// Goes from one state to another. Waits while another thread is between two states: its capture is
// to have begun or ended when this call returns, too. False: there is nothing to do.
bool Go(State from, State to) {
  const uint64_t until = Now() + 3 * kSecond + g_settings.gpu_finish_ns;
  for (;;) {
    uint32_t state = from;
    if (g_state.compare_exchange_strong(state, to)) return true;
    if ((state != kBegins && state != kEnds) || Now() > until) return false;
    Pause();
  }
}

}  // namespace

void ProfilerCalled(bool is_start) noexcept {
  // Not of our own threads, nor of a child made behind our back.
  if (t_thread.tool != 0 || g_process.pid == 0) return;
  const int saved = errno;
  if (is_start && Go(kOff, kBegins)) {
    BeginMarkedCapture(kTrigger);
    g_state.store(kOn);
  } else if (!is_start && Go(kOn, kEnds)) {
    EndMarkedCapture(kTrigger);
    g_state.store(kOff);
  }
  errno = saved;
}

void ProfilerCalledInDriver(bool is_start) noexcept {
  if (t_depth == 0 && WatchesProfilerCalls()) ProfilerCalled(is_start);
}

InProfilerCall::InProfilerCall() noexcept : is_outermost_(t_depth++ == 0) {}
InProfilerCall::~InProfilerCall() noexcept { --t_depth; }

// The tracer is loaded by the control thread: this thread may hold the loader's lock.
void WatchProfilerCallsInInit() noexcept {
  if (!WatchesProfilerCalls() || g_process.finished.load() != 0) return;
  g_tracer_wanted.store(1);
  RequestTick();
  for (const uint64_t until = Now() + kSecond / 5; g_tracer_wanted.load() != 2 && Now() < until;)
    Pause();
  if (g_tracer_wanted.load() == 2) WatchProfilerCalls(/*is_late=*/false);
}

bool LookForProfilerCalls() noexcept {
  if (!WatchesProfilerCalls() || g_process.finished.load() != 0) return false;
  if (g_program_started.load(std::memory_order_acquire) == 0 && g_tracer_wanted.load() == 0)
    return true;
  if (g_tracer_wanted.load() == 1) {
    LoadTracerForWatch();
    g_tracer_wanted.store(2);
    return true;
  }
  // Without the driver's call the driver has to be looked for.
  if (g_cuda_started.load() == 0 && g_settings.injection_lost == 0) return true;
  LoadTracerForWatch();
  WatchProfilerCalls(/*is_late=*/true);
  return true;
}

void ForgetProfilerCalls() noexcept {
  g_state.store(kOff);
  g_tracer_wanted.store(0);
  t_depth = 0;
}

}  // namespace gpuprof::inject
