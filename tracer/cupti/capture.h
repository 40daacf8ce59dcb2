// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI in this process: found when the program first initialises CUDA, subscribed to and enabled
// only while a capture runs, so that a dormant process owns nothing of it and another profiler in
// the program (torch.profiler, nsys) finds it free. With --capture=cuda-profiler the subscription
// stays between captures.
//
// Start, Tick, Stop and Flush call CUPTI: on a thread that may call CUDA (the program's in
// InitializeInjection and at its exit, else gpuprof-ctl), one at a time (turn.h), never while a
// lock of ours is held that CUPTI's callbacks could want. The drain takes what was delivered. After
// fork the child has no CUPTI.

#pragma once

#include <cstdint>

#include "tracer/cupti/activity_sorter.h"
#include "tracer/cupti/buffers.h"
#include "tracer/cupti/graph_events.h"
#include "tracer/cupti/graph_mode.h"
#include "tracer/cupti/kernel_code.h"
#include "tracer/cupti/library.h"
#include "tracer/cupti/stream_events.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

// Begins recording GPU activity; `is_late`: after the program's cuInit, not inside of it: it may
// have allocated already, which is noted with the capture. False: not possible now; the reason is
// said once.
bool Start(const Host* host, bool is_late);
// Subscribes, so that CUPTI tells of the program's profiler calls also between captures
// (profiler_calls.h). Again now and then: leaves CUPTI if a profiler of the program waits for it,
// and comes back once that has ended. `is_late` as with Start.
void WatchProfilerCalls(const Host* host, bool is_late);
// Now and then: has completed records delivered, reads the clocks. True: soon again, something
// waits for the driver, or buffers were lacking.
bool Tick();
// Leaves CUPTI for this capture if a profiler of the program waits for it.
void YieldIfWanted();
// Has all completed records delivered, for a snapshot. Waits for a moment until the work that was
// launched is complete.
void FlushForSnapshot();
// Delivers the rest and lets go of CUPTI. `is_exit`: the program waits for it to end.
void Stop(bool is_exit);
// The driver is about to go, or has gone: CUPTI is not called any more in this process.
void GiveUp();
void AfterForkChild();

// For the drain.
BufferPool* Buffers();
// When the capture's recording was asked for (ticks), where work of an earlier one may come with
// it; else 0.
uint64_t EarliestTicks();
// The moment (ticks) up to which all that was complete has been delivered; 0: CUPTI is not in use.
uint64_t HandedOver();
// As cuptiActivityGetNextRecord.
int NextRecord(uint8_t* buffer, size_t valid, void** record);
const FunctionNames& Names();
// Whether memory that records lead to is ours alone to free.
bool OwnsRecordData();
// True once after a Start that was late.
bool TakeCudaHadBegun();
// As asked at the last Start.
OwnBuffers Own();
GraphEvents* GraphQueue();
StreamEvents* StreamQueue();
ContextEvents* ContextQueue();
// Of modules that were loaded during captures.
const KernelCode* Code();
bool TakeGraphMark(GraphMark* mark);
// Why launches of graphs are not recorded as wholes although that was asked for; "" where they are.
const char* GraphRefusal();
// Of how long the capture's CUPTI does not hand over what it recorded (ticks), as it says; 0: of
// none.
uint64_t NotHandedOver();
// Records that CUPTI says it dropped, or had no buffer for, so far.
uint64_t Dropped();

}  // namespace gpuprof::tracer::cupti
