// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See names.h.

#include "analysis/model/names.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "analysis/model/trace.h"
#include "proto/contract.h"
#include "proto/matrix_ops.h"
#include "proto/record.h"
#include "proto/schema.h"
#include "proto/ticks.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {
namespace {

struct Entry {
  uint32_t code;
  std::string_view name;
};

template <typename Code>
constexpr Entry Is(Code code, std::string_view name) {
  return {static_cast<uint32_t>(code), name};
}

std::string_view Find(std::span<const Entry> entries, uint32_t code) {
  for (const Entry& entry : entries) {
    if (entry.code == code) return entry.name;
  }
  return "";
}

using namespace proto;

constexpr Entry kHeapFunctions[] = {
    Is(HeapFunction::kMalloc, "malloc"),
    Is(HeapFunction::kCalloc, "calloc"),
    Is(HeapFunction::kRealloc, "realloc"),
    Is(HeapFunction::kFree, "free"),
    Is(HeapFunction::kPosixMemalign, "posix_memalign"),
    Is(HeapFunction::kAlignedAlloc, "aligned_alloc"),
    Is(HeapFunction::kMemalign, "memalign"),
    Is(HeapFunction::kValloc, "valloc"),
    Is(HeapFunction::kPvalloc, "pvalloc"),
    Is(HeapFunction::kReallocarray, "reallocarray"),
    Is(HeapFunction::kFreeSized, "free_sized"),
    Is(HeapFunction::kFreeAlignedSized, "free_aligned_sized"),
};
constexpr Entry kWaitKinds[] = {
    Is(WaitKind::kMutex, "mutex"),
    Is(WaitKind::kRwlockRead, "rwlock_read"),
    Is(WaitKind::kRwlockWrite, "rwlock_write"),
    Is(WaitKind::kCondition, "condition"),
    Is(WaitKind::kSemaphore, "semaphore"),
    Is(WaitKind::kBarrier, "barrier"),
    Is(WaitKind::kJoin, "join"),
    Is(WaitKind::kSleep, "sleep"),
    Is(WaitKind::kInput, "input"),
    Is(WaitKind::kEvents, "events"),
    Is(WaitKind::kChild, "child"),
    Is(WaitKind::kFutex, "futex"),
    Is(WaitKind::kGil, "gil"),
};
constexpr Entry kMapEvents[] = {
    Is(MapEvent::kMmap, "mmap"),
    Is(MapEvent::kMunmap, "munmap"),
    Is(MapEvent::kMremap, "mremap"),
    Is(MapEvent::kMremapFrom, "mremap_from"),
};
constexpr Entry kOpScopes[] = {
    Is(OpScope::kFunction, "function"),       Is(OpScope::kBackward, "backward"),
    Is(OpScope::kTorchScript, "torchscript"), Is(OpScope::kUser, "user"),
    Is(OpScope::kTraceMe, "trace_me"),
};
constexpr Entry kRangeKinds[] = {
    Is(RangeKind::kPushPop, "push_pop"),
    Is(RangeKind::kStartEnd, "start_end"),
    Is(RangeKind::kMark, "mark"),
    Is(RangeKind::kNameThread, "name_thread"),
    Is(RangeKind::kNameCategory, "name_category"),
    Is(RangeKind::kNameDevice, "name_device"),
    Is(RangeKind::kNameContext, "name_context"),
    Is(RangeKind::kNameStream, "name_stream"),
    Is(RangeKind::kNameEvent, "name_event"),
};
constexpr Entry kNvtxPayloads[] = {
    Is(NvtxPayload::kNone, "none"),     Is(NvtxPayload::kUint64, "uint64"),
    Is(NvtxPayload::kInt64, "int64"),   Is(NvtxPayload::kDouble, "double"),
    Is(NvtxPayload::kUint32, "uint32"), Is(NvtxPayload::kInt32, "int32"),
    Is(NvtxPayload::kFloat, "float"),
};
constexpr Entry kRecordFlags[] = {
    Is(kFlagSampled, "sampled"),
    Is(kFlagHasStack, "has_stack"),
    Is(kFlagCoarseTime, "coarse_time"),
    Is(kFlagTimedOut, "timed_out"),
    Is(kFlagIncomplete, "incomplete"),
    Is(kFlagNoUnwinder, "no_unwinder"),
    Is(kFlagFile, "file"),
    Is(kFlagNoAccess, "no_access"),
};
constexpr Entry kMatrixOps[] = {
    Is(MatrixOp::kHmma, "HMMA"),       Is(MatrixOp::kImma, "IMMA"),
    Is(MatrixOp::kDmma, "DMMA"),       Is(MatrixOp::kBmma, "BMMA"),
    Is(MatrixOp::kQmma, "QMMA"),       Is(MatrixOp::kOmma, "OMMA"),
    Is(MatrixOp::kHgmma, "HGMMA"),     Is(MatrixOp::kIgmma, "IGMMA"),
    Is(MatrixOp::kQgmma, "QGMMA"),     Is(MatrixOp::kBgmma, "BGMMA"),
    Is(MatrixOp::kUtchmma, "UTCHMMA"), Is(MatrixOp::kUtcimma, "UTCIMMA"),
    Is(MatrixOp::kUtcqmma, "UTCQMMA"), Is(MatrixOp::kUtcomma, "UTCOMMA"),
};
constexpr Entry kThreadEvents[] = {
    Is(ThreadEvent::kStart, "start"),
    Is(ThreadEvent::kName, "name"),
    Is(ThreadEvent::kExit, "exit"),
    Is(ThreadEvent::kSeen, "seen"),
};
constexpr Entry kProcessEvents[] = {
    Is(ProcessEvent::kFork, "fork"),   Is(ProcessEvent::kVfork, "vfork"),
    Is(ProcessEvent::kSpawn, "spawn"), Is(ProcessEvent::kExec, "exec"),
    Is(ProcessEvent::kExit, "exit"),
};
constexpr Entry kExitWays[] = {
    Is(ExitWay::kUnknown, "unknown"),   Is(ExitWay::kReturn, "return"),
    Is(ExitWay::kUnderscore, "_exit"),  Is(ExitWay::kQuick, "quick_exit"),
    Is(ExitWay::kAbort, "abort"),       Is(ExitWay::kExec, "exec"),
    Is(ExitWay::kSnapshot, "snapshot"), Is(ExitWay::kFiltered, "filtered"),
    Is(ExitWay::kAlone, "alone"),       Is(ExitWay::kRights, "rights"),
    Is(ExitWay::kLimits, "limits"),     Is(ExitWay::kDetached, "detached"),
};
constexpr Entry kHeapModes[] = {
    Is(HeapMode::kOff, "off"),
    Is(HeapMode::kSampled, "sampled"),
    Is(HeapMode::kExact, "exact"),
};
constexpr Entry kClockKinds[] = {
    Is(ClockKind::kMonotonic, "monotonic"),
    Is(ClockKind::kTsc, "tsc"),
};
constexpr Entry kLossKinds[] = {
    Is(LOSS_UNKNOWN, "unknown"),
    Is(LOSS_RING_FULL, "ring_full"),
    Is(LOSS_REENTERED, "reentered"),
    Is(LOSS_NO_RING, "no_ring"),
    Is(LOSS_SAMPLE_TABLE_FULL, "sample_table_full"),
    Is(LOSS_STACK_TABLE_FULL, "stack_table_full"),
    Is(LOSS_STRING_TABLE_FULL, "string_table_full"),
    Is(LOSS_WRITE_ERROR, "write_error"),
    Is(LOSS_CORRUPT_RECORD, "corrupt_record"),
    Is(LOSS_UNPAIRED_SPAN, "unpaired_span"),
    Is(LOSS_MEMORY_LIMIT, "memory_limit"),
    Is(LOSS_THREAD_EDGE, "thread_edge"),
    Is(LOSS_GPU_DROPPED, "gpu_dropped"),
    Is(LOSS_GPU_TIMES, "gpu_times"),
    Is(LOSS_SIGNATURE_TABLE_FULL, "signature_table_full"),
    Is(LOSS_RANGE_VALUE, "range_value"),
    Is(LOSS_COUNTER_SAMPLE, "counter_sample"),
    Is(LOSS_SPAN, "span"),
};
constexpr Entry kSources[] = {
#define GPUPROF_ENTRY(constant, bit, name, ...) Is(constant, name),
    GPUPROF_SOURCES(GPUPROF_ENTRY)
#undef GPUPROF_ENTRY
};
// CUpti_ActivityOverheadKind; CUpti_ActivityJitEntryType and CUpti_ActivityJitOperationType.
constexpr Entry kOverheads[] = {
    {proto::OverheadOperation(1), "driver_compiler"},
    {proto::OverheadOperation(1 << 16), "cupti_buffer_flush"},
    {proto::OverheadOperation(2 << 16), "cupti_instrumentation"},
    {proto::OverheadOperation(3 << 16), "cupti_resource"},
    {proto::OverheadOperation(4 << 16), "module_loading"},
    {proto::OverheadOperation(5 << 16), "lazy_function_loading"},
    {proto::OverheadOperation(6 << 16), "command_buffer_full"},
    {proto::OverheadOperation(7 << 16), "cupti_buffer_request"},
    {proto::OverheadOperation(8 << 16), "cupti_unified_memory"},
    {proto::JitOperation(1, 1), "ptx_cache_load"},
    {proto::JitOperation(1, 2), "ptx_cache_store"},
    {proto::JitOperation(1, 3), "ptx_compile"},
    {proto::JitOperation(2, 1), "nvvm_cache_load"},
    {proto::JitOperation(2, 2), "nvvm_cache_store"},
    {proto::JitOperation(2, 3), "nvvm_compile"},
};
// CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind, CUpti_ActivitySynchronizationType.
constexpr Entry kCopyKinds[] = {
    {0, "unknown"}, {1, "HtoD"}, {2, "DtoH"}, {3, "HtoA"}, {4, "AtoH"},  {5, "AtoA"},
    {6, "AtoD"},    {7, "DtoA"}, {8, "DtoD"}, {9, "HtoH"}, {10, "PtoP"},
};
constexpr Entry kMemoryKinds[] = {
    {0, "unknown"}, {1, "pageable"}, {2, "pinned"},        {3, "device"},
    {4, "array"},   {5, "managed"},  {6, "device_static"}, {7, "managed_static"},
};
constexpr Entry kSyncKinds[] = {
    {0, "unknown"}, {1, "event"}, {2, "stream_wait"}, {3, "stream"}, {4, "context"},
};
constexpr Entry kMemoryOperations[] = {
    {kMemoryAllocation, "allocation"},
    {kMemoryRelease, "release"},
};
constexpr Entry kPoolOperations[] = {
    {kPoolSeen, "seen"},
    {kPoolCreated, "created"},
    {kPoolDestroyed, "destroyed"},
    {kPoolTrimmed, "trimmed"},
};
constexpr Entry kPoolTypes[] = {
    {0, "none"},
    {kLocalPool, "local"},
    {kImportedPool, "imported"},
};
// CUpti_ActivityUnifiedMemoryCounterKind.
constexpr Entry kUnifiedMemoryCounters[] = {
    {1, "HtoD"},      {2, "DtoH"},       {3, "cpu_page_fault"}, {4, "gpu_page_fault"},
    {5, "thrashing"}, {6, "throttling"}, {7, "remote_map"},     {8, "DtoD"},
};
// nvml.h, nvmlClocksEventReasons.
constexpr Entry kClocksEventReasons[] = {
    {0x1, "gpu_idle"},
    {0x2, "applications_clocks_setting"},
    {0x4, "sw_power_cap"},
    {0x8, "hw_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "sw_thermal_slowdown"},
    {0x40, "hw_thermal_slowdown"},
    {0x80, "hw_power_brake_slowdown"},
    {0x100, "display_clock_setting"},
    {0x200, "board_limit"},
    {0x400, "reliability"},
};
// As c10::DeviceType numbers them.
constexpr Entry kDeviceTypes[] = {
    {0, "cpu"}, {1, "cuda"}, {2, "mkldnn"}, {6, "hip"},
    {9, "xla"}, {12, "xpu"}, {13, "mps"},   {14, "meta"},
};

std::span<const Entry> EntriesOf(Codes codes) {
  switch (codes) {
    case Codes::kHeapFunction:
      return kHeapFunctions;
    case Codes::kWaitKind:
      return kWaitKinds;
    case Codes::kMapEvent:
      return kMapEvents;
    case Codes::kOpScope:
      return kOpScopes;
    case Codes::kRangeKind:
      return kRangeKinds;
    case Codes::kNvtxPayload:
      return kNvtxPayloads;
    case Codes::kThreadEvent:
      return kThreadEvents;
    case Codes::kProcessEvent:
      return kProcessEvents;
    case Codes::kRecordFlags:
      return kRecordFlags;
    case Codes::kCopyKind:
      return kCopyKinds;
    case Codes::kMemoryKind:
      return kMemoryKinds;
    case Codes::kMemoryOperation:
      return kMemoryOperations;
    case Codes::kPoolOperation:
      return kPoolOperations;
    case Codes::kPoolType:
      return kPoolTypes;
    case Codes::kSyncKind:
      return kSyncKinds;
    case Codes::kOverhead:
      return kOverheads;
    case Codes::kUnifiedMemoryCounter:
      return kUnifiedMemoryCounters;
    case Codes::kChunkKind:  // the tables' own names
    case Codes::kNone:
      return {};
  }
  return {};
}

// Names a code of CUPTI's enumerations, which have an "unknown" of their own.
std::string_view FindOrUnknown(std::span<const Entry> entries, uint32_t code) {
  const std::string_view name = Find(entries, code);
  return name.empty() ? entries.front().name : name;
}

}  // namespace

std::string_view CodeName(Codes codes, uint32_t code) {
  if (codes == Codes::kChunkKind) return ChunkKindName(code);
  const std::span<const Entry> entries = EntriesOf(codes);
  const bool has_unknown = !entries.empty() && entries.front().name == "unknown";
  return has_unknown ? FindOrUnknown(entries, code) : Find(entries, code);
}

std::vector<std::pair<uint32_t, std::string_view>> NamedCodes(Codes codes) {
  std::vector<std::pair<uint32_t, std::string_view>> named;
  if (codes == Codes::kChunkKind) {
    for (uint32_t kind = 0; kind < kMostKinds; ++kind) {
      const std::string_view name = ChunkKindName(kind);
      if (!name.empty()) named.emplace_back(kind, name);
    }
  }
  for (const Entry& entry : EntriesOf(codes)) named.emplace_back(entry.code, entry.name);
  std::sort(named.begin(), named.end());
  return named;
}

std::string_view HeapFunctionName(uint32_t code) { return Find(kHeapFunctions, code); }
std::string_view WaitKindName(uint32_t code) { return Find(kWaitKinds, code); }
std::string_view MapEventName(uint32_t code) { return Find(kMapEvents, code); }
std::string_view OpScopeName(uint32_t code) { return Find(kOpScopes, code); }
std::string_view RangeKindName(uint32_t code) { return Find(kRangeKinds, code); }
std::string_view ThreadEventName(uint32_t code) { return Find(kThreadEvents, code); }
std::string_view ProcessEventName(uint32_t code) { return Find(kProcessEvents, code); }
std::string_view ExitWayName(uint32_t code) { return Find(kExitWays, code); }
std::string_view HeapModeName(uint32_t code) { return Find(kHeapModes, code); }
std::string_view ClockKindName(uint32_t code) { return Find(kClockKinds, code); }
std::string_view LossKindName(uint32_t code) { return Find(kLossKinds, code); }
std::string_view SourceName(uint32_t bit) { return Find(kSources, bit); }

std::string_view ClocksEventReasonName(uint64_t bit) {
  return bit > UINT32_MAX ? std::string_view()
                          : Find(kClocksEventReasons, static_cast<uint32_t>(bit));
}

std::string_view ChunkKindName(uint32_t code) {
  const TableSpec* table = FindTable(static_cast<ChunkKind>(code));
  if (table != nullptr) return table->name;
  for (const EntrySpec& entries : kEntryTables) {
    if (static_cast<uint32_t>(entries.kind) == code) return entries.name;
  }
  return "";
}

std::string_view CopyKindName(uint32_t kind) { return FindOrUnknown(kCopyKinds, kind); }

std::string_view MemoryKindName(uint32_t kind) { return FindOrUnknown(kMemoryKinds, kind); }

std::string_view SyncKindName(uint32_t kind) { return FindOrUnknown(kSyncKinds, kind); }

std::string_view OverheadName(uint32_t operation) { return Find(kOverheads, operation); }

std::string_view UnifiedMemoryCounterName(uint32_t counter) {
  return Find(kUnifiedMemoryCounters, counter);
}

std::string_view UnifiedMemoryCauseName(uint32_t counter, uint32_t flags) {
  constexpr std::string_view kMigrations[] = {"",         "user",     "coherence",
                                              "prefetch", "eviction", "access_counters"};
  constexpr std::string_view kAccesses[] = {"", "read", "write", "atomic", "prefetch"};
  constexpr std::string_view kMappings[] = {"",       "coherence",     "thrashing",
                                            "policy", "out_of_memory", "eviction"};
  const auto find = [flags](const auto& names) {
    return flags < std::size(names) ? names[flags] : names[0];
  };
  if (counter == 1 || counter == 2 || counter == 8) return find(kMigrations);
  if (counter == 4) return find(kAccesses);
  return counter == 7 ? find(kMappings) : std::string_view();
}

std::string NvtxPayloadText(NvtxPayload type, uint64_t bits) {
  char text[40];
  float single;
  double wide;
  const auto low = static_cast<uint32_t>(bits);
  switch (type) {
    case NvtxPayload::kInt64:
      return std::to_string(static_cast<int64_t>(bits));
    case NvtxPayload::kUint32:
      return std::to_string(low);
    case NvtxPayload::kInt32:
      return std::to_string(static_cast<int32_t>(low));
    case NvtxPayload::kFloat:
      std::memcpy(&single, &low, sizeof single);
      std::snprintf(text, sizeof text, "%.9g", static_cast<double>(single));
      return text;
    case NvtxPayload::kDouble:
      std::memcpy(&wide, &bits, sizeof wide);
      std::snprintf(text, sizeof text, "%.17g", wide);
      return text;
    default:
      return std::to_string(bits);
  }
}

std::string RangeValueText(RangeValue type, uint64_t bits) {
  char text[24];
  switch (type) {
    case RangeValue::kInt64:
      return NvtxPayloadText(NvtxPayload::kInt64, bits);
    case RangeValue::kDouble:
      return NvtxPayloadText(NvtxPayload::kDouble, bits);
    case RangeValue::kAddress:
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
      return text;
    default:
      return std::to_string(bits);
  }
}

std::string CounterValueText(int64_t value, uint32_t divisor) {
  if (divisor <= 1) return std::to_string(value);
  const uint64_t size = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string text = (value < 0 ? "-" : "") + std::to_string(size / divisor);
  uint64_t rest = size % divisor;
  if (rest != 0) text += '.';
  for (int digits = 0; rest != 0 && digits < 9; ++digits) {
    rest *= 10;
    text += static_cast<char>('0' + rest / divisor);
    rest %= divisor;
  }
  return text;
}

std::string DimensionsText(const google::protobuf::RepeatedField<uint32_t>& dimensions) {
  std::string text;
  for (const uint32_t size : dimensions) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

std::string MatrixOpsText(uint32_t matrix_ops, std::string_view separator) {
  std::string text;
  for (uint32_t op = 1; op < 32; ++op) {
    if ((matrix_ops >> op & 1) == 0) continue;
    if (!text.empty()) text += separator;
    const std::string_view known = Find(kMatrixOps, op);
    text += known.empty() ? "op" + std::to_string(op) : std::string(known);
  }
  return text;
}

std::string DamagedRingsText(uint32_t rings) {
  return "the ring file of its process was cut or damaged: the last records of " +
         std::to_string(rings) + (rings == 1 ? " thread" : " threads") + " are missing";
}

std::string DeviceName(const Process& process, uint32_t device) {
  const uint32_t type = DeviceTypeOf(device), index = DeviceIndexOf(device);
  std::string_view known = Find(kDeviceTypes, type);
  // No framework's number tells a TPU, but the device's own name does.
  const proto::Device* found = known == "cuda" ? process.FindDevice(index) : nullptr;
  if (found != nullptr && found->name().rfind("TPU", 0) == 0) known = "tpu";
  // PyTorch says cuda on every GPU, and its traces name the model. XSpaces name the maker alone.
  if (found != nullptr && found->name() == "AMD GPU") known = "rocm";
  std::string name = known.empty() ? "device" + std::to_string(type) : std::string(known);
  if (index != kNoDeviceIndex && known != "cpu") name += ":" + std::to_string(index);
  return name;
}

}  // namespace gpuprof::analysis
