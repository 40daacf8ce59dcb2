// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The communicators of the process, from their begin to their end. Any thread: no lock, no heap.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject::nccl {

// NCCL's operations. The first ones have the numbers of version 1 of the interface.
inline constexpr const char* kOperations[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                              "AllReduce", "SendRecv", "Send",      "Recv",
                                              "AlltoAll",  "Gather",   "Scatter"};
inline constexpr uint32_t kOperationCount = sizeof(kOperations) / sizeof(kOperations[0]);

inline constexpr uint32_t kMostNameBytes = 40;

struct Communicator {
  std::atomic<uint32_t> is_used;
  uint32_t ranks;  // 0: not known
  uint32_t nodes;  // 0: not known
  std::atomic<uint64_t> id;
  char name[kMostNameBytes];
  // NCCL counts the collectives of each operation. What it has not named is one operation more.
  std::atomic<uint64_t> counts[kOperationCount + 1];
};

// Returns the communicator's place; null: there is no room.
Communicator* AddCommunicator(uint64_t id, const char* name, uint32_t ranks,
                              uint32_t nodes) noexcept;
void RemoveCommunicator(Communicator* communicator) noexcept;

// Returns the number of a collective among all of its communicator, from 0. `number`: NCCL's, among
// those of the operation. All ranks count alike, as NCCL leaves out what a graph replays.
uint64_t NumberAmongAll(Communicator* communicator, const char* operation,
                        uint64_t number) noexcept;

}  // namespace gpuprof::inject::nccl
