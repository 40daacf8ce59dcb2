// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The signal that toggles capture, shared politely with the program: its own handler, set before or
// after, still runs, with its own flags and mask, and it sees only its own settings when it asks.

#pragma once

namespace gpuprof::inject {

// Constructor: installs our handler for `number` (0: none), keeping what was there.
void InstallSignal(int number) noexcept;

// The number, or 0 when none was asked for, when the program ignores it (then so does the kernel:
// nothing can tell that it is watched), or when it replaced our handler behind our back.
int SignalInForce() noexcept;

// Has system calls that our signal interrupts begin again, whatever the program chose for them: for
// signals that are gpuprof's own. False: as the program chose. Signal handlers.
void RestartCalls(bool restart) noexcept;

}  // namespace gpuprof::inject
