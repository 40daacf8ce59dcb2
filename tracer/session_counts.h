// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What threads tell each other of the present session. It outlives every Drain, so that nobody but
// who holds the pass need touch one. Any thread.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::tracer {

struct SessionCounts {
  // Rows of the trace, those included that are about to be written. Written by the drain.
  std::atomic<uint64_t> events{0};
  // Rows and records that are not in the trace, all causes. Written by the drain.
  std::atomic<uint64_t> lost{0};
  // The CPU time of the control thread and of the observers' threads, in nanoseconds. Written by
  // the control thread.
  std::atomic<uint64_t> control_cpu_ns{0};

  // Begins again at nothing: no session has them any more.
  void Reset() {
    events.store(0, std::memory_order_relaxed);
    lost.store(0, std::memory_order_relaxed);
    control_cpu_ns.store(0, std::memory_order_relaxed);
  }
};

}  // namespace gpuprof::tracer
