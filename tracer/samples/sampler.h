// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of the program's threads. A thread of gpuprof looks at the stack of each thread of
// Python, a hundred times a second. The kernel takes native stacks, where it permits that. No
// thread is stopped, no signal is sent and no lock of an interpreter is taken. The ring of
// gpuprof's thread has the samples (RecordKind::kSample).
//
// Control thread, unless a function says otherwise.

#pragma once

#include <cstdint>

#include "tracer/python/interpreter.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Begins to sample what there is: native stacks, and Python, unless `python` is null. Called when a
// capture begins, and now and then after that.
void SamplerTryBegin(const Host* host, const Interpreter* python);
// Ends sampling, and waits for its thread, for a limited time. What was sampled is in the ring
// then. Any one thread.
void SamplerEnd();

// Returns the kernel's errno for native stacks; 0: it permits them, or was not asked yet. Any
// thread.
int NativeRefusal();

// Around fork, on the forking thread.
void SamplerBeforeFork();
void SamplerAfterForkParent();
void SamplerAfterForkChild();

struct SamplerCounters {
  uint64_t ticks;   // looks at all threads
  uint64_t stacks;  // that were read
  uint64_t bad;     // that made no sense
  uint64_t native_lost;
  bool has_too_many_threads;
  uint64_t names_lost;
  uint64_t cpu_ns;  // processor time of the sampler's thread
};
// Any thread.
SamplerCounters ReadSamplerCounters();

}  // namespace gpuprof::tracer
