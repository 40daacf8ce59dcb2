// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for room in a full ring (--on-full=wait), so that no record of an exact trace is dropped.
//
// A wait goes on as long as the drain makes progress. If the drain does not run yet, as in the
// first moments of a forked child, the wait has it started. It ends early if the drain stands still
// or cannot start, and the record is dropped and counted. A thread does not wait in a signal
// handler, while it forks, or after the capture has ended. The drain needs no lock of the
// program's. So a thread that holds locks of the program waits for the disk at most.

#pragma once

#include <cstdint>

#include "proto/ring.h"

namespace gpuprof::inject {

// Waits until the ring has room for records up to position `end`. Returns whether it has. Counts
// the wait and its time in the ring file's header. Hooks: no heap, no lock, errno untouched.
bool AwaitRoom(const proto::RingHeader* ring, uint64_t end) noexcept;

// Forgets that somebody waited in vain, in a forked child: it has a drain of its own.
void ForgetVainWaits() noexcept;

}  // namespace gpuprof::inject
