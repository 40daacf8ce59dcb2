// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The event tables of the trace: for each chunk kind its columns, in order, with their encodings.
// Written once here; the chunk writer, the reader, the dump and the tests against libprotobuf all
// derive from it.
//
// Column i (from 0) is field 16 + i of Chunk: packed sint64 residuals, one per row. A column whose
// every residual is zero is left out. Times are ticks divided by 2^time_shift of the chunk, rounded
// down; a span's start is rounded like its end, so that nesting survives. Adding a column at the
// end of a table is a minor version; a new meaning is a new column.

#pragma once

#include <cstdint>

#include "proto/record.h"

namespace gpuprof::proto {

enum class ChunkKind : uint16_t {
  // Tables: one message field of Chunk, no columns.
  kMeta = 1,
  kStrings = 2,
  kStacks = 3,
  kModules = 4,
  kClocks = 5,
  kThreads = 6,
  kHealth = 7,
  kSignatures = 8,  // of kernel launches
  kStreams = 9,     // which stream a track is
  kDevices = 10,
  kFunctions = 11,   // names of API functions
  kGraphNodes = 12,  // of CUDA graphs: what was made of what, and how launches are recorded
  kCounters = 13,    // what the rows of kCounter are of
  // Events, by column.
  kHeap = 16,
  kWait = 17,
  kOp = 18,
  kTensor = 19,
  kThreadEvent = 20,
  kProcessEvent = 21,
  kMapping = 22,
  kRange = 23,         // NVTX
  kCounter = 24,       // hardware counters, sampled; of gpuprof's sampler, not of a process
  kLaunch = 25,        // the host's side of work on the GPU: its stack
  kRangePayload = 26,  // extended payloads of NVTX, as the program gave them
  // Events whose times are CUPTI's (nanoseconds), not ticks. Their tracks are streams, or threads;
  // an allocation outside of any stream, and a pool, are on a track of their context or device.
  kKernel = 32,
  kMemcpy = 33,
  kMemset = 34,
  kApi = 35,
  kSync = 36,
  kDeviceMemory = 37,  // of CUDA's allocations
  kMemoryPool = 38,
  kGraphLaunch = 39,  // of a graph that is recorded as a whole
  kOverhead = 40,     // what CUDA and CUPTI spend on themselves, on its thread's or device's track
  kCudaEvent = 41,    // a CUDA event is recorded, on the stream it is recorded in
  kUnifiedMemory = 42,  // its migrations and page faults, on a track of no device
};
inline constexpr uint16_t kFirstCuptiKind = 32;

// Kinds that records of rings become are counted from kHeap; places in arrays by kind.
inline constexpr int kRingKinds = 11;
constexpr int RingKindIndex(ChunkKind kind) {
  return static_cast<int>(kind) - static_cast<int>(ChunkKind::kHeap);
}
static_assert(RingKindIndex(ChunkKind::kRangePayload) < kRingKinds);

// Whether a block of this kind holds a table's entries, not rows.
constexpr bool IsTableKind(uint16_t kind) {
  return kind >= static_cast<uint16_t>(ChunkKind::kMeta) &&
         kind <= static_cast<uint16_t>(ChunkKind::kCounters);
}

// Whether times of this kind of event are on CUPTI's clock.
constexpr bool IsCuptiKind(ChunkKind kind) {
  return static_cast<uint16_t>(kind) >= kFirstCuptiKind;
}

enum class Encoding : uint8_t {
  kPlain,    // the value
  kDelta,    // value minus the value of the previous row (0 before the first)
  kTime,     // kDelta of the shifted time; the first row is relative to Chunk.base_time
  kSpan,     // a duration in shifted ticks, plain
  kAddress,  // kDelta of the value rotated right by 4 bits, so that 16-byte steps cost one bit less
             // per power of two
  // For tables whose spans follow each other on one stream or thread: column 0 is kGap, column 1
  // kDuration and column 2, plain, the key. Both are counted in ticks and predicted from the spans
  // before (FORMAT.md, "Predicted spans").
  kGap,       // an end: ticks from the end of the row before to the span's start
  kDuration,  // the span's ticks
  kKeyed,     // the value minus the last one with the same key (0 before); one column a table
};

struct ColumnSpec {
  const char* name;  // snake_case, as in dumps
  Encoding encoding;
};

// Ids of call stacks in one file, at most.
inline constexpr uint32_t kMostStackIds = 1u << 26;

inline constexpr int kMaxColumns = 8;
inline constexpr int kFirstColumnField = 16;

// How the rows of a table on one track stand.
enum class RowOrder : uint8_t {
  kByTime,  // each no earlier than the one before, spans by their end
  // A ring's: a release carries the time before its call, and a signal handler may have written
  // meanwhile. CUPTI's: as it hands them over, which is when their buffers are full.
  kAny,
};

struct TableSpec {
  ChunkKind kind;
  const char* name;
  RowOrder order;
  int columns;
  ColumnSpec column[kMaxColumns];
};

// Row layouts. Every table begins with the time (the END for spans).
namespace heap_column {
enum : int {
  kTime,
  kOperation,
  kAddress,
  kSize,
  kStack
};  // operation: HeapOperation(); size 0 and stack 0 for frees
}
namespace wait_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,
  kObject,
  kCaller,
  kStack,
  kOwner
};  // operation: kind | flags << 8; owner: thread that held the lock, 0: not known
}
namespace op_column {
enum : int {
  kEnd,
  kDuration,
  kName,
  kOperation
};  // name: string id; operation: scope | flags << 8 | depth << 16
}
namespace tensor_column {
enum : int { kTime, kDevice, kAddress, kBytes, kTotalAllocated, kTotalReserved };
}
namespace thread_column {
enum : int { kTime, kEvent, kA, kB };
}
namespace process_column {
enum : int { kTime, kEvent, kA, kB, kText };  // text: string id
}

namespace kernel_column {
enum : int { kEnd, kDuration, kSignature, kCorrelation, kGraph, kGraphNode };
}
namespace memcpy_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,  // CopyOperation()
  kCorrelation,
  kBytes,
  kGraph,
  kGraphNode,
  kPeer  // device copied from, and << 32 to, each plus 1; 0: within one
};
}
namespace memset_column {
enum : int { kEnd, kDuration, kOperation, kCorrelation, kBytes, kGraph, kGraphNode, kValue };
}
namespace api_column {
enum : int { kEnd, kDuration, kFunction, kCorrelation, kResult };  // function: ApiFunction()
}
namespace sync_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,
  kCorrelation,
  kStream,
  kEvent,
  kResult,
  kEventRecord  // the recording waited for, as cuda_event has it; 0: not told
};
}
namespace device_memory_column {
enum : int {
  kTime,
  kOperation,  // MemoryOperation()
  kAddress,
  kBytes,  // of a release too, where CUPTI tells them
  kCorrelation,
  kPool,   // address of the pool; 0: none
  kPc,     // where in the program; 0: not told
  kOrigin  // string id: of a static variable its name, else the library that asked; 0: not told
};
}
namespace memory_pool_column {
enum : int {
  kTime,
  kOperation,   // PoolOperation()
  kPool,        // its address
  kSize,        // taken from the device
  kUtilized,    // handed out
  kThreshold,   // what it keeps of unused memory
  kKept,        // of a trim: the least to keep
  kCorrelation  // of a creation, destruction or trim
};
}
namespace graph_launch_column {
enum : int { kEnd, kDuration, kGraph, kCorrelation };
}
namespace overhead_column {
enum : int { kEnd, kDuration, kOperation, kCorrelation, kBytes };
}
namespace cuda_event_column {
enum : int {
  kTime,  // when the call began
  kCorrelation,
  kEvent,  // as in sync
  kRecord  // this recording alone (CUPTI's cudaEventSyncId); 0: not told
};
}
namespace unified_memory_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,  // UnifiedMemoryOperation()
  kValue,      // bytes; of page faults the host's program counter, the GPU's count
  kAddress,
  kSource,  // of a processor or device, as far as the counter has one; of thrashing a bit each
  kDestination
};
}
namespace mapping_column {
enum : int { kTime, kOperation, kAddress, kSize, kStack };  // operation: MapEvent | flags << 8
}

namespace launch_column {
enum : int { kTime, kCorrelation, kFunction, kStack };  // function: ApiFunction()
}

namespace range_column {
enum : int {
  kEnd,
  kDuration,
  kName,       // string id
  kOperation,  // RangeKind | NvtxPayload << 4 | flags << 8 | depth << 16
  kDomain,     // string id; 0: the default domain
  kStyle,      // category | colour (ARGB) << 32
  kPayload,
  kBeginThread  // tid, where it is not the track's; else 0
};
}

// A payload is a first row, then a row for each 8 of its bytes. Operation, domain and definition of
// the further rows are 0.
namespace range_payload_column {
enum : int {
  kTime,        // when the range begins, or ends
  kOperation,   // PayloadOperation() | depth << 16
  kDomain,      // string id; 0: the default domain
  kDefinition,  // predefined type, or string id of the definition (proto/nvtx_payload.h)
  kValue        // the payload's bytes in all; of the other rows 8 of them
};
}

namespace counter_column {
enum : int { kTime, kCounter, kValue };  // counter: id of Counters; value: signed, in its unit
}

inline constexpr TableSpec kTables[] = {
    {ChunkKind::kHeap,
     "heap",
     RowOrder::kAny,
     5,
     {{"time", Encoding::kTime},
      {"operation", Encoding::kPlain},
      {"address", Encoding::kAddress},
      {"size", Encoding::kPlain},
      {"stack", Encoding::kPlain}}},
    {ChunkKind::kWait,
     "wait",
     RowOrder::kByTime,
     7,
     {{"end", Encoding::kTime},
      {"duration", Encoding::kSpan},
      {"operation", Encoding::kPlain},
      {"object", Encoding::kAddress},
      {"caller", Encoding::kDelta},
      {"stack", Encoding::kPlain},
      {"owner", Encoding::kPlain}}},
    {ChunkKind::kOp,
     "op",
     RowOrder::kByTime,
     4,
     {{"end", Encoding::kTime},
      {"duration", Encoding::kSpan},
      {"name", Encoding::kPlain},
      {"operation", Encoding::kPlain}}},
    {ChunkKind::kTensor,
     "tensor",
     RowOrder::kByTime,
     6,
     {{"time", Encoding::kTime},
      {"device", Encoding::kPlain},
      {"address", Encoding::kAddress},
      {"bytes", Encoding::kPlain},
      {"total_allocated", Encoding::kDelta},
      {"total_reserved", Encoding::kDelta}}},
    {ChunkKind::kThreadEvent,
     "thread",
     RowOrder::kByTime,
     4,
     {{"time", Encoding::kTime},
      {"event", Encoding::kPlain},
      {"a", Encoding::kPlain},
      {"b", Encoding::kPlain}}},
    {ChunkKind::kProcessEvent,
     "process",
     RowOrder::kByTime,
     5,
     {{"time", Encoding::kTime},
      {"event", Encoding::kPlain},
      {"a", Encoding::kPlain},
      {"b", Encoding::kPlain},
      {"text", Encoding::kPlain}}},
    {ChunkKind::kMapping,
     "mapping",
     RowOrder::kAny,
     5,
     {{"time", Encoding::kTime},
      {"operation", Encoding::kPlain},
      {"address", Encoding::kAddress},
      {"size", Encoding::kPlain},
      {"stack", Encoding::kPlain}}},
    {ChunkKind::kRange,
     "range",
     RowOrder::kByTime,
     8,
     {{"end", Encoding::kTime},
      {"duration", Encoding::kSpan},
      {"name", Encoding::kPlain},
      {"operation", Encoding::kPlain},
      {"domain", Encoding::kPlain},
      {"style", Encoding::kPlain},
      {"payload", Encoding::kPlain},
      {"begin_thread", Encoding::kPlain}}},
    {ChunkKind::kRangePayload,
     "range_payload",
     RowOrder::kByTime,
     5,
     {{"time", Encoding::kTime},
      {"operation", Encoding::kPlain},
      {"domain", Encoding::kPlain},
      {"definition", Encoding::kPlain},
      {"value", Encoding::kPlain}}},
    {ChunkKind::kCounter,
     "counter",
     RowOrder::kByTime,
     3,
     {{"time", Encoding::kTime}, {"counter", Encoding::kPlain}, {"value", Encoding::kPlain}}},
    {ChunkKind::kLaunch,
     "launch",
     RowOrder::kByTime,
     4,
     {{"time", Encoding::kTime},
      {"correlation", Encoding::kDelta},
      {"function", Encoding::kPlain},
      {"stack", Encoding::kPlain}}},
    {ChunkKind::kKernel,
     "kernel",
     RowOrder::kAny,
     6,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"signature", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"graph", Encoding::kDelta},
      {"graph_node", Encoding::kDelta}}},
    {ChunkKind::kMemcpy,
     "memcpy",
     RowOrder::kAny,
     8,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"operation", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"bytes", Encoding::kKeyed},
      {"graph", Encoding::kDelta},
      {"graph_node", Encoding::kDelta},
      {"peer", Encoding::kPlain}}},
    {ChunkKind::kMemset,
     "memset",
     RowOrder::kAny,
     8,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"operation", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"bytes", Encoding::kKeyed},
      {"graph", Encoding::kDelta},
      {"graph_node", Encoding::kDelta},
      {"value", Encoding::kPlain}}},
    {ChunkKind::kApi,
     "api",
     RowOrder::kAny,
     5,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"function", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"result", Encoding::kPlain}}},
    {ChunkKind::kSync,
     "sync",
     RowOrder::kAny,
     8,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"operation", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"stream", Encoding::kPlain},
      {"event", Encoding::kDelta},
      {"result", Encoding::kPlain},
      {"event_record", Encoding::kDelta}}},
    {ChunkKind::kDeviceMemory,
     "device_memory",
     RowOrder::kAny,
     8,
     {{"time", Encoding::kTime},
      {"operation", Encoding::kPlain},
      {"address", Encoding::kAddress},
      {"bytes", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"pool", Encoding::kDelta},
      {"pc", Encoding::kDelta},
      {"origin", Encoding::kPlain}}},
    {ChunkKind::kMemoryPool,
     "memory_pool",
     RowOrder::kAny,
     8,
     {{"time", Encoding::kTime},
      {"operation", Encoding::kPlain},
      {"pool", Encoding::kDelta},
      {"size", Encoding::kDelta},
      {"utilized", Encoding::kDelta},
      {"threshold", Encoding::kDelta},
      {"kept", Encoding::kPlain},
      {"correlation", Encoding::kPlain}}},
    {ChunkKind::kGraphLaunch,
     "graph_launch",
     RowOrder::kAny,
     4,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"graph", Encoding::kPlain},
      {"correlation", Encoding::kDelta}}},
    {ChunkKind::kOverhead,
     "overhead",
     RowOrder::kAny,
     5,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"operation", Encoding::kPlain},
      {"correlation", Encoding::kDelta},
      {"bytes", Encoding::kPlain}}},
    {ChunkKind::kCudaEvent,
     "cuda_event",
     RowOrder::kAny,
     4,
     {{"time", Encoding::kTime},
      {"correlation", Encoding::kDelta},
      {"event", Encoding::kDelta},
      {"record", Encoding::kDelta}}},
    {ChunkKind::kUnifiedMemory,
     "unified_memory",
     RowOrder::kAny,
     7,
     {{"end", Encoding::kGap},
      {"duration", Encoding::kDuration},
      {"operation", Encoding::kPlain},
      {"value", Encoding::kKeyed},
      {"address", Encoding::kAddress},
      {"source", Encoding::kPlain},
      {"destination", Encoding::kPlain}}},
};

constexpr const TableSpec* FindTable(ChunkKind kind) {
  for (const TableSpec& table : kTables) {
    if (table.kind == kind) return &table;
  }
  return nullptr;
}

// memcpy.operation: CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind of source and destination,
// CUpti_ActivityFlag. memset.operation: the destination's memory kind and the flag at the same
// places.
constexpr uint32_t CopyOperation(uint8_t copy_kind, uint8_t source, uint8_t destination,
                                 uint8_t flags) {
  return copy_kind | uint32_t{source} << 8 | uint32_t{destination} << 16 | uint32_t{flags} << 24;
}
// api.function: CUpti_CallbackDomain (1 driver, 2 runtime) and the callback id.
constexpr uint32_t ApiFunction(uint32_t domain, uint32_t callback_id) {
  return domain << 24 | callback_id;
}

// overhead.operation: 1 the driver's compiler, else CUpti_ActivityOverheadKind's upper half plus 1;
// of compiling just in time CUpti_ActivityJitEntryType << 4 and CUpti_ActivityJitOperationType.
constexpr uint32_t OverheadOperation(uint32_t overhead_kind) {
  return overhead_kind >> 16 != 0 ? (overhead_kind >> 16) + 1 : overhead_kind;
}
constexpr uint32_t JitOperation(uint32_t entry, uint32_t operation) {
  return (entry & 0xf) << 4 | (operation & 0xf);
}

// unified_memory.operation: CUpti_ActivityUnifiedMemoryCounterKind, and the record's flags << 8.
constexpr uint32_t UnifiedMemoryOperation(uint32_t counter, uint32_t flags) {
  return (counter & 0xff) | flags << 8;
}

// device_memory.operation: CUpti_ActivityMemoryOperationType (1 allocation, 2 release),
// CUpti_ActivityMemoryKind, CUpti_ActivityMemoryPoolType (0: of no pool), whether the call was
// asynchronous.
constexpr uint32_t MemoryOperation(uint8_t operation, uint8_t memory_kind, uint8_t pool_type,
                                   bool is_async) {
  return operation | uint32_t{memory_kind} << 8 | uint32_t{pool_type} << 16 |
         (is_async ? 1u << 24 : 0u);
}
inline constexpr uint8_t kMemoryAllocation = 1, kMemoryRelease = 2;
// memory_pool.operation: CUpti_ActivityMemoryPoolOperationType (1 created, 2 destroyed, 3 trimmed;
// 0: how the pool was after an allocation from it or a release), CUpti_ActivityMemoryPoolType, and
// whether it is of managed memory.
constexpr uint32_t PoolOperation(uint8_t operation, uint8_t pool_type, bool is_managed) {
  return operation | uint32_t{pool_type} << 8 | (is_managed ? 1u << 16 : 0u);
}
inline constexpr uint8_t kPoolSeen = 0, kPoolCreated = 1, kPoolDestroyed = 2, kPoolTrimmed = 3;

// heap.operation: what happened, with which function, and the record's flags.
constexpr uint32_t HeapOperation(bool is_free, uint8_t function, uint8_t flags) {
  return (is_free ? 1u : 0u) | static_cast<uint32_t>(function) << 1 |
         static_cast<uint32_t>(flags) << 8;
}
constexpr bool HeapIsFree(uint32_t operation) { return (operation & 1u) != 0; }
constexpr uint8_t HeapFunctionOf(uint32_t operation) {
  return static_cast<uint8_t>(operation >> 1 & 0x7f);
}
constexpr uint8_t FlagsOf(uint32_t operation) { return static_cast<uint8_t>(operation >> 8); }
constexpr uint8_t LowByteOf(uint32_t operation) { return static_cast<uint8_t>(operation); }
constexpr uint32_t OpDepthOf(uint32_t operation) { return operation >> 16; }
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
