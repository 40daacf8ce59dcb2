// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures of a recording with a limit on its cost (GPUPROF_BUDGET, --budget): windows of whole
// steps, chosen by budget/account.h. The steps are those of inject/marked_captures.h. A process in
// which no step begins for ten seconds gets windows of time instead.
//
// No heap, no lock, errno untouched.

#pragma once

#include <cstdint>

#include "inject/budget/account.h"
#include "tracer/tracer.h"

namespace gpuprof::inject::budget {

// Reads GPUPROF_BUDGET. False: the value makes no sense. Without the variable nothing is limited.
[[gnu::cold]] bool ReadLimit(const char* text) noexcept;
bool IsLimited() noexcept;

// What the trace is to say; null: nothing is limited.
const tracer::BudgetFacts* Facts() noexcept;

// A step ends and the next one begins. The caller does what is returned, and calls Moved. Threads
// of the program, one at a time. `is_disturbed`: somebody else's capture records.
[[gnu::cold]] Move StepBegins(bool is_optimizers, bool is_disturbed) noexcept;
[[gnu::cold]] void Moved(bool has_moved) noexcept;

// Gives up what the next window is not to record. Before a window begins.
[[gnu::cold]] void ApplyDetail() noexcept;

// Begins and ends windows of time, and ends windows that last too long. Control thread. Returns
// when it is to be called again, by the monotonic clock; 0: it need not be.
[[gnu::cold]] uint64_t LookAfterWindows(uint64_t now) noexcept;

// Begins anew in a forked child.
[[gnu::cold]] void ForgetWindows() noexcept;

}  // namespace gpuprof::inject::budget
