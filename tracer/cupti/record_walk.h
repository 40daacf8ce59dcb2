// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One record of a buffer after the other. Of CUPTI only cuptiActivityGetNextRecord is called, which
// computes an address in the buffer and touches nothing else. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include <cstdlib>

#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {

// As cuptiActivityGetNextRecord.
using NextRecordFunction = int (*)(uint8_t* buffer, size_t valid, void** record);

// Some records lead to memory that CUPTI leaves to whom it gives them.
inline void FreeData(const Record& record) {
  if (record.kind() != Activity::kOverhead || record.U32(overhead::kKind) != kCommandBufferFull)
    return;
  std::free(reinterpret_cast<void*>(record.U64(overhead::kData)));
}

template <typename Visit>
void EachRecord(uint8_t* bytes, size_t valid, NextRecordFunction next_record, Visit visit) {
  void* at = nullptr;
  if (next_record(bytes, valid, &at) != kSuccess) return;
  const uint8_t* end = bytes + valid;
  for (bool more = true; more;) {
    // A record ends where the next one begins.
    void* next = at;
    more = next_record(bytes, valid, &next) == kSuccess;
    const uint8_t* behind = more ? static_cast<uint8_t*>(next) : end;
    visit(Record(at, static_cast<size_t>(behind - static_cast<uint8_t*>(at))));
    at = next;
  }
}

}  // namespace gpuprof::tracer::cupti
