// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sets gpuprof up for callers that come before its constructor. A library's constructor that calls
// NVTX, ITT or CUDA may run before gpuprof's. Any thread, once libc is initialised.

#pragma once

namespace gpuprof::inject {

// Does the work of gpuprof's constructor, unless it was done.
void EnsureEntered() noexcept;

// Does the part of that work that needs no tool thread, unless it was done or is too early.
// Recording begins, if it is to begin with the process. On the first thread, at the first hooked
// call, when the originals are resolved.
void EnterEarly() noexcept;

// Does what the constructor does for a process that is recorded, in a process that was attached to.
// False: the settings were refused. No signal is taken. Control thread, before anything is
// recorded.
bool PrepareLate() noexcept;

}  // namespace gpuprof::inject
