// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The one thread of the inject object, "gpuprof-ctl": waits for control requests, signals and
// deadlines and carries them out. Blocks all signals, sleeps in ppoll; wakes once a second when
// nothing happens.

#pragma once

namespace gpuprof::inject {

// In the constructor and in forked children, on the application's thread. Failure is said and
// leaves the process unrecorded.
void StartControlThread(bool forked) noexcept;

// Makes the control thread look around. Signal handlers, any thread.
void WakeControlThread() noexcept;

// A signal asked for a toggle. Signal handlers.
void RequestToggle() noexcept;

// Ends the capture under way, soon. Tool threads.
void RequestStop() noexcept;

// The socket of a process that ends, and that of an image which goes on after a failed exec under a
// new name.
void RemoveControlSocket() noexcept;
void ReopenControlSocket() noexcept;

// In a forked child: the parent's thread, pipe and socket are not ours.
void ForgetControl() noexcept;

}  // namespace gpuprof::inject
