// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When sessions of JAX's profiler begin and end. A session keeps every mark in memory until it is
// stopped, and to stop it takes longer than to record: so windows are short, and there are pauses
// between them where the program makes very many marks. The agent's thread.

#pragma once

#include <cstdint>

#include "tracer/python_agent/python_api.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::jax {

// Returns whether a library of JAX is loaded. Control thread: may wait for the loader's lock.
bool IsLoaded();

// Does what is due. `capture`: the number of the capture under way; 0: sessions are to end.
// `is_asked`: a user asked for this capture while the program ran. Returns how long to wait until
// the next call, in ns; 0: there is nothing to do any more.
uint64_t Round(const Host& host, const Python& python, uint32_t capture, bool is_asked);

// In a forked child.
void RecorderAfterForkChild();

}  // namespace gpuprof::tracer::jax
