// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions that the program's NVTX calls reach, and those of the chained tool behind them. On
// the program's threads.
//
// Each of ours calls the chained tool's function of the same name, where it has one, and returns
// what that returned: levels, ids of ranges, handles of domains and strings are then the tool's.
// While nothing is recorded that is all; without a tool they return at once.

#pragma once

#include "inject/nvtx/abi.h"
#include "inject/ranges/ranges.h"

namespace gpuprof::inject::nvtx {

// Calls visit for each of ours.
void ForEachCallback(void (*visit)(void* context, int module, unsigned id, Function ours),
                     void* context) noexcept;

// Whether this process records NVTX, now or later.
bool IsRecorded() noexcept;

// A chained tool has attached to an instance: from now on what is returned is its own.
void SetTool() noexcept;
void SetChained(int module, unsigned id, Function function) noexcept;
bool HasTool() noexcept;

// While something is recorded: the event goes into the trace, and what the call returns comes back.
// `chained`: what the tool's function returned.
int PushOf(int chained, const ranges::Event& event) noexcept;
uint64_t StartOf(uint64_t chained, const ranges::Event& event) noexcept;

}  // namespace gpuprof::inject::nvtx
