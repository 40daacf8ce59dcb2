// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures that begin and end where the program itself is (--capture=nvtx:NAME, steps:FIRST-LAST):
// at ranges of NVTX that have a name, or at steps. A step is a range of NVTX that is called step or
// iteration, with or without a number, or the time between two ends of PyTorch's optimizer steps;
// whichever the process shows first counts from then on. Of optimizers it is the one that is called
// first; what one calls within its own step is none.
//
// The range that began a capture ends it: others of its name, in it or on other threads, are there
// as far as they reach into it.
//
// Whoever comes to such a place waits until the capture has begun, and at its end until nothing
// more is recorded: what is in the trace is what the program did in between. Both waits are
// limited. Unless a line says otherwise: on the program's threads, inside their calls of NVTX or
// PyTorch; no heap, no lock, errno untouched.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "inject/settings.h"

namespace gpuprof::inject {

inline bool WatchesRanges() noexcept {
  return __builtin_expect(
      g_launch.capture == CaptureMode::kRange || g_launch.capture == CaptureMode::kSteps, 0);
}

// A range is pushed: before it is recorded. And after it was popped. `domain`: null is the default.
[[gnu::cold]] void RangePushed(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangePopped(ranges::Text* domain) noexcept;

// The thread ends: what it has pushed and not popped is over.
[[gnu::cold]] void CloseRangeOfEndedThread() noexcept;

// A range is started that any thread may end: before it is recorded; true: RangeStartedAs tells its
// number then. And after it was ended.
[[gnu::cold]] bool RangeStarting(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangeStartedAs(uint64_t id) noexcept;
[[gnu::cold]] void RangeEnded(uint64_t id) noexcept;

// A range of the framework's own, such as "Optimizer.step#Adam.step", begins or has ended.
[[gnu::cold]] void FrameworkRange(const char* name, bool is_end) noexcept;

// Control thread, now and then: looks for a framework that tells of its ranges. False: it was
// found, or is not wanted.
[[gnu::cold]] bool LookForFrameworkRanges() noexcept;

// Where the program ends and its steps never came as far as the first that was wanted: says so.
[[gnu::cold]] void TellWhereStepsEnded() noexcept;

// Children that are forked follow: a capture of their parent's is one of theirs, whether they were
// there before it or are forked in it, from within a moment of its beginning until within a moment
// of its end. Their steps are their own.
// Before a fork:
[[gnu::cold]] void PrepareFamily() noexcept;
// In the forked child:
[[gnu::cold]] void ForgetMarks() noexcept;
// Control thread: whether there is a parent to follow, which has not ended and may begin another;
// does what it did since the last time.
bool HasParentsCaptures() noexcept;
[[gnu::cold]] void FollowParent() noexcept;

}  // namespace gpuprof::inject
