// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of the program's Python threads: a thread of gpuprof looks at the stack of each, a
// hundred times a second. It stops no thread, sends no signal and takes no lock of the interpreter.
// Its ring has the samples (RecordKind::kSample).
//
// Control thread, unless a function says otherwise.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Begins to sample once there is an interpreter. Called when a capture begins, and now and then
// after that. May wait for the loader's lock.
// True: an interpreter is about to begin, so look again soon.
bool SamplerTryBegin(const Host* host);
// Ends sampling, and waits for its thread, for a limited time. What was sampled is in the ring
// then. Any one thread.
void SamplerEnd();

// Returns why nothing is sampled although there is an interpreter; null: it can be. Any thread.
const char* SamplerRefusal();

// The trace file is a new one.
void SamplerBeginFile();

// Around fork, on the forking thread.
void SamplerBeforeFork();
void SamplerAfterForkParent();
void SamplerAfterForkChild();

struct SamplerCounters {
  uint64_t ticks;   // looks at all threads
  uint64_t stacks;  // that were read
  uint64_t bad;     // that made no sense
  uint64_t names_lost;
  uint64_t cpu_ns;  // processor time of the sampler's thread
};
// Any thread.
SamplerCounters ReadSamplerCounters();

}  // namespace gpuprof::tracer
