// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables of the trace, each described once: its clock, its feed and its columns. The chunk
// writer, the reader, the dump, `gpuprof schema` and the tests against libprotobuf derive from this
// description. The values in a packed column are described in proto/bit_fields.h.
//
// Column i (from 0) is field kFirstColumnField + i of Chunk: packed sint64 residuals, one per row.
// A column whose every residual is zero is left out. Times are ticks divided by 2^time_shift of the
// chunk, rounded down; a span's start is rounded like its end, so that nesting survives. Adding a
// column at the end of a table is a minor version, and so is adding a table: the columns' `since`.
// A new meaning is a new column.

#pragma once

#include <cstdint>

#include "proto/bit_fields.h"
#include "proto/columns.h"
#include "proto/operations.h"
#include "proto/table_spec.h"

namespace gpuprof::proto {

inline constexpr ColumnSpec kHeapColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"operation", Encoding::kPlain, kHeapFields},
    {"address", Encoding::kAddress, ColumnType::kAddress},
    {"size", Encoding::kPlain, ColumnType::kBytes},
    {"stack", Encoding::kPlain, ColumnType::kStack},
};
inline constexpr ColumnSpec kWaitColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime},
    {"duration", Encoding::kSpan, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kWaitFields},
    {"object", Encoding::kAddress, ColumnType::kAddress},
    {"caller", Encoding::kDelta, ColumnType::kPc},
    {"stack", Encoding::kPlain, ColumnType::kStack},
    {"owner", Encoding::kPlain, ColumnType::kThread},
};
inline constexpr ColumnSpec kOpColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime},
    {"duration", Encoding::kSpan, ColumnType::kDuration},
    {"name", Encoding::kPlain, ColumnType::kString},
    {"operation", Encoding::kPlain, kOpFields},
    {"sequence", Encoding::kDelta, ColumnType::kNumber, 5},
};
inline constexpr ColumnSpec kTensorColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"device", Encoding::kPlain, ColumnType::kDevice},
    {"address", Encoding::kAddress, ColumnType::kAddress},
    {"bytes", Encoding::kPlain, ColumnType::kSignedBytes},
    {"total_allocated", Encoding::kDelta, ColumnType::kBytes},
    {"total_reserved", Encoding::kDelta, ColumnType::kBytes},
};
inline constexpr ColumnSpec kThreadEventColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"event", Encoding::kPlain, Codes::kThreadEvent},
    {"a", Encoding::kPlain, ColumnType::kNumber},
    {"b", Encoding::kPlain, ColumnType::kNumber},
};
inline constexpr ColumnSpec kProcessEventColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"event", Encoding::kPlain, Codes::kProcessEvent},
    {"a", Encoding::kPlain, ColumnType::kNumber},
    {"b", Encoding::kPlain, ColumnType::kNumber},
    {"text", Encoding::kPlain, ColumnType::kString},
};
inline constexpr ColumnSpec kMappingColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"operation", Encoding::kPlain, kMappingFields},
    {"address", Encoding::kAddress, ColumnType::kAddress},
    {"size", Encoding::kPlain, ColumnType::kBytes},
    {"stack", Encoding::kPlain, ColumnType::kStack},
};
inline constexpr ColumnSpec kRangeColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime},
    {"duration", Encoding::kSpan, ColumnType::kDuration},
    {"name", Encoding::kPlain, ColumnType::kString},
    {"operation", Encoding::kPlain, kRangeFields},
    {"domain", Encoding::kPlain, ColumnType::kString},
    {"style", Encoding::kPlain, kStyleFields},
    {"payload", Encoding::kPlain, ColumnType::kNumber},
    {"begin_thread", Encoding::kPlain, ColumnType::kThread},
};
inline constexpr ColumnSpec kRangePayloadColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"operation", Encoding::kPlain, kRangePayloadFields},
    {"domain", Encoding::kPlain, ColumnType::kString},
    {"definition", Encoding::kPlain, ColumnType::kNumber},
    {"value", Encoding::kPlain, ColumnType::kNumber},
};
inline constexpr ColumnSpec kLaunchColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"function", Encoding::kPlain, ColumnType::kFunction},
    {"stack", Encoding::kPlain, ColumnType::kStack},
};
inline constexpr ColumnSpec kFileReadColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime, 1},
    {"duration", Encoding::kSpan, ColumnType::kDuration, 1},
    {"path", Encoding::kPlain, ColumnType::kString, 1},
    {"bytes", Encoding::kPlain, ColumnType::kSignedBytes, 1},
    {"descriptor", Encoding::kPlain, ColumnType::kNumber, 1},
};
inline constexpr ColumnSpec kOpValueColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime, 4},
    {"name", Encoding::kPlain, ColumnType::kString, 4},
    {"value", Encoding::kPlain, ColumnType::kSigned, 4},
    {"text", Encoding::kPlain, ColumnType::kString, 4},
};
inline constexpr ColumnSpec kSampleColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime, 4},
    {"duration", Encoding::kSpan, ColumnType::kDuration, 4},
    {"thread", Encoding::kPlain, ColumnType::kThread, 4},
    {"state", Encoding::kPlain, kSampleFields, 4},
    {"stack", Encoding::kPlain, ColumnType::kStack, 4},
    {"holder", Encoding::kPlain, ColumnType::kThread, 4},
};
inline constexpr ColumnSpec kCounterColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"counter", Encoding::kPlain, ColumnType::kCounter},
    {"value", Encoding::kPlain, ColumnType::kSigned},
};
inline constexpr ColumnSpec kPythonColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime},
    {"duration", Encoding::kSpan, ColumnType::kDuration},
    {"name", Encoding::kPlain, ColumnType::kString},
    {"parent", Encoding::kDelta, ColumnType::kNumber},
    {"stack", Encoding::kPlain, ColumnType::kStack},
    {"inner", Encoding::kPlain, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kCallFields, 5},
};
inline constexpr ColumnSpec kGcPauseColumns[] = {
    {"end", Encoding::kTime, ColumnType::kTime, 5},
    {"duration", Encoding::kSpan, ColumnType::kDuration, 5},
    {"generation", Encoding::kPlain, ColumnType::kNumber, 5},
    {"collected", Encoding::kPlain, ColumnType::kNumber, 5},
    {"uncollectable", Encoding::kPlain, ColumnType::kNumber, 5},
};
inline constexpr ColumnSpec kRowDetailColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"table", Encoding::kPlain, Codes::kChunkKind},
    {"row", Encoding::kDelta, ColumnType::kNumber},
    {"external", Encoding::kDelta, ColumnType::kNumber},
    {"detail", Encoding::kPlain, ColumnType::kString},
    {"sequence", Encoding::kDelta, ColumnType::kNumber},
};
inline constexpr ColumnSpec kKernelColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"signature", Encoding::kPlain, ColumnType::kSignature},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"graph", Encoding::kDelta, ColumnType::kGraph},
    {"graph_node", Encoding::kDelta, ColumnType::kGraphNode},
};
inline constexpr ColumnSpec kMemcpyColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kMemcpyFields},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"bytes", Encoding::kKeyed, ColumnType::kBytes},
    {"graph", Encoding::kDelta, ColumnType::kGraph},
    {"graph_node", Encoding::kDelta, ColumnType::kGraphNode},
    {"peer", Encoding::kPlain, kPeerFields},
};
inline constexpr ColumnSpec kMemsetColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kMemsetFields},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"bytes", Encoding::kKeyed, ColumnType::kBytes},
    {"graph", Encoding::kDelta, ColumnType::kGraph},
    {"graph_node", Encoding::kDelta, ColumnType::kGraphNode},
    {"value", Encoding::kPlain, ColumnType::kNumber},
};
inline constexpr ColumnSpec kApiColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"function", Encoding::kPlain, ColumnType::kFunction},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"result", Encoding::kPlain, ColumnType::kResult},
};
inline constexpr ColumnSpec kSyncColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kSyncFields},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"stream", Encoding::kPlain, ColumnType::kNumber},
    {"event", Encoding::kDelta, ColumnType::kNumber},
    {"result", Encoding::kPlain, ColumnType::kResult},
    {"event_record", Encoding::kDelta, ColumnType::kNumber},
};
inline constexpr ColumnSpec kDeviceMemoryColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"operation", Encoding::kPlain, kDeviceMemoryFields},
    {"address", Encoding::kAddress, ColumnType::kAddress},
    {"bytes", Encoding::kPlain, ColumnType::kBytes},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"pool", Encoding::kDelta, ColumnType::kAddress},
    {"pc", Encoding::kDelta, ColumnType::kPc},
    {"origin", Encoding::kPlain, ColumnType::kString},
};
inline constexpr ColumnSpec kMemoryPoolColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"operation", Encoding::kPlain, kMemoryPoolFields},
    {"pool", Encoding::kDelta, ColumnType::kAddress},
    {"size", Encoding::kDelta, ColumnType::kBytes},
    {"utilized", Encoding::kDelta, ColumnType::kBytes},
    {"threshold", Encoding::kDelta, ColumnType::kBytes},
    {"kept", Encoding::kPlain, ColumnType::kBytes},
    {"correlation", Encoding::kPlain, ColumnType::kCorrelation},
};
inline constexpr ColumnSpec kGraphLaunchColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"graph", Encoding::kPlain, ColumnType::kGraph},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
};
inline constexpr ColumnSpec kOverheadColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kOverheadFields},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"bytes", Encoding::kPlain, ColumnType::kBytes},
};
inline constexpr ColumnSpec kCudaEventColumns[] = {
    {"time", Encoding::kTime, ColumnType::kTime},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation},
    {"event", Encoding::kDelta, ColumnType::kNumber},
    {"record", Encoding::kDelta, ColumnType::kNumber},
};
inline constexpr ColumnSpec kUnifiedMemoryColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime},
    {"duration", Encoding::kDuration, ColumnType::kDuration},
    {"operation", Encoding::kPlain, kUnifiedMemoryFields},
    {"value", Encoding::kKeyed, ColumnType::kNumber},
    {"address", Encoding::kAddress, ColumnType::kAddress},
    {"source", Encoding::kPlain, ColumnType::kNumber},
    {"destination", Encoding::kPlain, ColumnType::kNumber},
};
inline constexpr ColumnSpec kHostFunctionColumns[] = {
    {"end", Encoding::kGap, ColumnType::kTime, 3},
    {"duration", Encoding::kDuration, ColumnType::kDuration, 3},
    {"thread", Encoding::kPlain, ColumnType::kThread, 3},
    {"correlation", Encoding::kDelta, ColumnType::kCorrelation, 3},
    {"graph", Encoding::kDelta, ColumnType::kGraph, 3},
    {"graph_node", Encoding::kDelta, ColumnType::kGraphNode, 3},
};

inline constexpr TableSpec kTables[] = {
    {ChunkKind::kHeap, "heap", Feed::kRing, EventClock::kTicks, RowOrder::kAny, kHeapColumns},
    {ChunkKind::kWait, "wait", Feed::kRing, EventClock::kTicks, RowOrder::kByTime, kWaitColumns},
    {ChunkKind::kOp, "op", Feed::kRing, EventClock::kTicks, RowOrder::kByTime, kOpColumns},
    {ChunkKind::kTensor, "tensor", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kTensorColumns},
    {ChunkKind::kThreadEvent, "thread", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kThreadEventColumns},
    {ChunkKind::kProcessEvent, "process", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kProcessEventColumns},
    {ChunkKind::kMapping, "mapping", Feed::kRing, EventClock::kTicks, RowOrder::kAny,
     kMappingColumns},
    {ChunkKind::kRange, "range", Feed::kRing, EventClock::kTicks, RowOrder::kByTime, kRangeColumns},
    {ChunkKind::kRangePayload, "range_payload", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kRangePayloadColumns},
    {ChunkKind::kLaunch, "launch", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kLaunchColumns},
    {ChunkKind::kFileRead, "file_read", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kFileReadColumns},
    {ChunkKind::kOpValue, "op_value", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kOpValueColumns},
    {ChunkKind::kSample, "sample", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kSampleColumns},
    {ChunkKind::kGcPause, "gc_pause", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kGcPauseColumns},
    {ChunkKind::kCounter, "counter", Feed::kSampler, EventClock::kTicks, RowOrder::kByTime,
     kCounterColumns},
    {ChunkKind::kPython, "python", Feed::kRing, EventClock::kTicks, RowOrder::kByTime,
     kPythonColumns},
    {ChunkKind::kRowDetail, "row_detail", Feed::kImport, EventClock::kTicks, RowOrder::kByTime,
     kRowDetailColumns},
    {ChunkKind::kKernel, "kernel", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kKernelColumns},
    {ChunkKind::kMemcpy, "memcpy", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kMemcpyColumns},
    {ChunkKind::kMemset, "memset", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kMemsetColumns},
    {ChunkKind::kApi, "api", Feed::kCupti, EventClock::kCupti, RowOrder::kAny, kApiColumns},
    {ChunkKind::kSync, "sync", Feed::kCupti, EventClock::kCupti, RowOrder::kAny, kSyncColumns},
    {ChunkKind::kDeviceMemory, "device_memory", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kDeviceMemoryColumns},
    {ChunkKind::kMemoryPool, "memory_pool", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kMemoryPoolColumns},
    {ChunkKind::kGraphLaunch, "graph_launch", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kGraphLaunchColumns},
    {ChunkKind::kOverhead, "overhead", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kOverheadColumns},
    {ChunkKind::kCudaEvent, "cuda_event", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kCudaEventColumns},
    {ChunkKind::kUnifiedMemory, "unified_memory", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kUnifiedMemoryColumns},
    {ChunkKind::kHostFunction, "host_function", Feed::kCupti, EventClock::kCupti, RowOrder::kAny,
     kHostFunctionColumns},
};

inline constexpr BlockColumnSpec kBlockColumns[] = {
    {"track", 2},
    {"dropped_before", 6},
    {"capture", 7},
    {"sampled_one_in", 31},
};

// Tables of entries: each is one message of Chunk.
struct EntrySpec {
  ChunkKind kind;
  const char* name;
  int field;
  uint8_t since = 0;  // minor version
};
inline constexpr EntrySpec kEntryTables[] = {
    {ChunkKind::kMeta, "meta", 13},
    {ChunkKind::kStrings, "strings", 8},
    {ChunkKind::kStacks, "stacks", 9},
    {ChunkKind::kModules, "modules", 10},
    {ChunkKind::kClocks, "clocks", 11},
    {ChunkKind::kThreads, "threads", 12},
    {ChunkKind::kHealth, "health", 14},
    {ChunkKind::kSignatures, "signatures", 25},
    {ChunkKind::kStreams, "streams", 26},
    {ChunkKind::kDevices, "devices", 27},
    {ChunkKind::kFunctions, "functions", 28},
    {ChunkKind::kGraphNodes, "graph_nodes", 29},
    {ChunkKind::kCounters, "counters", 30},
    {ChunkKind::kHloModules, "hlo_modules", 36, 1},
    {ChunkKind::kWorkSums, "work_sums", 37, 2},
};

// Returns the description of a kind of events; null: this version has no such events.
constexpr const TableSpec* FindTable(ChunkKind kind) {
  for (const TableSpec& table : kTables) {
    if (table.kind == kind) return &table;
  }
  return nullptr;
}

// Returns whether a block of this kind holds a table's entries, not rows.
constexpr bool IsTableKind(uint16_t kind) {
  for (const EntrySpec& table : kEntryTables) {
    if (static_cast<uint16_t>(table.kind) == kind) return true;
  }
  return false;
}

// Returns whether a kind is work of a GPU that tables WorkSums sum.
constexpr bool IsSummedWork(ChunkKind kind) {
  return kind == ChunkKind::kKernel || kind == ChunkKind::kMemcpy || kind == ChunkKind::kMemset ||
         kind == ChunkKind::kGraphLaunch;
}

// Returns the column of a chained table with the values that are summed; 0: the table has no
// values.
constexpr int SummedColumn(const TableSpec& table) {
  for (int i = 0; i < table.columns; ++i) {
    if (table.column[i].encoding == Encoding::kKeyed) return i;
  }
  return 0;
}

// Returns whether the times of this kind of event are on CUPTI's clock.
constexpr bool HasCuptiClock(ChunkKind kind) {
  const TableSpec* table = FindTable(kind);
  return table != nullptr && table->clock == EventClock::kCupti;
}

// Columns of the widest table of this version: what writers and readers must have places for.
constexpr int WidestTable() {
  int widest = 0;
  for (const TableSpec& table : kTables) widest = table.columns > widest ? table.columns : widest;
  return widest;
}
inline constexpr int kWidestTable = WidestTable();

// Returns the minor version that brought the newest column or table. Older readers skip it.
constexpr uint16_t NewestPart() {
  uint16_t newest = 0;
  for (const EntrySpec& table : kEntryTables) {
    newest = table.since > newest ? table.since : newest;
  }
  for (const TableSpec& table : kTables) {
    for (int i = 0; i < table.columns; ++i) {
      newest = table.column[i].since > newest ? table.column[i].since : newest;
    }
  }
  for (const BlockColumnSpec& column : kBlockColumns) {
    newest = column.since > newest ? column.since : newest;
  }
  return newest;
}
// The minor version of the format.
inline constexpr uint16_t kFormatMinor = NewestPart();

// Returns the place of a table among those that CUPTI feeds: arrays have their order.
constexpr int CuptiPlace(ChunkKind kind) {
  int place = 0;
  for (const TableSpec& table : kTables) {
    if (table.kind == kind) break;
    place += table.feed == Feed::kCupti ? 1 : 0;
  }
  return place;
}
constexpr int CountCuptiTables() {
  int count = 0;
  for (const TableSpec& table : kTables) count += table.feed == Feed::kCupti ? 1 : 0;
  return count;
}
inline constexpr int kCuptiTables = CountCuptiTables();

// Kinds of rings have places in arrays. Calls of Python have the last one: their number is that of
// a table which at first only imports had.
inline constexpr int kRingKinds = 32;
constexpr int RingKindIndex(ChunkKind kind) {
  return kind == ChunkKind::kPython ? kRingKinds - 1
                                    : static_cast<int>(kind) - static_cast<int>(ChunkKind::kHeap);
}
constexpr ChunkKind RingKindAt(int index) {
  return index == kRingKinds - 1
             ? ChunkKind::kPython
             : static_cast<ChunkKind>(static_cast<int>(ChunkKind::kHeap) + index);
}
constexpr bool KindsAreSound() {
  for (const TableSpec& table : kTables) {
    const bool has_place = RingKindIndex(table.kind) >= 0 && RingKindIndex(table.kind) < kRingKinds;
    if (has_place != (table.feed == Feed::kRing)) return false;
    if (static_cast<uint16_t>(table.kind) >= kMostKinds) return false;
    if (FindTable(table.kind) != &table || IsTableKind(static_cast<uint16_t>(table.kind)))
      return false;
  }
  return true;
}
static_assert(KindsAreSound());

// Returns whether the fields of a packed column lie in its 64 bits, apart from each other.
constexpr bool FieldsAreSound(const ColumnSpec& column) {
  uint64_t taken = 0;
  for (int i = 0; i < column.fields; ++i) {
    const BitField& field = column.field[i];
    const uint64_t all = ~uint64_t{0} >> (64 - field.bits) << field.first;
    const bool has_words = field.type == ColumnType::kEnum || field.type == ColumnType::kFlags;
    if (field.bits == 0 || field.first + field.bits > 64 || (taken & all) != 0) return false;
    if (has_words != (field.codes != Codes::kNone)) return false;
    taken |= all;
  }
  return true;
}
// Returns whether each packed column names its fields, {"operation", Encoding::kPlain,
// kHeapFields}, and each column of an enumeration its codes, {"event", Encoding::kPlain,
// Codes::kThreadEvent}.
constexpr bool ColumnsAreSound() {
  for (const TableSpec& table : kTables) {
    for (int i = 0; i < table.columns; ++i) {
      const ColumnSpec& column = table.column[i];
      if ((column.type == ColumnType::kBits) != (column.fields != 0)) return false;
      if ((column.type == ColumnType::kEnum) != (column.codes != Codes::kNone)) return false;
      if (!FieldsAreSound(column)) return false;
    }
  }
  return true;
}
static_assert(ColumnsAreSound());

}  // namespace gpuprof::proto
