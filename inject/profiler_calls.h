// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures between cudaProfilerStart and cudaProfilerStop (--capture=cuda-profiler). As CUDA
// defines it, profiling is on or off: a second start changes nothing, nor does a stop while it is
// off. The result of a call does not count, as a program without a GPU may make it too.
//
// Calls are seen in two ways. Hooks see calls that the loader binds (hooks/cuda_profiler.cc). Calls
// of a program with a runtime of its own reach the driver unhooked: CUPTI reports these
// (tracer::Api::watch_profiler_calls). A call that is seen in both ways counts once.
//
// Threads of the program, inside their calls, unless a line says otherwise. No heap, no lock, errno
// untouched.

#pragma once

#include "inject/settings.h"

namespace gpuprof::inject {

inline bool WatchesProfilerCalls() noexcept {
  return g_launch.capture == CaptureMode::kProfilerCalls;
}

// Begins a capture after a start, or ends it before a stop. Waits until that is done, within the
// limits of marked_captures.h.
[[gnu::cold]] void ProfilerCalled(bool is_start) noexcept;

// Handles a call that CUPTI reports, inside CUPTI's callback. It does nothing inside a hook.
[[gnu::cold]] void ProfilerCalledInDriver(bool is_start) noexcept;

// Notes that the thread is inside a hook of these functions, and how deep.
class InProfilerCall {
 public:
  InProfilerCall() noexcept;
  ~InProfilerCall() noexcept;
  InProfilerCall(const InProfilerCall&) = delete;
  InProfilerCall& operator=(const InProfilerCall&) = delete;
  bool is_outermost() const noexcept { return is_outermost_; }

 private:
  bool is_outermost_;
};

// Has CUPTI report the calls from now on. Called on the thread that is in the program's first
// cuInit. Waits for the tracer a fifth of a second at most.
[[gnu::cold]] void WatchProfilerCallsInInit() noexcept;

// Looks whether CUPTI is to report the calls, or to be left to a profiler of the program. Control
// thread, now and then. False: never more.
[[gnu::cold]] bool LookForProfilerCalls() noexcept;

// Forgets the parent's calls in the forked child.
[[gnu::cold]] void ForgetProfilerCalls() noexcept;

}  // namespace gpuprof::inject
