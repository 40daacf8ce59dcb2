// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The capture state machine of the process: dormant, armed, capturing, draining, failed. One
// transition at a time, under a lock with a time limit. Called on the control thread, and on
// application threads that exit, exec or fork.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/record.h"

namespace gpuprof::inject {

// Not 0 once the process is on its way out: a capture that is being ended waits for nothing more.
extern std::atomic<uint32_t> g_hurry;

// Begins to record in hooks, without loading anything: for a capture that begins with the process.
// False: already recording, or the process has finished.
bool BeginRecording(const char* trigger) noexcept;

// Begins a capture later than the process. Hooks begin to record when everything else does. So the
// trace holds the host's events together with the GPU work they began. Control thread, as
// StartSession. False: for the reasons of BeginRecording and StartSession.
bool BeginCapture(const char* trigger) noexcept;

// Begins to record in hooks at once. Called by a thread of the program that does not wait any
// longer for a capture to begin.
void RecordAtOnce() noexcept;

// Loads the tracer object if need be and starts its session for the capture under way. Control
// thread only: it may wait for the loader. False: capture is impossible; hooks are off again and
// the reason was said.
bool StartSession() noexcept;

// Makes the framework report its ranges, for captures at steps (inject/marked_captures.h). Control
// thread. False: the framework reports them already, or never will.
bool WatchFrameworkRanges() noexcept;

// Returns whether hooks record but the tracer's session has not begun.
bool SessionIsDue() noexcept;

// Ends the capture; returns when the data is in the file. False: no capture was running.
bool StopCapture(const char* trigger) noexcept;

// Looks for frameworks loaded meanwhile, now and then while capturing. True: libraries came or
// went.
bool TickSession() noexcept;

// Records GPU activity from now on, if a capture runs. Called while the program is in its first
// cuInit, on the same thread. Waits a moment for the session that is due.
void StartGpu() noexcept;

bool IsCapturing() noexcept;

// Takes a snapshot (see tracer::Api::snapshot). Returns null, or the reason of a failure. Control
// thread.
const char* TakeSnapshot(const char* name, char* path, uint32_t path_bytes) noexcept;

// Closes the trace as the process goes away, within two seconds at most. Work that could not be
// done is left in the ring file for recovery.
void FinishProcess(proto::ExitWay way, int32_t status) noexcept;
// Notes how the process ends, and does no more: for aborts, when running much code would be unwise.
void NoteExit(proto::ExitWay way, int32_t status) noexcept;

// Ends the image's recording before exec. If exec fails, AfterFailedExec lets the process go on
// with a new trace.
void BeforeExec(const char* path) noexcept;
void AfterFailedExec(int error) noexcept;
// Notes an exec that is known beforehand to fail. Called instead of the two functions above.
void NoteRefusedExec(const char* path, int error) noexcept;

// Runs around fork (pthread_atfork). ResumeInChild runs in the child, after all other libraries'
// handlers.
void BeforeFork() noexcept;
void AfterForkInParent() noexcept;
void AfterForkInChild() noexcept;
void ResumeInChild() noexcept;

// Makes the file name stem and start id of this image or forked child.
void NewIdentity() noexcept;

}  // namespace gpuprof::inject
