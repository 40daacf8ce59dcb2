// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Nanoseconds per captured stack at depths 10, 20 and 40: our walk where the stack is the same as
// last time, our walk where the inner half is another one each time, frame pointers alone, and
// beside them libunwind's own fast path and the compiler's unwinder. Last, what a C++ throw through
// 10 frames costs with all of that loaded.

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include "tracer/stack/fp_walk.h"
#include "tracer/stack/stack_bounds.h"
#include "tracer/stack/stack_capture.h"

// Of libunwind's local mode, which the product does not use.
extern "C" int unw_backtrace(void** buffer, int size);

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kMost = 127;
uint64_t pcs[kMost + 1];

// The C library's own: the static libunwind offers the same name.
using BacktraceFunction = int (*)(void** buffer, int size);
const BacktraceFunction libc_backtrace = reinterpret_cast<BacktraceFunction>(
    dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "backtrace"));

enum Way : int { kRules, kFramePointers, kLibunwind, kCompiler };

[[gnu::noinline]] uint32_t Hook(Way way) {
  const void* frame = __builtin_frame_address(0);
  switch (way) {
    case kRules:
      return CaptureStack(pcs, kMost, frame);
    case kFramePointers:
      return WalkFramePointers(StartOf(frame), BoundsOf(reinterpret_cast<uint64_t>(frame)), pcs,
                               kMost);
    case kLibunwind:
      return static_cast<uint32_t>(unw_backtrace(reinterpret_cast<void**>(pcs), kMost));
    default:
      return static_cast<uint32_t>(libc_backtrace(reinterpret_cast<void**>(pcs), kMost));
  }
}

using Body = void (*)(benchmark::State& state, Way way);

[[gnu::noinline]] void Nest(int depth, Body body, benchmark::State& state, Way way) {
  if (depth == 0) {
    body(state, way);
  } else {
    Nest(depth - 1, body, state, way);
  }
  asm volatile("");  // no tail call
}

void SameStack(benchmark::State& state, Way way) {
  uint32_t frames = 0;
  for (auto _ : state) frames = Hook(way);
  state.counters["frames"] = frames;
}

[[gnu::noinline]] uint32_t Inner(int depth, int pad) {
  volatile char space[64];
  space[0] = static_cast<char>(pad);
  const uint32_t frames = depth == 0 ? Hook(kRules) : Inner(depth - 1, pad);
  asm volatile("");
  return frames + (space[0] != static_cast<char>(pad));
}
[[gnu::noinline]] uint32_t OtherInner(int depth, int pad) {
  volatile char space[160];
  space[0] = static_cast<char>(pad);
  const uint32_t frames = depth == 0 ? Hook(kRules) : OtherInner(depth - 1, pad);
  asm volatile("");
  return frames + (space[0] != static_cast<char>(pad));
}

void ChangingInnerHalf(benchmark::State& state, Way) {
  const int half = static_cast<int>(state.range(0)) / 2;
  uint32_t frames = 0;
  bool other = false;
  for (auto _ : state) {
    frames = other ? OtherInner(half, 1) : Inner(half, 1);
    other = !other;
  }
  state.counters["frames"] = frames;
}

void BM_Same(benchmark::State& state) {
  StackInit(kMost);
  const Way way = static_cast<Way>(state.range(1));
  Nest(static_cast<int>(state.range(0)), SameStack, state, way);
}
BENCHMARK(BM_Same)
    ->ArgNames({"depth", "way"})
    ->ArgsProduct({{10, 20, 40}, {kRules, kFramePointers, kLibunwind, kCompiler}});

void BM_ChangingInnerHalf(benchmark::State& state) {
  StackInit(kMost);
  Nest(static_cast<int>(state.range(0)) / 2, ChangingInnerHalf, state, kRules);
}
BENCHMARK(BM_ChangingInnerHalf)->Arg(10)->Arg(20)->Arg(40);

void BM_FirstSightOfARule(benchmark::State& state) {
  StackInit(kMost);
  uint32_t frames = 0;
  for (auto _ : state) {
    state.PauseTiming();
    StackModulesChanged();
    state.ResumeTiming();
    frames = Hook(kRules);
  }
  state.counters["frames"] = frames;
}
BENCHMARK(BM_FirstSightOfARule)->Iterations(2000);

[[gnu::noinline]] void ThrowFrom(int depth) {
  if (depth == 0) throw 1;
  ThrowFrom(depth - 1);
  asm volatile("");
}

void BM_ThrowThroughTenFrames(benchmark::State& state) {
  StackInit(kMost);
  for (auto _ : state) {
    try {
      ThrowFrom(10);
    } catch (int) {}
  }
}
BENCHMARK(BM_ThrowThroughTenFrames);

}  // namespace
}  // namespace gpuprof::tracer

BENCHMARK_MAIN();
