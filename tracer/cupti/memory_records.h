// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's records of memory (MEMORY2, MEMORY_POOL) as rows of the tables device_memory and
// memory_pool. An allocation from a pool becomes two rows: what was allocated, and how the pool was
// then; so that both tables keep to what is their own, and a pool's history is in one of them.
//
// Any thread; nothing is called, nothing allocated.

#pragma once

#include <cstdint>

#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {

inline constexpr int kMemoryColumns = 8;

struct MemoryRow {
  uint64_t column[kMemoryColumns] = {};
};

// The text that says where the memory of a MEMORY2 record belongs: null where it does not say.
const char* OriginOf(const Record& memory2);
// `origin` is that text's string id, or 0.
MemoryRow DeviceMemoryRow(const Record& memory2, uint32_t origin);

// Whether the memory is of a pool, whose figures the record tells.
bool TellsOfPool(const Record& memory2);
// How the pool was right after.
MemoryRow PoolSeenRow(const Record& memory2);
// Of a MEMORY_POOL record.
MemoryRow PoolRow(const Record& pool);

}  // namespace gpuprof::tracer::cupti
