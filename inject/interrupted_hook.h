// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Serves a hook that a signal handler interrupted, when this handler forks and returns in the
// child. The hook then goes on with the ring of its parent's thread, which the child does not have.
// The hook gets pages to write to that no process reads.
//
// On the thread that forks, in a signal handler: no heap, no lock, errno untouched.

#pragma once

namespace gpuprof::inject {

// Makes the pages, if the thread is inside a hook. Before the fork, in the parent.
void KeepInterruptedHook() noexcept;
// Gives the pages back. After the fork, in the parent.
void DropInterruptedHook() noexcept;
// Puts the pages where the ring was. In the child, while t_thread still has the parent's ring.
void ServeInterruptedHook() noexcept;

}  // namespace gpuprof::inject
