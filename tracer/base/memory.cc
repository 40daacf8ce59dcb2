// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Two ways: small blocks from free lists by power of two, cut from mapped slabs; larger ones mapped
// singly. Every block is preceded by 16 bytes that hold its size, so that delete needs no lookup.
// The few functions through which the standard library's headers report errors are defined here
// too: this object has no libstdc++ and must never end the host.

#include "tracer/base/memory.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

#include "proto/ring.h"
#include "tracer/base/map_table.h"

namespace gpuprof::tracer {
namespace {

constexpr size_t kHeaderBytes = 16;
constexpr size_t kSlabBytes = 256 * 1024;
constexpr int kFirstClass = 5;  // 32 bytes with header
constexpr int kLastClass = 15;  // 32 KiB
// Served beyond the limit so that the drain can come to an orderly end.
constexpr uint64_t kReserve = 4u << 20;

struct FreeBlock {
  FreeBlock* next;
};

std::atomic<uint32_t> g_lock{0};
FreeBlock* g_free[kLastClass + 1];
char* g_slab = nullptr;
size_t g_slab_left = 0;
std::atomic<uint64_t> g_mapped{0};
std::atomic<bool> g_exhausted{false};
std::atomic<bool> g_has_parked{false};
std::atomic<pid_t> g_may_leave{0};  // the thread that has g_way_out
void* g_way_out[5];
std::atomic<uint64_t> g_limit{64u << 20};
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

class Guard {
 public:
  Guard() {
    while (g_lock.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  }
  ~Guard() { g_lock.store(0, std::memory_order_release); }
};

void* MapPages(size_t bytes) {
  const uint64_t limit = g_limit.load(std::memory_order_relaxed);
  if (g_mapped.load(std::memory_order_relaxed) + bytes > limit) g_exhausted.store(true);
  if (g_mapped.load(std::memory_order_relaxed) + bytes > limit + kReserve) return nullptr;
  NoteMapped(static_cast<int64_t>(bytes));
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    NoteMapped(-static_cast<int64_t>(bytes));
    g_exhausted.store(true);
    return nullptr;
  }
  g_mapped.fetch_add(bytes, std::memory_order_relaxed);
  return pages;
}

size_t RoundToPages(size_t bytes) {
  return (bytes + proto::kPageBytes - 1) & ~size_t{proto::kPageBytes - 1};
}

int ClassOf(size_t bytes) {
  int size_class = kFirstClass;
  while ((size_t{1} << size_class) < bytes) ++size_class;
  return size_class;
}

void* AllocateSmall(int size_class) {
  const size_t bytes = size_t{1} << size_class;
  Guard guard;
  if (FreeBlock* block = g_free[size_class]; block != nullptr) {
    g_free[size_class] = block->next;
    return block;
  }
  if (g_slab_left < bytes) {
    char* slab = static_cast<char*>(MapPages(kSlabBytes));
    if (slab == nullptr) return nullptr;
    g_slab = slab;  // the rest of the old one is lost: below 32 KiB in 256
    g_slab_left = kSlabBytes;
  }
  void* block = g_slab;
  g_slab += bytes;
  g_slab_left -= bytes;
  return block;
}

void* Allocate(size_t bytes) {
  const size_t total = bytes + kHeaderBytes;
  const bool small = total <= (size_t{1} << kLastClass);
  void* block = small ? AllocateSmall(ClassOf(total)) : MapPages(RoundToPages(total));
  if (block == nullptr) return nullptr;
  *static_cast<size_t*>(block) = total;
  return static_cast<char*>(block) + kHeaderBytes;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  void* block = static_cast<char*>(memory) - kHeaderBytes;
  const size_t total = *static_cast<size_t*>(block);
  if (total > (size_t{1} << kLastClass)) {
    munmap(block, RoundToPages(total));
    g_mapped.fetch_sub(RoundToPages(total), std::memory_order_relaxed);
    NoteMapped(-static_cast<int64_t>(RoundToPages(total)));
    return;
  }
  const int size_class = ClassOf(total);
  Guard guard;
  auto* free_block = static_cast<FreeBlock*>(block);
  free_block->next = g_free[size_class];
  g_free[size_class] = free_block;
}

// Not gettid(): younger than the oldest libc that we run with.
pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Where a thread ends up that cannot go on. A tool thread sleeps, a program's leaves its work: the
// program does not notice, the rings keep what they have.
[[noreturn]] void Park() {
  if (g_may_leave.load() == ThreadId()) __builtin_longjmp(g_way_out, 1);
  g_exhausted.store(true);
  g_has_parked.store(true);
  for (;;) pause();
}

}  // namespace

uint64_t MemoryBytes() { return g_mapped.load(std::memory_order_relaxed); }
void MemorySetLimit(uint64_t limit) {
  g_limit.store(limit, std::memory_order_relaxed);
  g_exhausted.store(MemoryBytes() > limit);
}
bool MemoryIsShort() { return MemoryBytes() > g_limit.load(std::memory_order_relaxed) / 8 * 3; }
bool MemoryExhausted() { return g_exhausted.load(std::memory_order_relaxed); }
bool MemoryHasParked() { return g_has_parked.load(std::memory_order_relaxed); }

[[gnu::noinline]] bool MemoryRunOrLeave(void (*work)()) {
  g_limit.store(kNoLimit, std::memory_order_relaxed);
  if (__builtin_setjmp(g_way_out) != 0) {
    g_may_leave.store(0);
    return false;
  }
  g_may_leave.store(ThreadId());
  work();
  g_may_leave.store(0);
  return true;
}

void MemoryAfterForkChild() {
  g_lock.store(0, std::memory_order_relaxed);
  g_has_parked.store(false);
}

}  // namespace gpuprof::tracer

void* operator new(size_t bytes) {
  void* memory = gpuprof::tracer::Allocate(bytes);
  if (memory == nullptr) gpuprof::tracer::Park();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return gpuprof::tracer::Allocate(bytes);
}
void operator delete(void* memory) noexcept { gpuprof::tracer::Free(memory); }
void operator delete[](void* memory) noexcept { gpuprof::tracer::Free(memory); }
void operator delete(void* memory, size_t) noexcept { gpuprof::tracer::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { gpuprof::tracer::Free(memory); }

namespace std {
__attribute__((noreturn)) void __throw_length_error(const char*) { gpuprof::tracer::Park(); }
__attribute__((noreturn)) void __throw_bad_alloc() { gpuprof::tracer::Park(); }
__attribute__((noreturn)) void __throw_bad_array_new_length() { gpuprof::tracer::Park(); }
__attribute__((noreturn)) void __throw_out_of_range_fmt(const char*, ...) {
  gpuprof::tracer::Park();
}
}  // namespace std

// A virtual function of a class under construction was called: cannot happen, but the object must
// not need libstdc++ for it.
extern "C" [[noreturn]] void __cxa_pure_virtual() { gpuprof::tracer::Park(); }
