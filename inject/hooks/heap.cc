// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The malloc family. Dormant: one relaxed load and a tail call. Frees are recorded before the real
// free, when nobody else can own the address yet, allocations after the real call; a reallocation
// is a free (timed before the call) and an allocation.

#include <errno.h>

#include "inject/bootstrap_arena.h"
#include "inject/dormant.h"
#include "inject/heap_sampler.h"
#include "inject/hook_list.h"
#include "inject/own_room.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/tool_thread.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

using proto::HeapFunction;
using proto::Record;
using proto::RecordKind;

inline uint32_t HeapBits() {
  return g_process.recording.load(std::memory_order_relaxed) &
         (proto::kSourceHeap | kRecordHeapExact | kAllocateInHandler);
}

inline bool Exact(uint32_t bits) { return (bits & kRecordHeapExact) != 0; }

inline Record HeapRecord(RecordKind kind, HeapFunction function, uint8_t flags, const void* block,
                         uint64_t size, uint64_t time) {
  return {time,
          0,
          static_cast<uint8_t>(kind),
          flags,
          static_cast<uint16_t>(function),
          reinterpret_cast<uint64_t>(block),
          size};
}

// The coarse time where there is one, else `exact`, or if that is 0 the time now.
inline uint64_t ExactModeTime(const Recorder& recorder, uint64_t exact, uint8_t* flags) {
  const uint64_t coarse = g_process.exact_times == 0 ? recorder.CoarseNow() : 0;
  if (__builtin_expect(coarse == 0, 0)) return exact != 0 ? exact : recorder.Now();
  *flags |= proto::kFlagCoarseTime;
  return coarse;
}

void RecordAllocation(uint32_t bits, HeapFunction function, void* block, size_t size,
                      const void* frame) {
  const HookTimer timer;
  Recorder recorder(proto::kSourceHeap | kRecordHeapExact);
  if (!recorder.active()) return;
  uint8_t flags = 0;
  uint64_t time;
  if (Exact(bits)) {
    time = ExactModeTime(recorder, 0, &flags);
  } else {
    // While a handler allocates, every call comes here, and `Wanted` counted none of its bytes.
    if ((bits & kAllocateInHandler) != 0 && !SampleDue(size)) return;
    if (!TakeSample(size) || !RememberSampled(block)) return;
    flags = proto::kFlagSampled;
    time = recorder.Now();
  }
  recorder.WriteWithStack(HeapRecord(RecordKind::kHeapAlloc, function, flags, block, size, time),
                          frame);
}

void RecordFree(uint32_t bits, HeapFunction function, void* block) {
  const HookTimer timer;
  Recorder recorder(proto::kSourceHeap | kRecordHeapExact);
  if (!recorder.active()) return;
  uint8_t flags = 0;
  uint64_t time;
  if (Exact(bits)) {
    time = ExactModeTime(recorder, 0, &flags);
  } else {
    if (!ForgetSampled(block)) return;
    flags = proto::kFlagSampled;
    time = recorder.Now();
  }
  recorder.Write(HeapRecord(RecordKind::kHeapFree, function, flags, block, 0, time));
}

// Returns whether this event must take the slow path: exact mode, the sampling distance is used up,
// or a signal handler allocates.
inline bool Wanted(uint32_t bits, size_t size) {
  return __builtin_expect(bits != 0, 0) &&
         ((bits & (kRecordHeapExact | kAllocateInHandler)) != 0 || SampleDue(size));
}

inline bool IsInHandler(uint32_t bits) {
  return __builtin_expect((bits & kAllocateInHandler) != 0, 0) && AllocatesInHandler();
}

inline void BeforeFree(HeapFunction function, void* block) {
  const uint32_t bits = HeapBits();
  if (__builtin_expect(bits != 0, 0) && block != nullptr && (Exact(bits) || MayBeSampled(block))) {
    RecordFree(bits, function, block);
  }
}

// Whether the calling thread is gpuprof's. Asked only where its allocations are slow anyway.
inline bool IsTools() { return __builtin_expect(t_thread.tool >= kToolThread, 0); }

// A block of the static arrays: moved to the real heap.
void* MoveFromBootstrap(void* block, size_t size) {
  void* moved = IsTools() ? bootstrap::AllocateForTool(size) : nullptr;
  if (moved == nullptr) moved = real.malloc(size);
  if (moved == nullptr) return nullptr;
  const size_t most = bootstrap::MostBytes(block);
  __builtin_memcpy(moved, block, size < most ? size : most);
  bootstrap::Free(block);
  return moved;
}

// An allocation of gpuprof's own threads; null: the real allocator serves it. Zeroed, as calloc
// asks.
[[gnu::noinline]] void* AllocateForTool(size_t size) {
  void* block = bootstrap::AllocateForTool(size);
  return block == nullptr ? nullptr : __builtin_memset(block, 0, size);
}

// The recorded reallocation. The old block's free carries the time before the call: once the real
// function has run, another thread may own the old address, and its allocation must come later in
// the trace.
void* RecordReallocation(uint32_t bits, HeapFunction function, void* old, size_t size,
                         void* (*call)(void*, size_t), const void* frame) {
  const bool was_sampled =
      !Exact(bits) && old != nullptr && MayBeSampled(old) && ForgetSampled(old);
  const uint64_t before = proto::ReadTicks(g_process.clock);
  void* block = call(old, size);
  const bool failed = block == nullptr && size != 0;
  if (failed) {
    if (was_sampled) RememberSampled(old);
    return block;
  }
  {
    Recorder recorder(proto::kSourceHeap | kRecordHeapExact);
    if (recorder.active() && old != nullptr && (Exact(bits) || was_sampled)) {
      uint8_t flags = was_sampled ? proto::kFlagSampled : 0;
      const uint64_t time = Exact(bits) ? ExactModeTime(recorder, before, &flags) : before;
      recorder.Write(HeapRecord(RecordKind::kHeapFree, function, flags, old, 0, time));
    }
  }
  if (block != nullptr && Wanted(bits, size)) RecordAllocation(bits, function, block, size, frame);
  return block;
}

// A hook that hands on its own frame must be there until the call comes back: as its last call the
// compiler would leave the frame first.
inline void* NotItsLastCall(void* block) {
  asm volatile("" : "+r"(block));
  return block;
}

}  // namespace

// A hook whose allocation is recorded after the real call. Macro-free bodies would repeat these
// lines ten times.
#define GPUPROF_ALLOCATE_ALIGNED(function, size, call)                                             \
  const uint32_t bits = HeapBits();                                                                \
  if (__builtin_expect(!Wanted(bits, size), 1)) return call;                                       \
  if (IsInHandler(bits)) return bootstrap::Allocate(size, 0);                                      \
  void* block = call;                                                                              \
  if (block != nullptr) RecordAllocation(bits, function, block, size, __builtin_frame_address(0)); \
  return block

#define GPUPROF_ALLOCATE(function, size, call)                                                     \
  const uint32_t bits = HeapBits();                                                                \
  if (__builtin_expect(!Wanted(bits, size), 1)) return call;                                       \
  if (IsInHandler(bits)) return bootstrap::Allocate(size, 0);                                      \
  void* block = IsTools() ? AllocateForTool(size) : nullptr;                                       \
  if (block != nullptr) return block;                                                              \
  block = call;                                                                                    \
  if (__builtin_expect(block == nullptr, 0) && GiveBack(size)) block = call;                       \
  if (block != nullptr) RecordAllocation(bits, function, block, size, __builtin_frame_address(0)); \
  return block

extern "C" {

GPUPROF_EXPORT void* malloc(size_t size) {
  GPUPROF_ALLOCATE(HeapFunction::kMalloc, size, real.malloc(size));
}

GPUPROF_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    return real.calloc(count, size);  // fails as it should
  GPUPROF_ALLOCATE(HeapFunction::kCalloc, bytes, real.calloc(count, size));
}

GPUPROF_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  GPUPROF_ALLOCATE_ALIGNED(HeapFunction::kAlignedAlloc, size, real.aligned_alloc(alignment, size));
}

GPUPROF_EXPORT void* memalign(size_t alignment, size_t size) {
  GPUPROF_ALLOCATE_ALIGNED(HeapFunction::kMemalign, size, real.memalign(alignment, size));
}

GPUPROF_EXPORT void* valloc(size_t size) {
  GPUPROF_ALLOCATE_ALIGNED(HeapFunction::kValloc, size, real.valloc(size));
}

GPUPROF_EXPORT void* pvalloc(size_t size) {
  GPUPROF_ALLOCATE_ALIGNED(HeapFunction::kPvalloc, size, real.pvalloc(size));
}

GPUPROF_EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  const uint32_t bits = HeapBits();
  if (__builtin_expect(!Wanted(bits, size), 1)) return real.posix_memalign(out, alignment, size);
  const int result = real.posix_memalign(out, alignment, size);
  if (result == 0 && *out != nullptr) {
    RecordAllocation(bits, HeapFunction::kPosixMemalign, *out, size, __builtin_frame_address(0));
  }
  return result;
}

GPUPROF_EXPORT void* realloc(void* block, size_t size) {
  if (__builtin_expect(bootstrap::Owns(block), 0)) return MoveFromBootstrap(block, size);
  const uint32_t bits = HeapBits();
  if (__builtin_expect(bits == 0, 1)) return real.realloc(block, size);
  if (IsTools() && block == nullptr) return malloc(size);
  return NotItsLastCall(RecordReallocation(bits, HeapFunction::kRealloc, block, size, real.realloc,
                                           __builtin_frame_address(0)));
}

GPUPROF_EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    return real.reallocarray(block, count, size);  // fails as it should
  if (__builtin_expect(bootstrap::Owns(block), 0)) return MoveFromBootstrap(block, bytes);
  // With nothing recorded libc's function calls the program's realloc, which may be another
  // allocator's: `real` must not see its blocks.
  const uint32_t bits = HeapBits() & ~kAllocateInHandler;
  if (__builtin_expect(bits == 0, 1)) return real.reallocarray(block, count, size);
  return NotItsLastCall(RecordReallocation(bits, HeapFunction::kReallocarray, block, bytes,
                                           real.realloc, __builtin_frame_address(0)));
}

GPUPROF_EXPORT void free(void* block) {
  if (__builtin_expect(bootstrap::Owns(block), 0)) return bootstrap::Free(block);
  BeforeFree(HeapFunction::kFree, block);
  real.free(block);
}

GPUPROF_EXPORT void free_sized(void* block, size_t size) {
  if (__builtin_expect(bootstrap::Owns(block), 0)) return bootstrap::Free(block);
  BeforeFree(HeapFunction::kFreeSized, block);
  real.free_sized(block, size);
}

GPUPROF_EXPORT void free_aligned_sized(void* block, size_t alignment, size_t size) {
  if (__builtin_expect(bootstrap::Owns(block), 0)) return bootstrap::Free(block);
  BeforeFree(HeapFunction::kFreeAlignedSized, block);
  real.free_aligned_sized(block, alignment, size);
}

}  // extern "C"
