// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures that begin and end at places in the program: at named NVTX ranges, at steps, or at
// CUDA's profiler calls (profiler_calls.h). --capture and --budget ask for them. With a budget,
// budget/account.h chooses the steps, which go from the begin of one range to the begin of the
// next. A step is a range that proto/step_names.h calls a step: of NVTX, of ITT or of PyTorch's
// record_function. Or a step is the time between the ends of two of PyTorch's optimizer steps, or
// of two runs of TensorFlow's function. From the first range that is a step, only ranges count,
// unless a capture began at an optimizer step. If there are several optimizers, the optimizer that
// is called first counts. An optimizer called within the step of another one does not count.
//
// The range that began a capture ends it. Other ranges of its name, inside it or on other threads,
// are recorded as far as they reach into the capture.
//
// A thread that comes to the begin waits until the capture has begun. At the end it waits until
// nothing more is recorded. So the trace holds exactly the work of the program in between. Both
// waits are limited. Unless a line says otherwise: on the program's threads, inside their calls of
// NVTX or PyTorch; no heap, no lock, errno untouched.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "inject/settings.h"
#include "proto/step_names.h"

namespace gpuprof::inject {

// Returns whether places in the program begin captures at all.
inline bool WatchesMarks() noexcept {
  return g_launch.capture == CaptureMode::kRange || g_launch.capture == CaptureMode::kSteps ||
         g_launch.capture == CaptureMode::kProfilerCalls ||
         g_launch.capture == CaptureMode::kBudget;
}

// Returns whether steps are followed: for captures, or for triggers (triggers/triggers.h).
inline bool WatchesSteps() noexcept {
  return g_launch.capture == CaptureMode::kSteps || g_launch.capture == CaptureMode::kBudget ||
         g_launch.judges_steps;
}

inline bool WatchesRanges() noexcept { return __builtin_expect(g_launch.watches_ranges, 0); }

// Begins or ends a capture at a pushed range. RangePushed is called before the push is recorded,
// RangePopped after the pop. `domain`: null is the default domain.
[[gnu::cold]] void RangePushed(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangePopped(ranges::Text* domain) noexcept;

// Closes the ranges that the ending thread pushed and did not pop.
[[gnu::cold]] void CloseRangeOfEndedThread() noexcept;

// Handles a range that any thread may end, before its start is recorded. If it returns true,
// RangeStartedAs then reports the range's number. RangeEnded is called after the range has ended.
[[gnu::cold]] bool RangeStarting(ranges::Text* domain, const ranges::Message& message) noexcept;
[[gnu::cold]] void RangeStartedAs(uint64_t id) noexcept;
[[gnu::cold]] void RangeEnded(uint64_t id) noexcept;

// Handles the begin or the end of a framework's own range, for example "Optimizer.step#Adam.step".
[[gnu::cold]] void FrameworkRange(const char* name, bool is_end) noexcept;

// Returns whether a capture is still to begin or to end at a run of TensorFlow's function.
bool AwaitsFunctionSteps() noexcept;
// Handles what TensorFlow's marks tell (tensorflow/function_steps.h). The first step begins, as far
// as can be known. A step has ended that is a run of a function: returns whether captures have
// begun at its steps. The same if a step is an element of a dataset, and the next one has been
// taken. A step has ended that the program numbers itself.
[[gnu::cold]] void FirstFunctionStepBegins() noexcept;
[[gnu::cold]] bool FunctionStepEnded(uint64_t number, uint64_t began_ns) noexcept;
[[gnu::cold]] bool ElementStepEnded(uint64_t number) noexcept;
[[gnu::cold]] void NumberedStepEnded(proto::NameText name, uint64_t number,
                                     uint64_t began_ns) noexcept;

// Begins a capture at a place that nothing else describes, and ends the capture that began there.
// One thread at a time.
[[gnu::cold]] void BeginMarkedCapture(const char* trigger) noexcept;
[[gnu::cold]] void EndMarkedCapture(const char* trigger) noexcept;

// Looks for a framework that reports its ranges, on the control thread, now and then. False: it was
// found, or it is not wanted.
[[gnu::cold]] bool LookForFrameworkRanges() noexcept;

// Reports at the program's end that its steps never reached the first wanted step.
[[gnu::cold]] void TellWhereStepsEnded() noexcept;

// Forgets the parent's marks in the forked child.
[[gnu::cold]] void ForgetMarks() noexcept;

}  // namespace gpuprof::inject
