// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Work in streams: enqueues it, or takes it into the graph that the stream is captured to; events;
// waits. Copies and sets happen when they are enqueued, which no program that is correct can tell.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

CUresult Enqueue(const Work& work, CUstream stream);

// Runs one piece of work of a graph after the given time; returns when it ends.
uint64_t RunNode(const CUgraphNode_st& node, CUstream stream, CUgraphExec exec, bool whole,
                 uint64_t after);

CUresult RecordEvent(CUevent event, CUstream stream);
CUresult WaitForEvent(CUstream stream, CUevent event);

CUresult SynchronizeStream(CUstream stream);
CUresult SynchronizeContext(CUcontext context);
CUresult SynchronizeEvent(CUevent event);
// CUDA_ERROR_NOT_READY while work is pending.
CUresult QueryStream(CUstream stream);
CUresult QueryEvent(CUevent event);

// A copy with its kinds filled in from what the addresses are.
Work CopyOf(void* destination, const void* source, size_t bytes, bool async);

// Copies block when they have to: not asynchronous, or of pageable memory.
bool MustBlock(const CopyWork& copy);

void ApplyEffects(const Work& work);
uint64_t DurationOf(const Work& work);
void TellDone(const Done& done);

}  // namespace fake_gpu
