// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's clock beside ours: its times are moved onto the trace's clock offline, between the two
// readings that enclose them.
//
// ReadClocks: the thread that calls CUPTI. TakeClockReading: the drain, which writes them down.

#pragma once

#include <cstdint>

#include "proto/ticks.h"

namespace gpuprof::tracer::cupti {

// One moment on CUPTI's clock and on ours.
struct ClockReading {
  uint64_t ticks, monotonic_ns, realtime_ns, raw_ns;
  uint64_t cupti_ns;
  uint64_t bracket_ticks;
};

// CUPTI's clock now, in ns; 0: it cannot be had.
using ReadCuptiClock = uint64_t (*)();

// The best of a few tries; without one, nothing is kept.
void ReadClocks(proto::ClockKind kind, ReadCuptiClock read);
// The oldest that was not taken yet. False: none.
bool TakeClockReading(ClockReading* reading);

}  // namespace gpuprof::tracer::cupti
