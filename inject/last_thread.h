// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process whose main thread left by pthread_exit() ends when its last thread does; ours would
// keep it alive for ever. The control thread looks now and then whether only ours remain, and then
// ends the process as libc would have.

#pragma once

namespace gpuprof::inject {

// On the main thread as it leaves by pthread_exit: worth looking more often from now on.
void NoteMainThreadLeft() noexcept;
bool MainThreadLeft() noexcept;
void ForgetMainThreadLeft() noexcept;

// Whether the main thread is gone and every other thread is one of ours. Control thread.
bool OnlyOursRemain() noexcept;

}  // namespace gpuprof::inject
