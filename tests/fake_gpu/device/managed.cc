// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/managed.h"

#include <map>
#include <mutex>
#include <vector>

#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

// CUPTI's numbers: of kinds, of causes, of an access.
constexpr uint32_t kToDevice = 1, kToHost = 2, kGpuPageFault = 4, kBetweenDevices = 8;
constexpr uint32_t kUser = 1, kCoherence = 2, kRead = 1;
constexpr uint64_t kFaultTime = 15'000;
constexpr uint64_t kFaultsOfAGroup = 3;

struct Block {
  uint64_t bytes = 0;
  int where = kHost;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Block> blocks;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

// Asked for each kernel.
std::atomic<size_t> block_count{0};

// The host has no number among the devices; CUPTI tells 0.
uint32_t NumberOf(int place) { return place == kHost ? 0 : static_cast<uint32_t>(place); }

void Tell(const Migration& m) {
  TruthLine(
      "{\"t\":\"um\",\"counter\":%u,\"value\":%lu,\"address\":%lu,\"source\":%u,\"destination\":%u,"
      "\"flags\":%u,\"start\":%lu,\"end\":%lu}",
      m.counter, m.value, m.address, m.source, m.destination, m.flags, m.start, m.end);
  if (Wants(kWantManaged)) TheSink()->Migrated(m);
}

void TellOfMove(uint64_t address, uint64_t bytes, int from, int to, uint32_t cause, Span span) {
  const uint32_t counter = to == kHost ? kToHost : from == kHost ? kToDevice : kBetweenDevices;
  Tell({.counter = counter,
        .value = bytes,
        .address = address,
        .source = NumberOf(from),
        .destination = NumberOf(to),
        .flags = cause,
        .start = span.start,
        .end = span.end});
}

}  // namespace

void AddManaged(uint64_t address, size_t bytes) {
  const std::lock_guard lock(TheState().mutex);
  TheState().blocks[address] = {bytes, kHost};
  block_count.store(TheState().blocks.size());
}

void RemoveManaged(uint64_t address) {
  const std::lock_guard lock(TheState().mutex);
  TheState().blocks.erase(address);
  block_count.store(TheState().blocks.size());
}

CUresult PrefetchManaged(uint64_t address, int to, CUstream stream) {
  if (!Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  Block before;
  {
    const std::lock_guard lock(TheState().mutex);
    const auto found = TheState().blocks.find(address);
    if (found == TheState().blocks.end()) return CUDA_ERROR_INVALID_VALUE;
    before = found->second;
    found->second.where = to;
  }
  if (before.where == to) return CUDA_SUCCESS;
  const Engine engine = to == kHost             ? Engine::kFromDevice
                        : before.where == kHost ? Engine::kToDevice
                                                : Engine::kCompute;
  const Span span = Schedule(stream, engine, CopyDuration(before.bytes));
  TellOfMove(address, before.bytes, before.where, to, kUser, span);
  return CUDA_SUCCESS;
}

void TouchManaged(int device, uint64_t start) {
  if (block_count.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  std::vector<std::pair<uint64_t, Block>> missing;
  {
    const std::lock_guard lock(TheState().mutex);
    for (auto& [address, block] : TheState().blocks) {
      if (block.where == device) continue;
      missing.emplace_back(address, block);
      block.where = device;
    }
  }
  for (const auto& [address, block] : missing) {
    Tell({.counter = kGpuPageFault,
          .value = kFaultsOfAGroup,
          .address = address,
          .source = NumberOf(device),
          .flags = kRead,
          .start = start,
          .end = start + kFaultTime});
    const Span span = {start + kFaultTime, start + kFaultTime + CopyDuration(block.bytes)};
    TellOfMove(address, block.bytes, block.where, device, kCoherence, span);
  }
}

}  // namespace fake_gpu
