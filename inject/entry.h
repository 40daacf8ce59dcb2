// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The door, for those who come before it opens: a library's constructor that calls NVTX, ITT or
// CUDA may run before ours does. Any thread, once libc is initialised.

#pragma once

namespace gpuprof::inject {

// What our constructor does, unless it was done.
void EnsureEntered() noexcept;

// The part of it that needs no thread of ours, unless it was done or is too early: recording
// begins if it does with the process. On the first thread, at the first hooked call, when the
// originals are resolved.
void EnterEarly() noexcept;

}  // namespace gpuprof::inject
