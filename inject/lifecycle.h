// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The capture state machine of the process: dormant, armed, capturing, draining, failed. One
// transition at a time, under a lock with a time limit; called on the control thread, and on
// application threads that exit, exec or fork.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/record.h"

namespace gpuprof::inject {

// Not 0 once the process is on its way out: a capture that is being ended waits for nothing more.
extern std::atomic<uint32_t> g_hurry;

// Hooks begin to record; nothing is loaded yet: for a capture that begins with the process. False:
// already recording, or the process has finished.
bool BeginRecording(const char* trigger) noexcept;

// A capture that begins later: hooks begin to record when everything else does, so that what the
// trace has of the host is in it with what it did on the GPU. As StartSession: control thread.
// False: as both.
bool BeginCapture(const char* trigger) noexcept;

// A thread of the program that does not wait any longer for a capture to begin: hooks record from
// here on.
void RecordAtOnce() noexcept;

// Loads the tracer object if need be and starts its session for the capture under way. Control
// thread only: it may wait for the loader. False: capture is impossible; hooks are off again and
// the reason was said.
bool StartSession() noexcept;

// Has the framework tell of its ranges, for captures at steps (inject/marked_captures.h). Control
// thread. False: it does, or never will.
bool WatchFrameworkRanges() noexcept;

// Whether hooks record but the tracer's session has not begun.
bool SessionIsDue() noexcept;

// Ends the capture; returns when the data is in the file. False: there was none.
bool StopCapture(const char* trigger) noexcept;

// Now and then while capturing: looks for frameworks loaded meanwhile. True: libraries came or
// went.
bool TickSession() noexcept;

// The program is in its first cuInit, on this thread: GPU activity is recorded from now on if a
// capture runs. Waits a moment for the session that is due.
void StartGpu() noexcept;

bool IsCapturing() noexcept;

// Control thread: see tracer::Api::snapshot. Null, or what was in the way.
const char* TakeSnapshot(const char* name, char* path, uint32_t path_bytes) noexcept;

// The process goes away: closes the trace, within two seconds at most. What could not be done is
// left in the ring file for recovery.
void FinishProcess(proto::ExitWay way, int32_t status) noexcept;
// As above, but only notes how the process ends: for aborts, where running much code would be
// unwise.
void NoteExit(proto::ExitWay way, int32_t status) noexcept;

// Around exec: the image ends; if exec fails the process goes on with a new trace.
void BeforeExec(const char* path) noexcept;
void AfterFailedExec(int error) noexcept;
// Instead of both, where it is known beforehand that it fails.
void NoteRefusedExec(const char* path, int error) noexcept;

// fork handlers (pthread_atfork), and what follows once all other libraries' handlers have run in
// the child.
void BeforeFork() noexcept;
void AfterForkInParent() noexcept;
void AfterForkInChild() noexcept;
void ResumeInChild() noexcept;

// The file name stem and start id of this image or forked child.
void NewIdentity() noexcept;

}  // namespace gpuprof::inject
