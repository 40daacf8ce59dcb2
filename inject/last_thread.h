// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process whose main thread left by pthread_exit() ends when its last thread does. gpuprof's
// threads would keep it alive for ever. So the control thread looks now and then whether only
// gpuprof's threads remain. It then ends the process as libc would have.

#pragma once

namespace gpuprof::inject {

// Notes that the main thread leaves by pthread_exit, on that thread. The control thread looks more
// often from now on.
void NoteMainThreadLeft() noexcept;
bool MainThreadLeft() noexcept;
void ForgetMainThreadLeft() noexcept;

// Returns whether the main thread is gone, by whatever call. Mostly one system call.
bool MainThreadIsGone() noexcept;

// Returns whether a thread of this process, named by its number, is one of gpuprof's, or has ended.
bool IsOurThread(const char* tid) noexcept;

// Returns whether the main thread is gone and every other thread is one of gpuprof's. Control
// thread.
bool OnlyOursRemain() noexcept;

}  // namespace gpuprof::inject
