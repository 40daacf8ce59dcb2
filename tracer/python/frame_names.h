// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names of frames of Python: one table for the process, whose ids are those of strings. Any
// thread, hooks; the first two functions on a tool thread.

#pragma once

#include <cstdint>

#include "proto/name_table.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Maps the table, once. False: there is no memory.
bool FrameNamesInit();
// Makes every name be defined again: the process writes another file.
void FrameNamesBeginFile();

proto::NameTable& FrameNames() noexcept;

// What rings call when they are filling up. A name waits for no room.
struct WakeForNames {
  const Host* host;
  void operator()() const noexcept { host->wake_drain(); }
  bool Grow(proto::RingHeader* ring) const noexcept { return host->grow_ring(ring); }
  bool AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }
};

}  // namespace gpuprof::tracer
