// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The thread "gpuprof-ctl": waits for control requests, signals and deadlines and carries them out.
// Blocks all signals, sleeps on a futex; wakes once a second when nothing happens. It stays in the
// program's table of descriptors, and keeps none open: exit handlers may have to run on it.

#pragma once

namespace gpuprof::inject {

// In the constructor and in forked children, on the application's thread. Failure is said and
// leaves the process unrecorded.
void StartControlThread(bool forked) noexcept;

// Makes the control thread look around. Signal handlers, any thread.
void WakeControlThread() noexcept;

// Returns when stacks can be taken and what the tool threads open at the start is closed again,
// after 200 ms at the latest: for a program that has not begun yet and whose allocations are all
// wanted with their stacks. Not under the loader's lock.
void AwaitSession() noexcept;

// The same for a capture whose session has not begun yet, whatever it was waiting for: something
// happens that only the tracer can record.
void HastenSession() noexcept;

// A capture that begins and ends with what the calling thread does. The first returns once all is
// recorded, two seconds and --gpu-finish at the latest; false: one runs already, or none can. The
// second returns once nothing more is recorded, after one second at the latest; what there is gets
// written meanwhile; one that is not known to have begun need not any more. `trigger` stays in the
// trace. Threads of the program.
[[gnu::cold]] bool HaveCaptureBegun(const char* trigger) noexcept;
[[gnu::cold]] void HaveCaptureEnded(const char* trigger, bool has_begun) noexcept;

// Nothing more is recorded of what the program does. Control thread.
void CaptureIsClosed() noexcept;

// Says it for a thread that has left the program's files. Lost when the one before it is not said
// within a tenth of a second.
void SayByControlThread(const char* text) noexcept;

// The other half. Control thread, and a thread that ends the process.
void SayWhatWasPosted() noexcept;

// A signal asked for a toggle. Signal handlers.
void RequestToggle() noexcept;

// Ends the capture under way, soon. Tool threads.
void RequestStop() noexcept;

// Calls the tracer's tick, soon. Any thread.
void RequestTick() noexcept;

// An image that goes on after a failed exec has a new name.
void ReopenControlSocket() noexcept;

// In a forked child: the parent's threads and socket are not ours.
void ForgetControl() noexcept;

}  // namespace gpuprof::inject
