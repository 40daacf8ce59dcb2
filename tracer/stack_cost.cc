// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/stack_cost.h"

#include <atomic>

#include "proto/ticks.h"
#include "tracer/stack/stack_capture.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kTimeOneIn = 16;

// Of all threads, in whole rounds of kTimeOneIn: a counter that every stack of every thread adds to
// would cost more than some stacks do.
std::atomic<uint64_t> g_samples{0};
__thread uint32_t t_stacks = 0;
std::atomic<uint64_t> g_timed{0};
proto::ClockKind g_clock = proto::ClockKind::kMonotonic;
std::atomic<uint64_t> g_timed_ticks{0};

}  // namespace

uint32_t CaptureTimedStack(uint64_t* pcs, uint32_t most, const void* frame) {
  // Not the first: it finds nothing prepared, and would stand for sixteen like it.
  if (t_stacks++ % kTimeOneIn != kTimeOneIn / 2) return CaptureStack(pcs, most, frame);
  g_samples.fetch_add(kTimeOneIn, std::memory_order_relaxed);
  const uint64_t start = proto::ReadTicks(g_clock);
  const uint32_t frames = CaptureStack(pcs, most, frame);
  g_timed_ticks.fetch_add(proto::ReadTicks(g_clock) - start, std::memory_order_relaxed);
  g_timed.fetch_add(1, std::memory_order_relaxed);
  return frames;
}

void StackCostInit(proto::ClockKind clock) { g_clock = clock; }

void StackCostAfterForkChild() {
  g_samples.store(0);
  g_timed.store(0);
  g_timed_ticks.store(0);
}

uint64_t StackSamples() { return g_samples.load(std::memory_order_relaxed); }

uint64_t StackNanoseconds(uint64_t ticks_per_second) {
  const uint64_t timed = g_timed.load(std::memory_order_relaxed);
  if (timed == 0 || ticks_per_second == 0) return 0;
  const double ticks = static_cast<double>(g_timed_ticks.load(std::memory_order_relaxed)) /
                       static_cast<double>(timed) * static_cast<double>(StackSamples());
  return static_cast<uint64_t>(ticks / static_cast<double>(ticks_per_second) * 1e9);
}

}  // namespace gpuprof::tracer
