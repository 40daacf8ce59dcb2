// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The threads that have rings of the present trace. A process that lives on may unmap its rings
// once no thread is writing into one.

#pragma once

#include "inject/state.h"

namespace gpuprof::inject {

// Notes that the calling thread has a ring now.
void NoteRingUser(const ThreadState* thread) noexcept;

// Waits until no thread of the program is in gpuprof's recording code, for a second at most.
// Returns whether that was so. Recording is off. On a thread of gpuprof.
bool AwaitQuietRings() noexcept;

// Forgets all threads: they have no rings any more.
void ForgetRingUsers() noexcept;

}  // namespace gpuprof::inject
