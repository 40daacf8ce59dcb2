// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The structs of NCCL's profiler plugin interface, as far as collectives and messages need them:
// versions 1 (NCCL 2.23) to 6 (2.30). NCCL looks for ncclProfiler_v6, then for older versions, and
// hands each version its own descriptors.
//
// Source: src/include/plugin/profiler/profiler_v1.h to profiler_v6.h of NCCL.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::nccl {

// Types of events, a bit each. Version 5 has 64 bits, and those of the types that are not read here
// are above the lowest eight.
inline constexpr uint8_t kCollectiveEvent = 1u << 1;
inline constexpr uint8_t kMessageEvent = 1u << 2;

struct EventHead {
  uint8_t type;
  void* parent;
  int rank;  // in the communicator
};

// Numbers stand for operations, types, algorithms and protocols.
struct CollectiveV1 {
  EventHead head;
  const char* communicator_name;
  uint64_t communicator;
  uint64_t number;
  uint8_t operation;
  const void* sent;
  void* received;
  size_t count;
  int root;
  uint8_t type;
  uint32_t reduction;
  size_t traffic_bytes;
  uint8_t channels;
  uint8_t warps;
  uint8_t algorithm;
  uint8_t protocol;
  int is_collnet;
  int is_nvls;
};
struct MessageV1 {
  EventHead head;
  const char* communicator_name;
  uint64_t communicator;
  uint8_t operation;
  void* buffer;
  uint8_t type;
  size_t count;
  int peer;
};

struct CollectiveV2 {
  EventHead head;
  const char* communicator_name;
  uint64_t communicator;
  uint64_t number;
  const char* operation;
  const void* sent;
  void* received;
  size_t count;
  int root;
  const char* type;
  size_t traffic_bytes;
  uint8_t channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct CollectiveV3 {
  EventHead head;
  const char* communicator_name;
  uint64_t communicator;
  uint64_t number;
  const char* operation;
  const void* sent;
  void* received;
  size_t count;
  int root;
  const char* type;
  uint8_t channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
// Version 3 has the same.
struct MessageV2 {
  EventHead head;
  const char* communicator_name;
  uint64_t communicator;
  const char* operation;
  void* buffer;
  const char* type;
  size_t count;
  int peer;
};

// Versions 5 and 6 have the same up to here.
struct CollectiveV4 {
  EventHead head;
  uint64_t number;
  const char* operation;
  const void* sent;
  void* received;
  size_t count;
  int root;
  const char* type;
  uint8_t channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct MessageV4 {
  EventHead head;
  const char* operation;
  void* buffer;
  const char* type;
  size_t count;
  int peer;
  uint8_t channels;
};

// What a plugin exports. All functions return 0: anything else is an error.
template <typename Initialize>
struct Plugin {
  const char* name;
  Initialize* initialize;
  int (*start)(void* context, void** handle, const void* descriptor);
  int (*stop)(void* handle);
  int (*tell)(void* handle, int state, void* details);
  int (*finish)(void* context);
};
using InitializeV1 = int(void** context, int* mask);
using InitializeV4 = int(void** context, int* mask, const char* name, uint64_t communicator,
                         int nodes, int ranks, int rank, void* log);
using InitializeV5 = int(void** context, uint64_t communicator, int* mask, const char* name,
                         int nodes, int ranks, int rank, void* log);

}  // namespace gpuprof::inject::nccl
