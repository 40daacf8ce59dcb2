// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CPU time, run-queue wait and names of the process's threads, read from /proc: the Threads table.
// Drain thread.

#pragma once

#include <cstdint>
#include <vector>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

class ThreadTable {
 public:
  // Appends a serialized Threads message for the moment `ticks` and returns the number of threads
  // in it. With `all` false, a process of many threads is sampled by turns, so that the cost stays
  // bounded; else those that have just ended, or begun, are there by their rings.
  uint32_t Append(const Host& host, uint64_t ticks, bool all, std::vector<uint8_t>* out);

 private:
  uint32_t turn_ = 0;
};

// Appends one entry for a ring's thread, which has gone or is about to lose its ring: its last name
// and losses.
void AppendRingThread(const proto::RingHeader& ring, uint64_t ticks, std::vector<uint8_t>* out);

}  // namespace gpuprof::tracer
