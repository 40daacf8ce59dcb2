// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nccl/communicators.h"

#include <string.h>
#include <sys/mman.h>

#include "inject/own_room.h"

namespace gpuprof::inject::nccl {
namespace {

// More communicators at a time are not told apart from none: their events are counted as lost.
constexpr uint32_t kMostCommunicators = 4096;

std::atomic<Communicator*> g_communicators{nullptr};

Communicator* Table() {
  Communicator* table = g_communicators.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  constexpr size_t kBytes = kMostCommunicators * sizeof(Communicator);
  auto* mapped = static_cast<Communicator*>(MapPages(kBytes, MAP_NORESERVE));
  if (mapped == nullptr) return nullptr;
  if (g_communicators.compare_exchange_strong(table, mapped)) return mapped;
  UnmapPages(mapped, kBytes);
  return table;
}

}  // namespace

Communicator* AddCommunicator(uint64_t id, const char* name, uint32_t ranks,
                              uint32_t nodes) noexcept {
  Communicator* table = Table();
  for (uint32_t i = 0; table != nullptr && i < kMostCommunicators; ++i) {
    Communicator& place = table[i];
    uint32_t expected = 0;
    if (!place.is_used.compare_exchange_strong(expected, 1, std::memory_order_acq_rel)) continue;
    place.id.store(id, std::memory_order_relaxed);
    place.ranks = ranks;
    place.nodes = nodes;
    memset(place.name, 0, sizeof(place.name));
    if (name != nullptr) memcpy(place.name, name, strnlen(name, sizeof(place.name) - 1));
    return &place;
  }
  return nullptr;
}

void RemoveCommunicator(Communicator* communicator) noexcept {
  communicator->is_used.store(0, std::memory_order_release);
}

}  // namespace gpuprof::inject::nccl
