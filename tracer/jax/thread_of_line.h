// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which thread a line of JAX's profiler is of. Older releases number a line by its thread. Newer
// ones take libstdc++'s hash of pthread_self(): the hash has an inverse, and libc keeps the
// thread's number at a fixed place behind that address. The drain's pass.

#pragma once

#include <cstdint>

namespace gpuprof::tracer::jax {

// Returns the value of which libstdc++'s hash is `hash`.
uint64_t Unhash(uint64_t hash);

// Returns the number of the line's thread; 0: it is not known, or has ended.
uint32_t ThreadOfLine(uint64_t line);

}  // namespace gpuprof::tracer::jax
