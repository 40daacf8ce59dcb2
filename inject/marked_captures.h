// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures that begin and end at a place in the program itself (--capture=nvtx:NAME,
// steps:FIRST-LAST): at ranges of NVTX that have a name, or at steps. A step is a range of NVTX
// that is called step or iteration, with or without a number. Or a step is the time between two
// ends of PyTorch's optimizer steps. The kind that the process shows first counts from then on. If
// there are several optimizers, the one that is called first counts. A step that an optimizer calls
// within its own step does not count.
//
// The range that began a capture ends it. Other ranges of the same name, nested or on other
// threads, are in the trace as far as they overlap the capture.
//
// A thread that comes to the first place waits until the capture has begun. At the last place it
// waits until nothing more is recorded. So the trace holds the program's work in between. Both
// waits are limited. Unless a line says otherwise: on the program's threads, inside their calls of
// NVTX or PyTorch; no heap, no lock, errno untouched.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "inject/settings.h"

namespace gpuprof::inject {

inline bool WatchesRanges() noexcept {
  return __builtin_expect(
      g_launch.capture == CaptureMode::kRange || g_launch.capture == CaptureMode::kSteps, 0);
}

// Takes in a range that is about to be recorded as pushed, or that was popped. `domain`: null is
// the default.
[[gnu::cold]] void RangePushed(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangePopped(ranges::Text* domain) noexcept;

// Closes the ranges that the ending thread has pushed and not popped.
[[gnu::cold]] void CloseRangeOfEndedThread() noexcept;

// Takes in a range that any thread may end, before its start is recorded. True: report its number
// by RangeStartedAs then. RangeEnded is called after the range was ended.
[[gnu::cold]] bool RangeStarting(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangeStartedAs(uint64_t id) noexcept;
[[gnu::cold]] void RangeEnded(uint64_t id) noexcept;

// Takes in that a range of the framework's own, such as "Optimizer.step#Adam.step", begins or has
// ended.
[[gnu::cold]] void FrameworkRange(const char* name, bool is_end) noexcept;

// Looks for a framework that reports its ranges. Control thread, now and then. False: the framework
// was found, or is not wanted.
[[gnu::cold]] bool LookForFrameworkRanges() noexcept;

// Says so, if the program ends and its steps never reached the first step that was wanted.
[[gnu::cold]] void TellWhereStepsEnded() noexcept;

// Makes ready for a fork. A forked child follows its parent's captures: those that begin during its
// life, and the one that it is forked in. A fork within a moment of a capture's begin or end may
// count on either side. The children's steps are their own.
[[gnu::cold]] void PrepareFamily() noexcept;
// Forgets the parent's marks, in the forked child.
[[gnu::cold]] void ForgetMarks() noexcept;
// Returns whether there is a parent to follow: it has not ended and may begin another capture.
// FollowParent begins or ends a capture as the parent has done since the last call. Control thread.
bool HasParentsCaptures() noexcept;
[[gnu::cold]] void FollowParent() noexcept;

}  // namespace gpuprof::inject
