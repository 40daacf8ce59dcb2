// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/bootstrap_arena.h"

#include <atomic>

#include "inject/raw_syscall.h"

namespace gpuprof::inject::bootstrap {

alignas(64) char arena[kAllBytes];

namespace {

constinit std::atomic<bool> g_serves_tools = true;

std::atomic<size_t> g_used{0};

// Blocks for threads of gpuprof: powers of two with a header, from 32 bytes to 64 KiB.
constexpr int kFirstClass = 5;
constexpr int kLastClass = 16;

// As glibc's chunks begin, so that malloc_usable_size() answers for a block: a chunk that was
// mapped alone.
struct Header {
  size_t none;
  size_t size;  // of the whole block, and kMapped
};
constexpr size_t kMapped = 2;
static_assert(sizeof(Header) == 16);

struct FreeBlock {
  FreeBlock* next;
};

std::atomic<uint32_t> g_lock{0};
FreeBlock* g_free[kLastClass + 1];
size_t g_tool_used = 0;

// Held for a few instructions. A thread of the program that was interrupted while it held the lock
// goes on: threads of gpuprof yield to it.
class Guard {
 public:
  Guard() {
    while (g_lock.exchange(1, std::memory_order_acquire) != 0) raw::Call(SYS_sched_yield);
  }
  ~Guard() { g_lock.store(0, std::memory_order_release); }
};

Header* HeaderOf(const void* block) { return static_cast<Header*>(const_cast<void*>(block)) - 1; }

bool IsTools(const void* block) { return static_cast<const char*>(block) >= arena + kArenaBytes; }

void* Take(int size_class) {
  const size_t bytes = size_t{1} << size_class;
  const Guard guard;
  if (FreeBlock* block = g_free[size_class]; block != nullptr) {
    g_free[size_class] = block->next;
    return block;
  }
  if (g_tool_used + bytes > kToolBytes) return nullptr;
  void* block = arena + kArenaBytes + g_tool_used + sizeof(Header);
  g_tool_used += bytes;
  return block;
}

}  // namespace

void* Allocate(size_t bytes, size_t alignment) noexcept {
  if (alignment < 16) alignment = 16;
  if (alignment > 4096 || bytes > kArenaBytes) return nullptr;
  size_t used = g_used.load(std::memory_order_relaxed);
  for (;;) {
    const uintptr_t address =
        (reinterpret_cast<uintptr_t>(arena) + used + alignment - 1) & ~(alignment - 1);
    const size_t end = address - reinterpret_cast<uintptr_t>(arena) + bytes;
    if (end > kArenaBytes) return nullptr;
    if (g_used.compare_exchange_weak(used, end, std::memory_order_relaxed))
      return reinterpret_cast<void*>(address);
  }
}

void UseNoneForTools() noexcept { g_serves_tools.store(false, std::memory_order_relaxed); }

void* AllocateForTool(size_t bytes) noexcept {
  if (!g_serves_tools.load(std::memory_order_relaxed)) return nullptr;
  if (bytes > (size_t{1} << kLastClass) - sizeof(Header)) return nullptr;
  int size_class = kFirstClass;
  while ((size_t{1} << size_class) < bytes + sizeof(Header)) ++size_class;
  void* block = Take(size_class);
  if (block != nullptr) HeaderOf(block)->size = size_t{1} << size_class | kMapped;
  return block;
}

void Free(void* block) noexcept {
  if (!IsTools(block)) return;
  const size_t bytes = HeaderOf(block)->size & ~kMapped;
  const int size_class = __builtin_ctzl(bytes);
  auto* free_block = static_cast<FreeBlock*>(block);
  const Guard guard;
  free_block->next = g_free[size_class];
  g_free[size_class] = free_block;
}

void AfterForkInChild() noexcept { g_lock.store(0); }

size_t MostBytes(const void* block) noexcept {
  if (IsTools(block)) return (HeaderOf(block)->size & ~kMapped) - sizeof(Header);
  return kArenaBytes - static_cast<size_t>(static_cast<const char*>(block) - arena);
}

}  // namespace gpuprof::inject::bootstrap
