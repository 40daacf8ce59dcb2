// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Packs several values into one column, and reads them again. proto/bit_fields.h describes the same
// columns, and checks these functions against its description.

#pragma once

#include <cstdint>

#include "proto/record.h"

namespace gpuprof::proto {

// Returns memcpy.operation: CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind of source and
// destination, CUpti_ActivityFlag. memset.operation has the destination's memory kind and the flag
// at the same places.
constexpr uint32_t CopyOperation(uint8_t copy_kind, uint8_t source, uint8_t destination,
                                 uint8_t flags) {
  return copy_kind | uint32_t{source} << 8 | uint32_t{destination} << 16 | uint32_t{flags} << 24;
}
constexpr uint8_t CopyKindOf(uint32_t operation) { return static_cast<uint8_t>(operation); }
constexpr uint8_t CopySourceOf(uint32_t operation) { return static_cast<uint8_t>(operation >> 8); }
constexpr uint8_t CopyDestinationOf(uint32_t operation) {
  return static_cast<uint8_t>(operation >> 16);
}
// Reads CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, or its twin of sets.
constexpr bool IsAsyncCopy(uint32_t operation) { return (operation >> 24 & 1) != 0; }
// Reads memcpy.peer, if it is not 0: the devices that are copied from and to.
constexpr int64_t PeerSourceOf(uint64_t peer) {
  return static_cast<int64_t>(peer & 0xffffffff) - 1;
}
constexpr int64_t PeerDestinationOf(uint64_t peer) { return static_cast<int64_t>(peer >> 32) - 1; }

// Returns api.function: CUpti_CallbackDomain (1 driver, 2 runtime) and the callback id.
constexpr uint32_t ApiFunction(uint32_t domain, uint32_t callback_id) {
  return domain << 24 | callback_id;
}
constexpr uint32_t ApiDomainOf(uint32_t function) { return function >> 24; }
constexpr uint32_t ApiCallbackOf(uint32_t function) { return function & 0xffffff; }

// Returns overhead.operation: 1 the driver's compiler, else CUpti_ActivityOverheadKind's upper half
// plus 1.
constexpr uint32_t OverheadOperation(uint32_t overhead_kind) {
  return overhead_kind >> 16 != 0 ? (overhead_kind >> 16) + 1 : overhead_kind;
}
// Returns what is added for compiling just in time: CUpti_ActivityJitEntryType << 4 and
// CUpti_ActivityJitOperationType.
constexpr uint32_t JitOperation(uint32_t entry, uint32_t operation) {
  return (entry & 0xf) << 4 | (operation & 0xf);
}

// Returns unified_memory.operation: CUpti_ActivityUnifiedMemoryCounterKind, and the record's flags
// << 8.
constexpr uint32_t UnifiedMemoryOperation(uint32_t counter, uint32_t flags) {
  return (counter & 0xff) | flags << 8;
}
constexpr uint8_t UnifiedMemoryCounterOf(uint32_t operation) {
  return static_cast<uint8_t>(operation);
}
constexpr uint32_t UnifiedMemoryFlagsOf(uint32_t operation) { return operation >> 8; }

// Returns device_memory.operation: CUpti_ActivityMemoryOperationType (1 allocation, 2 release),
// CUpti_ActivityMemoryKind, CUpti_ActivityMemoryPoolType (0: of no pool), whether the call was
// asynchronous.
constexpr uint32_t MemoryOperation(uint8_t operation, uint8_t memory_kind, uint8_t pool_type,
                                   bool is_async) {
  return operation | uint32_t{memory_kind} << 8 | uint32_t{pool_type} << 16 |
         (is_async ? 1u << 24 : 0u);
}
inline constexpr uint8_t kMemoryAllocation = 1, kMemoryRelease = 2;
constexpr uint8_t MemoryOperationOf(uint32_t operation) { return static_cast<uint8_t>(operation); }
constexpr uint8_t MemoryKindOf(uint32_t operation) { return static_cast<uint8_t>(operation >> 8); }
constexpr uint8_t MemoryPoolTypeOf(uint32_t operation) {
  return static_cast<uint8_t>(operation >> 16);
}
constexpr bool IsAsyncMemory(uint32_t operation) { return (operation >> 24 & 1) != 0; }
// Returns memory_pool.operation: CUpti_ActivityMemoryPoolOperationType (1 created, 2 destroyed, 3
// trimmed), CUpti_ActivityMemoryPoolType, and whether the pool is of managed memory. Operation 0
// stands for the pool's state after an allocation or a release.
constexpr uint32_t PoolOperation(uint8_t operation, uint8_t pool_type, bool is_managed) {
  return operation | uint32_t{pool_type} << 8 | (is_managed ? 1u << 16 : 0u);
}
inline constexpr uint8_t kPoolSeen = 0, kPoolCreated = 1, kPoolDestroyed = 2, kPoolTrimmed = 3;
inline constexpr uint8_t kLocalPool = 1, kImportedPool = 2;
constexpr uint8_t PoolOperationOf(uint32_t operation) { return static_cast<uint8_t>(operation); }
constexpr uint8_t PoolTypeOf(uint32_t operation) { return static_cast<uint8_t>(operation >> 8); }
constexpr bool IsManagedPool(uint32_t operation) { return (operation >> 16 & 1) != 0; }

// Returns heap.operation: what happened, with which function, and the record's flags.
constexpr uint32_t HeapOperation(bool is_free, uint8_t function, uint8_t flags) {
  return (is_free ? 1u : 0u) | static_cast<uint32_t>(function) << 1 |
         static_cast<uint32_t>(flags) << 8;
}
constexpr bool HeapIsFree(uint32_t operation) { return (operation & 1u) != 0; }
constexpr uint8_t HeapFunctionOf(uint32_t operation) {
  return static_cast<uint8_t>(operation >> 1 & 0x7f);
}
constexpr uint8_t FlagsOf(uint32_t operation) { return static_cast<uint8_t>(operation >> 8); }
constexpr WaitKind WaitKindOf(uint32_t operation) {
  return static_cast<WaitKind>(static_cast<uint8_t>(operation));
}
constexpr MapEvent MapEventOf(uint32_t operation) {
  return static_cast<MapEvent>(static_cast<uint8_t>(operation));
}
constexpr OpScope OpScopeOf(uint32_t operation) {
  return static_cast<OpScope>(static_cast<uint8_t>(operation));
}
constexpr uint32_t OpDepthOf(uint32_t operation) { return operation >> 16; }

// Reads tensor.device, as the framework numbers devices.
constexpr uint32_t DeviceTypeOf(uint32_t device) { return device >> 8; }
constexpr uint32_t DeviceIndexOf(uint32_t device) { return device & 0xff; }
inline constexpr uint32_t kNoDeviceIndex = 0xff;

constexpr RangeKind RangeKindOf(uint32_t operation) {
  return static_cast<RangeKind>(operation & 0xf);
}
constexpr NvtxPayload RangePayloadOf(uint32_t operation) {
  return static_cast<NvtxPayload>(operation >> 4 & 0xf);
}
constexpr bool IsEarlierName(uint32_t operation) {
  return RangeKindOf(operation) >= RangeKind::kNameThread &&
         (FlagsOf(operation) & kFlagEarlier) != 0;
}
// Reads range.style, as the next one does.
constexpr uint32_t CategoryOf(uint64_t style) { return static_cast<uint32_t>(style); }
constexpr uint32_t ColorOf(uint64_t style) { return static_cast<uint32_t>(style >> 32); }

// Returns range_payload.operation, without the depth. Kind and depth are at the same places as a
// range's. `unused`: bytes at the end of the last whole word. `handles`: registered strings, whose
// handles and string ids (16 bytes each) follow the payload's own words. An event may have several
// payloads.
constexpr uint32_t PayloadOperation(RangeKind kind, bool is_end, uint32_t unused, uint32_t handles,
                                    bool is_first) {
  return static_cast<uint32_t>(kind) | uint32_t{is_end} << 4 | (unused & 7) << 5 |
         (handles & 0x7f) << 8 | uint32_t{is_first} << 15;
}
constexpr bool IsPayloadOfEnd(uint32_t operation) { return (operation >> 4 & 1) != 0; }
constexpr uint32_t PayloadUnusedOf(uint32_t operation) { return operation >> 5 & 7; }
constexpr uint32_t PayloadHandlesOf(uint32_t operation) { return operation >> 8 & 0x7f; }
constexpr bool IsFirstPayload(uint32_t operation) { return (operation >> 15 & 1) != 0; }

}  // namespace gpuprof::proto
