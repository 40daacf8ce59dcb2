// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/managed.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

constexpr uint64_t kPage = 4096;
// What a pool takes from the device at a time.
constexpr uint64_t kPoolStep = uint64_t{32} << 20;

struct State {
  std::mutex mutex;
  std::map<uint64_t, Allocation> allocations;
  std::map<int, uint64_t> used;
  std::map<int, CUmemoryPool> default_pools, current_pools;
  uint64_t next_pool = 0x7f0000000000;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

const char* SpaceName(Space space) {
  constexpr const char* kNames[] = {"", "", "pinned", "device", "", "managed"};
  return kNames[static_cast<int>(space)];
}

uint64_t Rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

void TellSinkOf(const Allocation& block, bool release, CUstream stream) {
  if (!Wants(kWantMemory)) return;
  TheSink()->MemoryChanged({.release = release,
                            .memory = static_cast<uint32_t>(block.space),
                            .address = block.address,
                            .bytes = block.bytes,
                            .context = block.context,
                            .stream = stream,
                            .pool = block.pool,
                            .correlation = CurrentCorrelation(),
                            .pc = CallerOfApi()});
}

void Tell(const Allocation& block, bool release, CUstream stream) {
  // Memory of the program's own was only made known: neither allocated nor released.
  if (block.registered) return;
  TruthLine(
      "{\"t\":\"%s\",\"space\":\"%s\",\"address\":%lu,\"bytes\":%lu,\"pool\":%lu,\"device\":%d,"
      "\"context\":%u,\"stream\":%u,\"correlation\":%u,\"tid\":%u,\"time\":%lu}",
      release ? "free" : "alloc", block.pool != nullptr ? "pool" : SpaceName(block.space),
      block.address, block.bytes, block.pool != nullptr ? block.pool->address : 0,
      block.context->device, block.context->id, stream != nullptr ? stream->id : 0,
      CurrentCorrelation(), CurrentTid(), Monotonic());
  TellSinkOf(block, release, stream);
}

void TellOfEnd(const Allocation& block) {
  if (block.registered) return;
  TruthLine(
      "{\"t\":\"end\",\"space\":\"%s\",\"address\":%lu,\"bytes\":%lu,\"device\":%d,\"context\":%u,"
      "\"time\":%lu}",
      SpaceName(block.space), block.address, block.bytes, block.context->device, block.context->id,
      Monotonic());
  if (TheScript().context_releases) TellSinkOf(block, true, nullptr);
}

void TellOfPool(CUmemoryPool pool, uint32_t what, uint64_t kept) {
  const char* const names[] = {"", "create", "destroy", "trim"};
  TruthLine(
      "{\"t\":\"pool\",\"op\":\"%s\",\"address\":%lu,\"device\":%d,\"size\":%lu,\"used\":%lu,"
      "\"threshold\":%lu,\"kept\":%lu,\"correlation\":%u,\"time\":%lu}",
      names[what], pool->address, pool->device, pool->reserved, pool->used, pool->threshold, kept,
      CurrentCorrelation(), Monotonic());
  if (Wants(kWantMemory)) TheSink()->PoolChanged(pool, what, kept, CurrentCorrelation());
}

void Charge(CUmemoryPool pool, uint64_t bytes) {
  const std::lock_guard lock(pool->mutex);
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  if (pool->used > pool->reserved) pool->reserved = Rounded(pool->used, kPoolStep);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
}

}  // namespace

CUresult Allocate(CUcontext context, size_t bytes, Space space, CUstream stream, CUmemoryPool pool,
                  void** result) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool counted = space != Space::kPinned;
  {
    const std::lock_guard lock(TheState().mutex);
    uint64_t& used = TheState().used[context->device];
    if (counted && used + bytes > TheScript().memory) return CUDA_ERROR_OUT_OF_MEMORY;
    if (counted) used += bytes;
  }
  void* block = mmap(nullptr, Rounded(bytes, kPage), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const Allocation made{reinterpret_cast<uint64_t>(block), bytes, space, context, pool, false};
  {
    const std::lock_guard lock(TheState().mutex);
    TheState().allocations[made.address] = made;
  }
  if (pool != nullptr) Charge(pool, bytes);
  if (space == Space::kManaged) AddManaged(made.address, bytes);
  *result = block;
  Tell(made, false, stream);
  return CUDA_SUCCESS;
}

CUresult Free(void* address, CUstream stream) {
  Allocation block;
  {
    const std::lock_guard lock(TheState().mutex);
    const auto found = TheState().allocations.find(reinterpret_cast<uint64_t>(address));
    if (found == TheState().allocations.end()) return CUDA_ERROR_INVALID_VALUE;
    block = found->second;
    TheState().allocations.erase(found);
    if (block.space != Space::kPinned) TheState().used[block.context->device] -= block.bytes;
  }
  if (block.pool != nullptr) {
    const std::lock_guard lock(block.pool->mutex);
    block.pool->used -= block.bytes;
  }
  if (block.space == Space::kManaged) RemoveManaged(block.address);
  Tell(block, true, stream);
  if (!block.registered) munmap(address, Rounded(block.bytes, kPage));
  return CUDA_SUCCESS;
}

void FreeWithContext(CUcontext context) {
  std::vector<Allocation> gone;
  {
    const std::lock_guard lock(TheState().mutex);
    std::erase_if(TheState().allocations, [&](const auto& entry) {
      const Allocation& block = entry.second;
      if (block.context != context || block.pool != nullptr) return false;
      if (block.space != Space::kPinned) TheState().used[context->device] -= block.bytes;
      gone.push_back(block);
      return true;
    });
  }
  for (const Allocation& block : gone) {
    if (block.space == Space::kManaged) RemoveManaged(block.address);
    TellOfEnd(block);
    if (!block.registered)
      munmap(reinterpret_cast<void*>(block.address), Rounded(block.bytes, kPage));
  }
}

CUresult Register(CUcontext context, void* address, size_t bytes) {
  const std::lock_guard lock(TheState().mutex);
  const auto key = reinterpret_cast<uint64_t>(address);
  if (TheState().allocations.count(key) != 0) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  TheState().allocations[key] = {key, bytes, Space::kPinned, context, nullptr, true};
  return CUDA_SUCCESS;
}

Allocation AllocationOf(const void* address) {
  const auto key = reinterpret_cast<uint64_t>(address);
  const std::lock_guard lock(TheState().mutex);
  auto found = TheState().allocations.upper_bound(key);
  if (found == TheState().allocations.begin()) return {};
  --found;
  return key < found->first + found->second.bytes ? found->second : Allocation{};
}

Space SpaceOf(const void* address) { return AllocationOf(address).space; }

uint64_t FreeMemory(int device) {
  const std::lock_guard lock(TheState().mutex);
  return TheScript().memory - TheState().used[device];
}

CUresult CreatePool(int device, CUmemoryPool* pool) {
  *pool = new CUmemPoolHandle_st;
  (*pool)->device = device;
  {
    const std::lock_guard lock(TheState().mutex);
    (*pool)->address = TheState().next_pool;
    TheState().next_pool += uint64_t{1} << 32;
  }
  TellOfPool(*pool, 1, 0);
  return CUDA_SUCCESS;
}

CUresult DestroyPool(CUmemoryPool pool) {
  if (pool == nullptr || !pool->alive.exchange(false)) return CUDA_ERROR_INVALID_VALUE;
  TellOfPool(pool, 2, 0);
  return CUDA_SUCCESS;
}

CUresult TrimPool(CUmemoryPool pool, size_t keep) {
  if (pool == nullptr || !pool->alive.load()) return CUDA_ERROR_INVALID_VALUE;
  {
    const std::lock_guard lock(pool->mutex);
    pool->reserved = std::min(pool->reserved, std::max<uint64_t>(pool->used, keep));
  }
  TellOfPool(pool, 3, keep);
  return CUDA_SUCCESS;
}

CUmemoryPool DefaultPool(int device) {
  {
    const std::lock_guard lock(TheState().mutex);
    const auto found = TheState().default_pools.find(device);
    if (found != TheState().default_pools.end()) return found->second;
  }
  CUmemoryPool pool;
  CreatePool(device, &pool);
  const std::lock_guard lock(TheState().mutex);
  return TheState().default_pools.emplace(device, pool).first->second;
}

CUmemoryPool CurrentPool(int device) {
  {
    const std::lock_guard lock(TheState().mutex);
    const auto found = TheState().current_pools.find(device);
    if (found != TheState().current_pools.end()) return found->second;
  }
  return DefaultPool(device);
}

void SetCurrentPool(int device, CUmemoryPool pool) {
  const std::lock_guard lock(TheState().mutex);
  TheState().current_pools[device] = pool;
}

}  // namespace fake_gpu
