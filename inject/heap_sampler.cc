// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/heap_sampler.h"
#include "inject/own_room.h"

#include <sys/mman.h>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

constexpr uint32_t kSlots = 1u << 18;  // 2 MiB of addresses, touched as needed
constexpr uint32_t kMostProbes = 64;
constexpr uint64_t kEmpty = 0;
constexpr uint64_t kGone = 1;

uint64_t NextRandom(uint64_t* state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545f4914f6cdd1du;
}

// -ln(u) for u = (bits + 1) / 2^53 in (0, 1], without libm: u = m * 2^-k with m in [0.5, 1), ln m
// by the atanh series, whose remainder is below 1e-9 there.
double MinusLog(uint64_t random) {
  const uint64_t bits = (random >> 11) + 1;      // 1 .. 2^53
  const int shift = __builtin_clzll(bits) - 10;  // so that bits << shift lies in [2^53, 2^54)
  const double m = static_cast<double>(bits << shift) / 18014398509481984.0;  // 2^54
  const double z = (m - 1) / (m + 1);
  const double q = z * z;
  double series = 0;
  for (int n = 19; n >= 1; n -= 2) series = series * q + 1.0 / n;
  return 0.69314718055994530942 * (shift - 1) - 2 * z * series;
}

uint32_t HomeSlot(uint64_t address) {
  return static_cast<uint32_t>((address >> 4) * 0xff51afd7ed558ccdu >> 46);  // 18 bits
}

void FilterAdd(const void* block) {
  std::atomic<uint8_t>& count = g_process.filter[FilterBucket(block)];
  uint8_t seen = count.load(std::memory_order_relaxed);
  // A saturated bucket stays: it only costs a look into the table.
  while (seen != 255 && !count.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {}
}

void FilterRemove(const void* block) {
  std::atomic<uint8_t>& count = g_process.filter[FilterBucket(block)];
  uint8_t seen = count.load(std::memory_order_relaxed);
  while (seen != 255 && seen != 0 &&
         !count.compare_exchange_weak(seen, seen - 1, std::memory_order_relaxed)) {}
}

void Draw(ThreadState* thread) {
  thread->bytes_until_sample = static_cast<uint64_t>(MinusLog(NextRandom(&thread->random)) *
                                                     static_cast<double>(g_process.heap_period));
}

}  // namespace

bool TakeSample(size_t bytes) noexcept {
  ThreadState& thread = t_thread;
  if (thread.random == 0) {
    thread.random = (proto::ReadTicks(g_process.clock) ^
                     reinterpret_cast<uint64_t>(&thread) * 0x9e3779b97f4a7c15u) |
                    1;
    NextRandom(&thread.random);
    Draw(&thread);
    if (!SampleDue(bytes)) return false;
  }
  Draw(&thread);
  return true;
}

bool RememberSampled(const void* block) noexcept {
  std::atomic<uint64_t>* table = g_process.sampled;
  if (table == nullptr) return false;  // in a child that does not record, see interrupted_hook.h
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  uint32_t slot = HomeSlot(address);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) & (kSlots - 1)) {
    uint64_t seen = table[slot].load(std::memory_order_relaxed);
    if (seen == address) return true;  // its free escaped us
    if (seen > kGone ||
        !table[slot].compare_exchange_strong(seen, address, std::memory_order_relaxed))
      continue;
    FilterAdd(block);
    return true;
  }
  if (g_process.ring_file != nullptr)
    g_process.ring_file->table_full.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool ForgetSampled(const void* block) noexcept {
  std::atomic<uint64_t>* table = g_process.sampled;
  if (table == nullptr) return false;
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  uint32_t slot = HomeSlot(address);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) & (kSlots - 1)) {
    uint64_t seen = table[slot].load(std::memory_order_relaxed);
    if (seen == kEmpty) return false;
    if (seen != address) continue;
    if (!table[slot].compare_exchange_strong(seen, kGone, std::memory_order_relaxed)) return false;
    FilterRemove(block);
    return true;
  }
  return false;
}

bool ResetSampled() noexcept {
  constexpr size_t kBytes = kSlots * sizeof(uint64_t);
  if (g_process.sampled != nullptr) {
    // Gives the pages back and reads as zero afterwards.
    raw::Call(SYS_madvise, raw::Arg(g_process.sampled), kBytes, MADV_DONTNEED);
    for (std::atomic<uint8_t>& count : g_process.filter) count.store(0, std::memory_order_relaxed);
  } else {
    g_process.sampled = static_cast<std::atomic<uint64_t>*>(MapPages(kBytes));
    if (g_process.sampled == nullptr) return false;
  }
  return true;
}

}  // namespace gpuprof::inject
