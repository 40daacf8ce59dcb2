// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The signal that toggles capture, shared politely with the program: its own handler, set before or
// after, still runs, with its own flags and mask, and it sees only its own settings when it asks.

#pragma once

namespace gpuprof::inject {

// Constructor: installs our handler for `number` (0: none), keeping what was there.
void InstallSignal(int number) noexcept;

// The number, or 0 when none was asked for or the program replaced our handler behind our back.
int SignalInForce() noexcept;

// Around exec and spawn: an ignored signal stays ignored in the new program, and ours is a handler
// where the program's setting was "ignore". True: the kernel now holds the program's setting, and
// AfterExecSignal() must follow when the call comes back. Also in vfork children, whose table of
// handlers is their own.
bool BeforeExecSignal() noexcept;
void AfterExecSignal() noexcept;

}  // namespace gpuprof::inject
