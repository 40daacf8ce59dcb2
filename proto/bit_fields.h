// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The values in each column of type kBits: name, place, type. The dump, `gpuprof schema` and the
// tests' reader derive from this description. Functions that pack and read the columns are in
// proto/operations.h; here the compiler compares both.

#pragma once

#include <cstdint>

#include "proto/operations.h"
#include "proto/table_spec.h"

namespace gpuprof::proto {

inline constexpr BitField kHeapFields[] = {
    {"free", 0, 1, ColumnType::kFlag},
    {"call", 1, 7, ColumnType::kEnum, Codes::kHeapFunction},
    {"flags", 8, 8, ColumnType::kFlags, Codes::kRecordFlags},
};
// Bit 14 is another flag in rows of other tables.
inline constexpr BitField kWaitFields[] = {
    {"kind", 0, 8, ColumnType::kEnum, Codes::kWaitKind},
    {"limited", 14, 1, ColumnType::kFlag},
    {"flags", 8, 6, ColumnType::kFlags, Codes::kRecordFlags},
};
inline constexpr BitField kOpFields[] = {
    {"scope", 0, 8, ColumnType::kEnum, Codes::kOpScope},
    {"flags", 8, 8, ColumnType::kFlags, Codes::kRecordFlags},
    {"depth", 16, 16, ColumnType::kDepth},
};
inline constexpr BitField kCallFields[] = {
    {"flags", 8, 8, ColumnType::kFlags, Codes::kRecordFlags},
    {"depth", 16, 16, ColumnType::kDepth},
};
inline constexpr BitField kMappingFields[] = {
    {"call", 0, 8, ColumnType::kEnum, Codes::kMapEvent},
    {"flags", 8, 8, ColumnType::kFlags, Codes::kRecordFlags},
};
inline constexpr BitField kRangeFields[] = {
    {"kind", 0, 4, ColumnType::kEnum, Codes::kRangeKind},
    {"payload_type", 4, 4, ColumnType::kEnum, Codes::kNvtxPayload},
    {"flags", 8, 8, ColumnType::kFlags, Codes::kRecordFlags},
    {"depth", 16, 16, ColumnType::kDepth},
};
inline constexpr BitField kStyleFields[] = {
    {"category", 0, 32, ColumnType::kNumber},
    {"color", 32, 32, ColumnType::kColor},
};
inline constexpr BitField kRangePayloadFields[] = {
    {"kind", 0, 4, ColumnType::kEnum, Codes::kRangeKind},
    {"end", 4, 1, ColumnType::kFlag},
    {"unused", 5, 3, ColumnType::kNumber},
    {"handles", 8, 7, ColumnType::kNumber},
    {"first", 15, 1, ColumnType::kFlag},
    {"depth", 16, 16, ColumnType::kDepth},
};
inline constexpr BitField kSampleFields[] = {
    {"runs", 0, 1, ColumnType::kFlag},    {"waits_for_gil", 1, 1, ColumnType::kFlag},
    {"has_gil", 2, 1, ColumnType::kFlag}, {"python", 3, 1, ColumnType::kFlag},
    {"native", 4, 1, ColumnType::kFlag},
};
inline constexpr BitField kMemcpyFields[] = {
    {"kind", 0, 8, ColumnType::kEnum, Codes::kCopyKind},
    {"source", 8, 8, ColumnType::kEnum, Codes::kMemoryKind},
    {"destination", 16, 8, ColumnType::kEnum, Codes::kMemoryKind},
    {"async", 24, 1, ColumnType::kFlag},
};
inline constexpr BitField kPeerFields[] = {
    {"from_device", 0, 32, ColumnType::kGpu},
    {"to_device", 32, 32, ColumnType::kGpu},
};
inline constexpr BitField kMemsetFields[] = {
    {"destination", 16, 8, ColumnType::kEnum, Codes::kMemoryKind},
    {"async", 24, 1, ColumnType::kFlag},
};
inline constexpr BitField kSyncFields[] = {
    {"kind", 0, 32, ColumnType::kEnum, Codes::kSyncKind},
};
inline constexpr BitField kDeviceMemoryFields[] = {
    {"operation", 0, 8, ColumnType::kEnum, Codes::kMemoryOperation},
    {"kind", 8, 8, ColumnType::kEnum, Codes::kMemoryKind},
    {"pool_type", 16, 8, ColumnType::kEnum, Codes::kPoolType},
    {"async", 24, 1, ColumnType::kFlag},
};
inline constexpr BitField kMemoryPoolFields[] = {
    {"operation", 0, 8, ColumnType::kEnum, Codes::kPoolOperation},
    {"pool_type", 8, 8, ColumnType::kEnum, Codes::kPoolType},
    {"managed", 16, 1, ColumnType::kFlag},
};
inline constexpr BitField kOverheadFields[] = {
    {"kind", 0, 32, ColumnType::kEnum, Codes::kOverhead},
};
// What the cause means depends on the kind.
inline constexpr BitField kUnifiedMemoryFields[] = {
    {"kind", 0, 8, ColumnType::kEnum, Codes::kUnifiedMemoryCounter},
    {"cause", 8, 24, ColumnType::kNumber},
};

// Returns whether a function reads this field and nothing else. The results for single bits tell
// all about a function that shifts and masks.
template <typename Word, typename Function>
constexpr bool Reads(const BitField& field, Function function) {
  for (int bit = 0; bit < static_cast<int>(sizeof(Word) * 8); ++bit) {
    const Word word = Word{1} << bit;
    if (static_cast<uint64_t>(function(word)) != field.Of(word)) return false;
  }
  return static_cast<uint64_t>(function(~Word{0})) == field.Of(~Word{0});
}

static_assert(Reads<uint32_t>(kHeapFields[0], HeapIsFree));
static_assert(Reads<uint32_t>(kHeapFields[1], HeapFunctionOf));
static_assert(Reads<uint32_t>(kHeapFields[2], FlagsOf));
static_assert(HeapOperation(true, 0, 0) == 1 && HeapOperation(false, 0x7f, 0) == 0xfe &&
              HeapOperation(false, 0, 0xff) == 0xff00);
static_assert(Reads<uint32_t>(kWaitFields[0], WaitKindOf));
static_assert(kWaitFields[1].Of(uint32_t{kFlagLimited} << 8) == 1);
static_assert(Reads<uint32_t>(kWaitFields[2], [](uint32_t word) { return FlagsOf(word) & 0x3f; }));
static_assert(Reads<uint32_t>(kOpFields[0], OpScopeOf) && Reads<uint32_t>(kOpFields[1], FlagsOf) &&
              Reads<uint32_t>(kOpFields[2], OpDepthOf));
static_assert(Reads<uint32_t>(kCallFields[0], FlagsOf) &&
              Reads<uint32_t>(kCallFields[1], OpDepthOf));
static_assert(Reads<uint32_t>(kMappingFields[0], MapEventOf) &&
              Reads<uint32_t>(kMappingFields[1], FlagsOf));
static_assert(Reads<uint32_t>(kRangeFields[0], RangeKindOf) &&
              Reads<uint32_t>(kRangeFields[1], RangePayloadOf) &&
              Reads<uint32_t>(kRangeFields[2], FlagsOf) &&
              Reads<uint32_t>(kRangeFields[3], OpDepthOf));
static_assert(Reads<uint64_t>(kStyleFields[0], CategoryOf) &&
              Reads<uint64_t>(kStyleFields[1], ColorOf));
static_assert(Reads<uint32_t>(kRangePayloadFields[0], RangeKindOf) &&
              Reads<uint32_t>(kRangePayloadFields[1], IsPayloadOfEnd) &&
              Reads<uint32_t>(kRangePayloadFields[2], PayloadUnusedOf) &&
              Reads<uint32_t>(kRangePayloadFields[3], PayloadHandlesOf) &&
              Reads<uint32_t>(kRangePayloadFields[4], IsFirstPayload) &&
              Reads<uint32_t>(kRangePayloadFields[5], OpDepthOf));
static_assert(kSampleFields[0].Of(kSampleRuns) == 1 &&
              kSampleFields[1].Of(kSampleWaitsForGil) == 1 &&
              kSampleFields[2].Of(kSampleHasGil) == 1 && kSampleFields[3].Of(kSamplePython) == 1 &&
              kSampleFields[4].Of(kSampleNative) == 1);
static_assert(Reads<uint32_t>(kMemcpyFields[0], CopyKindOf) &&
              Reads<uint32_t>(kMemcpyFields[1], CopySourceOf) &&
              Reads<uint32_t>(kMemcpyFields[2], CopyDestinationOf) &&
              Reads<uint32_t>(kMemcpyFields[3], IsAsyncCopy));
static_assert(Reads<uint64_t>(kPeerFields[0],
                              [](uint64_t peer) { return PeerSourceOf(peer) + 1; }));
static_assert(Reads<uint64_t>(kPeerFields[1],
                              [](uint64_t peer) { return PeerDestinationOf(peer) + 1; }));
static_assert(Reads<uint32_t>(kMemsetFields[0], CopyDestinationOf) &&
              Reads<uint32_t>(kMemsetFields[1], IsAsyncCopy));
static_assert(Reads<uint32_t>(kDeviceMemoryFields[0], MemoryOperationOf) &&
              Reads<uint32_t>(kDeviceMemoryFields[1], MemoryKindOf) &&
              Reads<uint32_t>(kDeviceMemoryFields[2], MemoryPoolTypeOf) &&
              Reads<uint32_t>(kDeviceMemoryFields[3], IsAsyncMemory));
static_assert(Reads<uint32_t>(kMemoryPoolFields[0], PoolOperationOf) &&
              Reads<uint32_t>(kMemoryPoolFields[1], PoolTypeOf) &&
              Reads<uint32_t>(kMemoryPoolFields[2], IsManagedPool));
static_assert(Reads<uint32_t>(kUnifiedMemoryFields[0], UnifiedMemoryCounterOf) &&
              Reads<uint32_t>(kUnifiedMemoryFields[1], UnifiedMemoryFlagsOf));

// What was packed is read again.
static_assert(CopyKindOf(CopyOperation(1, 2, 3, 1)) == 1 &&
              CopySourceOf(CopyOperation(1, 2, 3, 1)) == 2 &&
              CopyDestinationOf(CopyOperation(1, 2, 3, 1)) == 3 &&
              IsAsyncCopy(CopyOperation(0, 0, 0, 1)) && !IsAsyncCopy(CopyOperation(9, 9, 9, 2)));
static_assert(MemoryOperationOf(MemoryOperation(2, 3, 1, true)) == kMemoryRelease &&
              MemoryKindOf(MemoryOperation(2, 3, 1, true)) == 3 &&
              MemoryPoolTypeOf(MemoryOperation(2, 3, 1, true)) == kLocalPool &&
              IsAsyncMemory(MemoryOperation(0, 0, 0, true)));
static_assert(PoolOperationOf(PoolOperation(3, 2, true)) == kPoolTrimmed &&
              PoolTypeOf(PoolOperation(3, 2, true)) == kImportedPool &&
              IsManagedPool(PoolOperation(0, 0, true)));
static_assert(UnifiedMemoryCounterOf(UnifiedMemoryOperation(4, 5)) == 4 &&
              UnifiedMemoryFlagsOf(UnifiedMemoryOperation(4, 5)) == 5);
static_assert(PayloadUnusedOf(PayloadOperation(RangeKind::kMark, true, 5, 100, true)) == 5 &&
              PayloadHandlesOf(PayloadOperation(RangeKind::kMark, true, 5, 100, true)) == 100);
static_assert(ApiDomainOf(ApiFunction(2, 0x123)) == 2 && ApiCallbackOf(ApiFunction(2, 7)) == 7);

}  // namespace gpuprof::proto
