// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process that was never asked to record carries no thread of gpuprof. Some programs must have
// a single thread (a sandbox that is about to be entered, a zygote that is about to fork). The
// capture signal wakes the process: its handler starts the control thread. `gpuprof ctl` sends the
// same signal with a value that asks for the thread alone (proto/control.h).
//
// A mapping of gpuprof's object shows the state to `gpuprof ps` and `ctl`: at
// proto::kDormantOffset. It takes no memory and no descriptor.

#pragma once

#include <signal.h>

namespace gpuprof::inject {

// Makes the process dormant, before it has a control thread: in the constructor and in forked
// children. False: nothing could wake it. Then it needs a thread now.
bool FallDormant() noexcept;

// Returns whether the process is dormant.
bool IsDormant() noexcept;

// Returns whether the signal only wakes the process. Then it is not meant for the program.
bool IsWakeUp(const siginfo_t* info) noexcept;

// Wakes the process: starts the control thread. If the interrupted code does not allow this, the
// signal comes again a millisecond later. `context` is the handler's third argument. Called in the
// handler of the capture signal, which is installed, on a thread of the program.
void WakeInHandler(const void* context) noexcept;

// Wakes the process, because its signal will not reach it any more. Outside signal handlers.
void WakeNow() noexcept;

// Ends the dormant state: the process has a thread from now on, or nothing may wake it any more.
void StayAwake() noexcept;

// Returns whether the calling thread's allocations must not go to the program's allocator. Its own
// handler may have interrupted the allocator, or the thread is in a FromArena section. For the
// hooks of malloc and calloc.
bool AllocatesInHandler() noexcept;

// While it lives, what the calling thread allocates comes from the bootstrap arena. For a few
// blocks, which are never given back. One thread of gpuprof at a time.
class FromArena {
 public:
  FromArena() noexcept;
  ~FromArena() noexcept;
  FromArena(const FromArena&) = delete;
  FromArena& operator=(const FromArena&) = delete;
};

// Forgets the parent's timer, in a forked child.
void ForgetWakeUps() noexcept;

}  // namespace gpuprof::inject
