// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Everything a hook looks at: the process's recording state and the thread's own.
//
// ProcessState fills whole pages that the kernel wipes in forked children (MADV_WIPEONFORK). A
// child made behind gpuprof's back, by a raw clone, finds every hook off and writes into no ring.
// Zero is the dormant state.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/contract.h"
#include "proto/control.h"
#include "proto/ring.h"
#include "tracer/tracer.h"

namespace gpuprof::inject {

// Bits next to proto::kSource*, so that hooks need one test: the heap's exact mode.
inline constexpr uint32_t kRecordHeapExact = 1u << 31;
// A signal handler is making a thread (inject/dormant.h): its allocations are not the program's.
inline constexpr uint32_t kAllocateInHandler = 1u << 30;

inline constexpr uint32_t kFilterBuckets = 16384;

struct alignas(proto::kPageBytes) ProcessState {
  // The word every hook reads. 0: dormant.
  std::atomic<uint32_t> recording;
  // Bumped whenever threads must look for a new ring (fork, exec that failed).
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> ring_file_state;  // 0 none, 1 being made, 2 ready
  int pid;
  proto::ClockKind clock;
  uint32_t heap_period;
  uint32_t stack_depth;
  uint32_t exact_times;
  uint32_t waits_for_room;  // 1: a thread waits for the drain if its ring is full
  uint32_t is_forked;
  std::atomic<uint32_t> unnamed_threads;   // threads of gpuprof that look like the program's as yet
  std::atomic<uint32_t> may_have_threads;  // not 0 while gpuprof may have threads: own_threads.h
  std::atomic<int32_t> own_threads[64];    // their numbers, and those of some that have ended
  std::atomic<uint32_t> next_track;
  std::atomic<uint64_t> ring_bytes_used;
  std::atomic<uint32_t> ring_count;
  std::atomic<uint32_t> capture_state;  // proto::CaptureState
  std::atomic<uint32_t> captures;
  std::atomic<uint64_t> begin_cpu_ns;  // CPU time when the latest capture began
  proto::RingFileHeader* ring_file;
  std::atomic<uint64_t>* sampled;  // addresses of live sampled blocks, open addressing
  const tracer::Api* tracer;
  // Set once the tracer's session is ready to take stacks.
  std::atomic<uint32_t> can_unwind;
  std::atomic<uint32_t> session;  // 1: tracer->start succeeded and finish was not called
  std::atomic<uint32_t>
      drain_wanted;  // 1: a ring wants to be emptied; the drain thread sleeps on it
  // Counts for the ring file's thread_edges, from before the file was there.
  std::atomic<uint64_t> early_thread_edges;
  std::atomic<uint32_t> finished;               // 1: no more recording in this image
  std::atomic<uint8_t> filter[kFilterBuckets];  // how many sampled blocks hash here; saturates
};

extern ProcessState g_process;
// Rings by slot, outside the wiped pages: only written with g_process.ring_count.
extern proto::RingHeader* g_rings[proto::kMaxRings];
// The settings, parsed once; file_stem and start_id change in forked children.
extern tracer::Settings g_settings;
extern uint64_t g_ring_memory;
// Not 0 once every library that the program was linked with has run its constructors.
extern std::atomic<uint32_t> g_program_started;

// Namespaces that the program made with dlmopen, whose libraries are not recorded.
extern std::atomic<uint32_t> g_namespaces;

// ThreadState::refused.
inline constexpr uint8_t kNoRing = 1;
inline constexpr uint8_t kThreadOver = 2;

// Per thread, initial-exec: one load from the thread pointer. Keep it small, every thread stack
// pays for it.
struct ThreadState {
  proto::RingHeader* ring;
  uint64_t bytes_until_sample;  // less than 40 periods: no call that asks for more escapes
  uint64_t random;
  uint32_t hooks_until_timed;  // 0: not drawn yet
  uint32_t generation;         // of `ring`; differs from the process's: none yet
  uint8_t busy;                // inside our code: hooks pass through
  uint8_t tool;                // one of our threads
  uint8_t exiting;             // rounds of key destructors seen
  uint8_t refused;             // kNoRing, kThreadOver: no ring in this generation
  uint16_t timed_place;        // of the last hook that was timed, in its round
  uint8_t forks;               // in a fork: the drain stands still for it
};
static_assert(sizeof(ThreadState) <= 64);

extern __thread ThreadState t_thread __attribute__((tls_model("initial-exec")));

inline bool Recording(uint32_t sources) noexcept {
  return __builtin_expect((g_process.recording.load(std::memory_order_relaxed) & sources) != 0, 0);
}

}  // namespace gpuprof::inject
