// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/stack_cost.h"

#include <algorithm>
#include <atomic>

#include "proto/ticks.h"
#include "tracer/python/own_frames.h"
#include "tracer/stack/stack_capture.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kTimeOneIn = 16;

// Of all threads, in whole rounds of kTimeOneIn: a counter that every stack of every thread adds to
// would cost more than some stacks do.
std::atomic<uint64_t> g_samples{0};
__thread uint32_t t_stacks = 0;
// Which of a round is timed. Of the first not the first: it finds nothing prepared.
__thread uint32_t t_place = kTimeOneIn / 2;
std::atomic<uint32_t> g_drawn{0};
// As HookTimer has them (inject/recorder.cc).
constexpr uint64_t kMostUs = 50;
constexpr uint64_t kStoodStillUs = 500;
uint64_t g_microsecond = 0;  // in ticks; 0: not known
std::atomic<uint64_t> g_timed{0};
proto::ClockKind g_clock = proto::ClockKind::kMonotonic;
std::atomic<uint64_t> g_timed_ticks{0};

// A program's calls come round: an even step would meet the same ones again and again.
uint32_t Draw() {
  uint64_t mixed =
      (g_drawn.fetch_add(1, std::memory_order_relaxed) + uint64_t{1}) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>((mixed >> 32) % kTimeOneIn);
}

void Note(uint64_t ticks) {
  if (g_microsecond != 0) {
    if (ticks >= kStoodStillUs * g_microsecond) return;
    ticks = std::min(ticks, kMostUs * g_microsecond);
  }
  g_timed_ticks.fetch_add(ticks, std::memory_order_relaxed);
  g_timed.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

uint32_t CaptureTimedStack(uint64_t* pcs, uint32_t most, const void* frame) {
  const uint32_t in_round = t_stacks++ % kTimeOneIn;
  const bool is_timed = in_round == t_place;
  // Drawn anew once a round, at its end: exactly one of each is timed.
  if (in_round == kTimeOneIn - 1) t_place = Draw();
  if (!is_timed) return MergePython(pcs, CaptureStack(pcs, most, frame), most);
  g_samples.fetch_add(kTimeOneIn, std::memory_order_relaxed);
  const uint64_t start = proto::ReadTicks(g_clock);
  const uint32_t frames = MergePython(pcs, CaptureStack(pcs, most, frame), most);
  Note(proto::ReadTicks(g_clock) - start);
  return frames;
}

void StackCostInit(proto::ClockKind clock, uint64_t ticks_per_second) {
  g_clock = clock;
  g_microsecond = ticks_per_second / 1'000'000;
}

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
