// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The communicators of the process, from their begin to their end. Any thread: no lock, no heap.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject::nccl {

inline constexpr uint32_t kMostNameBytes = 40;

struct Communicator {
  std::atomic<uint32_t> is_used;
  uint32_t ranks;  // 0: not known
  uint32_t nodes;  // 0: not known
  std::atomic<uint64_t> id;
  char name[kMostNameBytes];
};

// Returns the communicator's place; null: there is no room.
Communicator* AddCommunicator(uint64_t id, const char* name, uint32_t ranks,
                              uint32_t nodes) noexcept;
void RemoveCommunicator(Communicator* communicator) noexcept;

}  // namespace gpuprof::inject::nccl
