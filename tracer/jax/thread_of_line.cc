// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thread_of_line.h.

#include "tracer/jax/thread_of_line.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

namespace gpuprof::tracer::jax {
namespace {

constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995, kSeed = 0xc70f6907;
// Highest thread number of Linux.
constexpr uint64_t kMostThreads = 1u << 22;
// So far from a thread's address libc's own number is looked for.
constexpr size_t kMostBytes = 1024;

constexpr uint64_t Inverse(uint64_t odd) {
  uint64_t inverse = odd;  // right in 3 bits; each round doubles them
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}
constexpr uint64_t kInverse = Inverse(kMultiplier);
static_assert(kMultiplier * kInverse == 1);

constexpr uint64_t Mix(uint64_t value) { return value ^ value >> 47; }  // its own inverse

// Reads memory that may be gone.
bool Read(uint64_t address, void* to, size_t bytes) {
  const iovec own = {to, bytes};
  const iovec there = {reinterpret_cast<void*>(address), bytes};
  return syscall(SYS_process_vm_readv, getpid(), &own, 1, &there, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

// Returns where libc keeps a thread's number, from its address; 0: it was not found. Of the calling
// thread the number is known.
size_t PlaceOfNumber() {
  static size_t place = 0;
  static bool was_looked_for = false;
  if (was_looked_for) return place;
  was_looked_for = true;
  uint32_t words[kMostBytes / sizeof(uint32_t)];
  if (!Read(pthread_self(), words, sizeof words)) return 0;
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  for (size_t i = 1; i < kMostBytes / sizeof(uint32_t); ++i) {
    if (words[i] != tid) continue;
    if (place != 0) return place = 0;
    place = i * sizeof(uint32_t);
  }
  return place;
}

}  // namespace

uint64_t Unhash(uint64_t hash) {
  uint64_t value = Mix(hash) * kInverse;
  value = Mix(value) * kInverse;
  value ^= kSeed ^ (sizeof(uint64_t) * kMultiplier);
  return Mix(value * kInverse) * kInverse;
}

uint32_t ThreadOfLine(uint64_t line) {
  if (line != 0 && line <= kMostThreads) return static_cast<uint32_t>(line);
  const size_t place = PlaceOfNumber();
  uint32_t tid = 0;
  if (place == 0 || !Read(Unhash(line) + place, &tid, sizeof tid)) return 0;
  return tid <= kMostThreads ? tid : 0;
}

}  // namespace gpuprof::tracer::jax
