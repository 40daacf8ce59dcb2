// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The capture state machine of the process: dormant, armed, capturing, draining, failed. One
// transition at a time, under a lock with a time limit. Called on the control thread, and on
// application threads that exit, exec or fork.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/record.h"
#include "proto/snapshot_request.h"

namespace gpuprof::inject {

// Not 0 once the process is on its way out: a capture that is being ended waits for nothing more.
extern std::atomic<uint32_t> g_hurry;

// Returns whether somebody waits until a capture has begun or ended. This is a thread that forks,
// execs or exits, or a further request to the control thread. Any thread.
bool MustHasten() noexcept;

// Hooks begin to record; nothing is loaded yet: for a capture that begins with the process. False:
// already recording, or the process has finished.
bool BeginRecording(const char* trigger) noexcept;

// Starts a capture later in the process's life. Hooks, CUPTI and observers start together, so host
// and GPU rows cover the same time. Call on the control thread. Returns false if a capture is
// running or the process has finished.
bool BeginCapture(const char* trigger) noexcept;

// Lets hooks record from now on. Called on a thread of the program that stops waiting for a capture
// to begin.
void RecordAtOnce() noexcept;

// Loads the tracer object if need be and starts its session for the capture under way. Control
// thread only: it may wait for the loader. False: capture is impossible; hooks are off again and
// the reason was said.
bool StartSession() noexcept;

// Asks the framework to report its ranges, for captures at steps (inject/marked_captures.h).
// Control thread. False: the framework reports them already, or never will.
bool WatchFrameworkRanges() noexcept;

// Has CUPTI report the program's profiler calls (inject/profiler_calls.h), if the tracer is
// loaded. `is_late`: not inside the program's cuInit, on the control thread.
void WatchProfilerCalls(bool is_late) noexcept;
// Loads the tracer for that. Control thread.
void LoadTracerForWatch() noexcept;

// Returns whether the process neither records nor is to record by itself: it needs no thread.
bool MayBeDormant() noexcept;

// Returns whether hooks record but the tracer's session has not begun.
bool SessionIsDue() noexcept;

// Ends the capture; returns when the data is in the file. False: no capture was running.
bool StopCapture(const char* trigger) noexcept;

// Looks for newly loaded frameworks. Called now and then while capturing. True: libraries were
// loaded or unloaded.
bool TickSession() noexcept;

// Starts recording GPU activity if a capture runs. Called on the thread that is in the program's
// first cuInit. Waits a moment for a session that is due.
void StartGpu() noexcept;

bool IsCapturing() noexcept;

// Takes a snapshot on the control thread: see tracer::Api::snapshot. Fills in how many are
// kept. Returns null, or the reason why it failed.
const char* TakeSnapshot(const char* name, proto::SnapshotNumbers* numbers, char* path,
                         uint32_t path_bytes) noexcept;

// Closes the trace when the process ends, within two seconds at most. Unfinished work stays in the
// ring file for recovery.
void FinishProcess(proto::ExitWay way, int32_t status) noexcept;
// Notes only how the process ends: for aborts, where running much code would be unwise.
void NoteExit(proto::ExitWay way, int32_t status) noexcept;

// Ends the image before exec. If exec fails, AfterFailedExec continues the process with a new
// trace.
// `obstacle`: why the new image cannot load the object (ExecObstacle), 0 if it can.
void BeforeExec(const char* path, uint32_t obstacle) noexcept;
void AfterFailedExec(int error) noexcept;
// Notes an exec that is known to fail beforehand. Called instead of the two functions above.
void NoteRefusedExec(const char* path, int error) noexcept;

// Goes on in a new file, after FinishProcess: the process lives on, and is dormant.
void BeginNewTrace() noexcept;

// Forgets all captures, after FinishProcess and before the process is left alone: its next trace
// begins as if there had been none.
void ForgetCaptures() noexcept;

// Handles fork (pthread_atfork), and the steps after all other libraries' handlers have run in the
// child.
void BeforeFork() noexcept;
void AfterForkInParent() noexcept;
void AfterForkInChild() noexcept;
void ResumeInChild() noexcept;

// Sets the file name stem and the start id of this image or forked child.
void NewIdentity() noexcept;

}  // namespace gpuprof::inject
