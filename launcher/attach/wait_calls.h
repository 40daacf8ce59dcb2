// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The system calls in which a thread waits and does nothing else. Stopped there, it can begin the
// call again.

#pragma once

namespace gpuprof::launcher {

// Returns whether the system call of this number is such a wait.
bool IsWaitCall(long number);

}  // namespace gpuprof::launcher
