// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A hook that a signal handler interrupted, when this handler forks and returns in the child: there
// the hook goes on with the ring of its parent's thread, which the child does not have. It gets
// pages to write to that nobody reads.
//
// On the thread that forks, in a signal handler: no heap, no lock, errno untouched.

#pragma once

namespace gpuprof::inject {

// Before the fork, in the parent: makes the pages, where the thread is inside of a hook.
void KeepInterruptedHook() noexcept;
// After it, in the parent: gives them back.
void DropInterruptedHook() noexcept;
// In the child, while t_thread still has the parent's ring: puts them where the ring was.
void ServeInterruptedHook() noexcept;

}  // namespace gpuprof::inject
