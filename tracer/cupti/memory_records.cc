// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_records.h.

#include "tracer/cupti/memory_records.h"

#include "proto/schema.h"

namespace gpuprof::tracer::cupti {
namespace {

// CUpti_ActivityMemoryKind.
constexpr uint32_t kDeviceStatic = 6, kManagedStatic = 7;

uint8_t Byte(const Record& record, size_t offset) {
  return static_cast<uint8_t>(record.U32(offset));
}

}  // namespace

const char* OriginOf(const Record& record) {
  const uint32_t kind = record.U32(memory::kMemoryKind);
  const bool is_variable = kind == kDeviceStatic || kind == kManagedStatic;
  return record.Text(is_variable ? memory::kName : memory::kSource);
}

MemoryRow DeviceMemoryRow(const Record& record, uint32_t origin) {
  namespace c = proto::device_memory_column;
  MemoryRow row;
  row.column[c::kTime] = record.U64(memory::kTime);
  row.column[c::kOperation] =
      proto::MemoryOperation(Byte(record, memory::kOperation), Byte(record, memory::kMemoryKind),
                             Byte(record, memory::kPoolType), record.U32(memory::kAsync) != 0);
  row.column[c::kAddress] = record.U64(memory::kAddress);
  row.column[c::kBytes] = record.U64(memory::kBytes);
  row.column[c::kCorrelation] = record.U32(memory::kCorrelation);
  row.column[c::kPool] = record.U64(memory::kPoolAddress);
  row.column[c::kPc] = record.U64(memory::kPc);
  row.column[c::kOrigin] = origin;
  return row;
}

// Of a pool that another process made, the place of the size holds that one's id.
bool TellsOfPool(const Record& record) { return record.U32(memory::kPoolType) == kPoolLocal; }

MemoryRow PoolSeenRow(const Record& record) {
  namespace c = proto::memory_pool_column;
  MemoryRow row;
  row.column[c::kTime] = record.U64(memory::kTime);
  row.column[c::kOperation] =
      proto::PoolOperation(proto::kPoolSeen, Byte(record, memory::kPoolType), false);
  row.column[c::kPool] = record.U64(memory::kPoolAddress);
  row.column[c::kSize] = record.U64(memory::kPoolSize);
  row.column[c::kUtilized] = record.U64(memory::kPoolUtilized);
  row.column[c::kThreshold] = record.U64(memory::kPoolThreshold);
  return row;
}

MemoryRow PoolRow(const Record& record) {
  namespace c = proto::memory_pool_column;
  const bool is_local = record.U32(pool::kPoolType) == kPoolLocal;
  MemoryRow row;
  row.column[c::kTime] = record.U64(pool::kTime);
  row.column[c::kOperation] =
      proto::PoolOperation(Byte(record, pool::kOperation), Byte(record, pool::kPoolType),
                           record.U8(pool::kManaged) != 0);
  row.column[c::kPool] = record.U64(pool::kAddress);
  row.column[c::kSize] = is_local ? record.U64(pool::kSize) : 0;
  row.column[c::kUtilized] = is_local ? record.U64(pool::kUtilized) : 0;
  row.column[c::kThreshold] = is_local ? record.U64(pool::kThreshold) : 0;
  row.column[c::kKept] =
      Byte(record, pool::kOperation) == proto::kPoolTrimmed ? record.U64(pool::kKept) : 0;
  row.column[c::kCorrelation] = record.U32(pool::kCorrelation);
  return row;
}

}  // namespace gpuprof::tracer::cupti
