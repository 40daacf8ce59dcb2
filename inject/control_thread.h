// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The thread "gpuprof-ctl": waits for control requests, signals and deadlines and carries them out.
// Blocks all signals, sleeps on a futex; wakes once a second when nothing happens. It stays in the
// program's table of descriptors, and keeps none open: exit handlers may have to run on it.

#pragma once

namespace gpuprof::inject {

// Starts the control thread: in the constructor, in forked children, or when a dormant process
// wakes (inject/dormant.h). On a thread of the program. A failure is said and leaves the process
// unrecorded.
void StartControlThread(bool forked) noexcept;

// Starts the control thread in a process that was attached to. `begin` is its first work; if that
// returns false, the thread ends. Returns 0, or why no thread could be made. On the thread that was
// stopped.
int StartControlThreadFor(bool (*begin)()) noexcept;

// Ends the control thread, soon. The process has finished its trace.
void EndControlThread() noexcept;

// Returns whether the control thread was asked for something that it has not begun with. Any
// thread.
bool HasRequests() noexcept;

// Returns whether the control thread will begin a capture by itself: after a delay, or at a step or
// range.
bool WillCapture() noexcept;

// Makes the control thread look around. Signal handlers, any thread.
void WakeControlThread() noexcept;

// Returns when stacks can be taken and the tool threads have closed the files they open at the
// start. Returns after 200 ms at the latest. For a program that has not begun yet and whose
// allocations are all wanted with their stacks. Not under the loader's lock.
void AwaitSession() noexcept;

// Asks for the session of a capture that records already, whatever the session was waiting for.
// Returns at once. False: no thread could begin it. Any thread.
bool AskForSession() noexcept;

// Begins the session of a capture now, whatever the session was waiting for, and waits for it.
// Returns after 200 ms at the latest. For an event that only the tracer can record.
void HastenSession() noexcept;

// Begins and ends a capture at what the calling thread does. `trigger` stays in the trace. Threads
// of the program.
//
// HaveCaptureBegun returns once everything is recorded, after two seconds and --gpu-finish at the
// latest. False: a capture runs already, or no capture can begin.
//
// HaveCaptureEnded returns once nothing more is recorded, after one second at the latest. The
// recorded data is written meanwhile. Without `has_begun` it cancels a begin that has not been
// served yet.
[[gnu::cold]] bool HaveCaptureBegun(const char* trigger) noexcept;
[[gnu::cold]] void HaveCaptureEnded(const char* trigger, bool has_begun) noexcept;

// Notes that the capture which is being ended records nothing more. Control thread.
void CaptureIsClosed() noexcept;

// Says `text` for a thread that has left the program's table of descriptors. The text is lost if
// the one before it is not said within a tenth of a second.
void SayByControlThread(const char* text) noexcept;

// Says the text that SayByControlThread left. Control thread, and a thread that ends the process.
void SayWhatWasPosted() noexcept;

// Notes that a signal asked for a toggle. Signal handlers.
void RequestToggle() noexcept;

// Ends the capture under way, soon. Tool threads.
void RequestStop() noexcept;

// Calls the tracer's tick, soon. Any thread.
void RequestTick() noexcept;

// Opens the control socket again under a new name, after a failed exec.
void ReopenControlSocket() noexcept;

// Forgets the parent's threads and socket, in a forked child.
void ForgetControl() noexcept;

}  // namespace gpuprof::inject
