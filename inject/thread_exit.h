// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Learns of a thread's end through a pthread key, in the last round of key destructors. So memory
// that other libraries free in their destructors is still recorded.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// glibc runs key destructors at most PTHREAD_DESTRUCTOR_ITERATIONS (4) times.
inline constexpr uint8_t kLastExitRound = 4;

// Makes the key, once, in the constructor: early keys need no memory in pthread_setspecific.
void CreateThreadExitKey() noexcept;

// Watches the calling thread's end, after the thread got a ring or was refused one. Its end is an
// event either way. Safe in hooks.
void WatchThreadExit() noexcept;

}  // namespace gpuprof::inject
