// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who wants to know of the program's steps (inject/marked_captures.h says what a step is). While
// there is a listener, steps are followed whatever --capture says, unless it names a range.
//
// Listeners are called on the thread of the program that is at the step, inside its call of NVTX or
// PyTorch. No heap, no lock, errno untouched. One step is open at a time. Optimizers may be called
// on several threads at once.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

enum class StepEvent : uint32_t {
  kBegins,   // before anything of the step is recorded
  kEnded,    // before the capture ends that has it as its last step
  kRestart,  // ranges are the steps from now on: steps so far were those of optimizers
};

// `began_ns` is 0 for the first optimizer step, as PyTorch does not report its begin. Times are of
// the monotonic clock.
using StepListener = void (*)(StepEvent event, uint64_t step, uint64_t began_ns,
                              uint64_t now_ns) noexcept;

// Adds a listener. While the settings are read, before the program has begun.
[[gnu::cold]] void ListenToSteps(StepListener listener) noexcept;

}  // namespace gpuprof::inject
