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

// Visits each record. False: the library stopped before the buffer's end, or named a place that is
// not behind the record before it and within the buffer. What follows there is not visited.
template <typename Visit>
bool EachRecord(uint8_t* bytes, size_t valid, NextRecordFunction next_record, Visit visit) {
  if (valid == 0) return true;
  // A place within the buffer is less than `valid`; one outside of it is more.
  const auto offset_of = [bytes](const void* at) {
    return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(bytes);
  };
  void* next = nullptr;
  int result = next_record(bytes, valid, &next);
  while (result == kSuccess && offset_of(next) < valid) {
    const size_t begin = offset_of(next);
    result = next_record(bytes, valid, &next);
    // A record ends where the next one begins.
    const size_t end = result == kSuccess ? offset_of(next) : valid;
    if (end <= begin || end > valid) return false;
    visit(Record(bytes + begin, end - begin));
  }
  return result == kMaxLimitReached || (result == kSuccess && offset_of(next) == valid);
}

}  // namespace gpuprof::tracer::cupti
