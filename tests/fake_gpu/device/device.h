// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The simulated device: contexts, streams and when work runs. Nothing computes: a piece of work
// gets its start and end when it is enqueued, from the script and from what is before it, and
// whoever waits for it sleeps until then. So a launch costs nanoseconds, and order, overlap and
// waiting are as real.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

struct Span {
  uint64_t start = 0, end = 0;
};

// The null stream and its two special names are resolved against this context.
CUstream Resolve(CUstream stream, CUcontext context);
// With the per-thread default stream where the legacy one is meant otherwise.
CUstream ResolvePerThread(CUstream stream);

CUcontext CreateContext(int device, bool primary);
void DestroyContext(CUcontext context);
CUcontext PrimaryContext(int device);
std::vector<CUcontext> LiveContexts();

CUresult CreateStream(CUcontext context, unsigned flags, int priority, CUstream* stream);
CUresult DestroyStream(CUstream stream);
bool Known(CUstream stream);

// Reserves the stream (lock taken here) for work of this duration; blocks while its queue is full.
Span Schedule(CUstream stream, Engine engine, uint64_t duration);
// Nothing in the stream starts before the time.
void DelayStream(CUstream stream, uint64_t until);
uint64_t EndOf(CUstream stream);
uint64_t EndOf(CUcontext context);

// The driver's exit handler: every context is gone.
void ExitDriver();

uint64_t KernelDuration(const char* name);
uint64_t CopyDuration(size_t bytes);

void TellSink(const Object& object);

}  // namespace fake_gpu
