// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One record of a buffer after the other. Of CUPTI only cuptiActivityGetNextRecord is called: up to
// 13.1 it computes an address in the buffer and touches nothing else, from 13.3 on it answers 999
// (unknown) where there is no driver. Any thread.

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

// False: the library did not get to the buffer's end, and what lies behind is not known.
template <typename Visit>
bool EachRecord(uint8_t* bytes, size_t valid, NextRecordFunction next_record, Visit visit) {
  if (valid == 0) return true;
  void* at = nullptr;
  int result = next_record(bytes, valid, &at);
  const uint8_t* end = bytes + valid;
  while (result == kSuccess) {
    // A record ends where the next one begins.
    void* next = at;
    result = next_record(bytes, valid, &next);
    const uint8_t* behind = result == kSuccess ? static_cast<uint8_t*>(next) : end;
    visit(Record(at, static_cast<size_t>(behind - static_cast<uint8_t*>(at))));
    at = next;
  }
  return result == kMaxLimitReached;
}

}  // namespace gpuprof::tracer::cupti
