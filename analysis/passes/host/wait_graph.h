// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The waiting graph of one process over time. An arrow leads from each thread that waits for a lock
// to the thread that held the lock when the wait began. A thread waits for one lock at a time. So
// one path leads from each waiter to a thread that does not wait, or around in a circle. Pure; any
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// A wait because another thread held the lock.
struct ContendedWait {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t waiter = 0;  // tid
  int32_t holder = 0;  // tid; 0: not known
  uint8_t kind = 0;    // proto::WaitKind
  bool incomplete = false;
  uint64_t object = 0;
  uint64_t caller = 0;
  uint32_t stack = 0;
};

// Returns the contended waits, in the order of their begins.
std::vector<ContendedWait> ContendedWaits(const Process& process);
// Returns the waits that had not ended and cannot end by themselves, including joins, which wait
// for the joined thread. In the order of their begins.
std::vector<ContendedWait> WaitsWithoutEnd(const Process& process);

// The cost that one thread caused for the others by holding locks, in thread time.
struct Blame {
  int64_t direct_ns = 0;  // others waited for a lock of its own
  // The same of those that waited at the end of a path to it. It did not wait itself meanwhile.
  int64_t root_ns = 0;
  std::set<int32_t> waiters;  // direct ones
};
std::map<int32_t, Blame> BlameHolders(const std::vector<ContendedWait>& waits);

// Threads that wait for each other in a circle, by waits that had not ended when the recording
// ended. One thread that waits for itself is a circle too. Waits that did not overlap in time are
// not a circle: the thread of one wait may have been cancelled.
struct WaitCircle {
  std::vector<size_t> waits;  // indices
  int64_t start_ns = 0;       // when it closed
  int64_t end_ns = 0;         // of the recording
  std::set<int32_t> blocked;  // its threads and those that wait for them
};
std::vector<WaitCircle> FindCircles(const std::vector<ContendedWait>& waits);

// Counts the most waits at any one moment in each of `count` intervals of `length_ns`, from
// `start_ns` on.
std::vector<uint32_t> MostWaiters(const std::vector<ContendedWait>& waits, int64_t start_ns,
                                  int64_t length_ns, size_t count);

}  // namespace gpuprof::analysis
