// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What we use of CUPTI's binary interface: function types, numbers, and where a record's fields
// lie. Written down here so that gpuprof builds without a CUDA toolkit; a test compares every line
// with NVIDIA's headers where those are. Names follow CUPTI's.
//
// Records grow at their end from release to release and (of the kinds used here, since CUDA 11.2)
// never move a field. So one set of offsets serves all libraries: a field is read only where the
// record, whose size the library itself shows by where the next one begins, holds it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuprof::tracer::cupti {

// CUptiResult.
enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kInvalidKind = 21,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kUmNotSupported = 28,
  kUmNotSupportedOnDevice = 29,
  kUmNotSupportedOnNonP2pDevices = 30,
  kUmNotSupportedWithMps = 31,
  kInsufficientPrivileges = 35,
  kLegacyProfilerNotSupported = 38,
  kMultipleSubscribersNotSupported = 39,
  kUnknown = 999,
};

// CUpti_ActivityKind.
enum class Activity : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpy2 = 22,
  kUnifiedMemoryCounter = 25,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kMemory2 = 49,
  kMemoryPool = 50,
  kGraphTrace = 51,
  kJit = 52,
  kGraphHostNode = 56,  // from 13.1 on, as the next
  kHostLaunch = 58,
};

// CUpti_CallbackDomain.
enum Domain : uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3, kState = 6 };
// CUpti_CallbackIdResource.
enum ResourceId : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kStreamCreated = 3,
  kModuleLoaded = 6,
  kGraphCreated = 9,
  kGraphCloned = 11,
  kGraphNodeCreated = 13,
  kGraphExecCreateStarting = 17,
  kGraphExecCreated = 18,
  kGraphNodeCloned = 20,
};
// CUpti_ActivityThreadIdType.
inline constexpr int kThreadIdSystem = 1;
// CUpti_ActivityFlag of FlushAll.
inline constexpr uint32_t kFlushForced = 1;

// CUpti_ActivityAttribute.
enum Attribute : uint32_t {
  kDeviceBufferSize = 0,
  kDeviceBufferPreAllocate = 6,
  kDeviceBufferHostPinned = 8,
};
// CUpti_ActivityMemoryPoolType.
inline constexpr uint32_t kPoolLocal = 1;
// CUpti_ActivityObjectKind.
inline constexpr uint32_t kObjectThread = 2;
inline constexpr uint32_t kObjectDevice = 3;
inline constexpr uint32_t kObjectStream = 5;
// CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL.
inline constexpr uint32_t kCommandBufferFull = 6 << 16;
// CUPTI_INVALID_CONTEXT_ID, CUPTI_INVALID_STREAM_ID: none.
inline constexpr uint32_t kNoId = 0xffffffff;

using SubscriberHandle = void*;
using Callback = void (*)(void* user, uint32_t domain, uint32_t id, const void* data);
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid_size);
// Of the second generation, whose last argument tells of the thread and of records' layouts.
using BufferRequestedV2 = void (*)(uint8_t** buffer, size_t* size, size_t* most_records,
                                   void* info);
using BufferCompletedV2 = void (*)(uint8_t* buffer, size_t size, size_t valid_size, void* info);

// CUpti_SubscriberParams as it is since 13.2. `size` is what the caller knows of it: of 13.0, to
// where `allow_others` begins. Libraries take the size of their own release alone (13.0 takes 32
// and refuses 33 and 40).
struct SubscriberParams {
  size_t size;
  const char* name;
  char* old_name;  // receives who is in the way; kHolderBytes at least
  size_t old_name_size;
  uint8_t allow_others;
  uint8_t padding[7];
};
static_assert(sizeof(SubscriberParams) == 40);
inline constexpr uint32_t kFirstOfLongParams = 130200;
inline constexpr size_t ParamsBytes(uint32_t version) {
  return version >= kFirstOfLongParams ? sizeof(SubscriberParams)
                                       : offsetof(SubscriberParams, allow_others);
}
inline constexpr size_t kHolderBytes = 64;
// CUpti_ActivityAttribute since 13.3: whether graphs are recorded as wholes, of all subscribers
// together, one byte; and of the thread ids of one subscriber's records, four.
inline constexpr int kAttributeGraphTrace = 20;
inline constexpr int kAttributeThreadIdType = 21;

// CUpti_ActivityUnifiedMemoryCounterConfig.
struct UnifiedMemoryConfig {
  uint32_t scope, counter, device, enable;
};

// X(member, symbol, type, needed): the functions, by their names without "cupti". Without a needed
// one the library is of no use.
#define GPUPROF_CUPTI_FUNCTIONS(X)                                                                \
  X(get_version, "GetVersion", int (*)(uint32_t*), true)                                          \
  X(get_timestamp, "GetTimestamp", int (*)(uint64_t*), true)                                      \
  X(get_result_string, "GetResultString", int (*)(int, const char**), false)                      \
  X(subscribe, "Subscribe", int (*)(SubscriberHandle*, Callback, void*), true)                    \
  X(unsubscribe, "Unsubscribe", int (*)(SubscriberHandle), true)                                  \
  X(enable_callback, "EnableCallback", int (*)(uint32_t, SubscriberHandle, uint32_t, uint32_t),   \
    true)                                                                                         \
  X(get_callback_name, "GetCallbackName", int (*)(uint32_t, uint32_t, const char**), false)       \
  X(register_callbacks, "ActivityRegisterCallbacks", int (*)(BufferRequested, BufferCompleted),   \
    true)                                                                                         \
  X(register_clock, "ActivityRegisterTimestampCallback", int (*)(uint64_t(*)()), false)           \
  X(enable, "ActivityEnable", int (*)(uint32_t), true)                                            \
  X(enable_and_dump, "ActivityEnableAndDump", int (*)(uint32_t), false)                           \
  X(disable, "ActivityDisable", int (*)(uint32_t), true)                                          \
  X(get_enabled_kinds, "ActivityGetEnabledKinds",                                                 \
    int (*)(SubscriberHandle, uint32_t*, uint32_t*, uint32_t*), false)                            \
  X(get_attribute, "ActivityGetAttribute", int (*)(uint32_t, size_t*, void*), false)              \
  X(flush_all, "ActivityFlushAll", int (*)(uint32_t), true)                                       \
  X(get_next_record, "ActivityGetNextRecord", int (*)(uint8_t*, size_t, void**), true)            \
  X(get_dropped, "ActivityGetNumDroppedRecords", int (*)(void*, uint32_t, size_t*), true)         \
  X(get_thread_id_type, "GetThreadIdType", int (*)(int*), false)                                  \
  X(set_thread_id_type, "SetThreadIdType", int (*)(int), false)                                   \
  X(enable_runtime_api, "ActivityEnableRuntimeApi", int (*)(uint32_t, uint8_t), false)            \
  X(enable_driver_api, "ActivityEnableDriverApi", int (*)(uint32_t, uint8_t), false)              \
  X(enable_all_sync_records, "ActivityEnableAllSyncRecords", int (*)(uint8_t), false)             \
  X(configure_unified_memory, "ActivityConfigureUnifiedMemoryCounter",                            \
    int (*)(UnifiedMemoryConfig*, uint32_t), false)                                               \
  X(subscribe_v2, "Subscribe_v2", int (*)(SubscriberHandle*, Callback, void*, SubscriberParams*), \
    false)                                                                                        \
  X(register_callbacks_v2, "ActivityRegisterCallbacks_v2",                                        \
    int (*)(SubscriberHandle, BufferRequestedV2, BufferCompletedV2), false)                       \
  X(enable_v2, "ActivityEnable_v2", int (*)(SubscriberHandle, uint32_t, void*), false)            \
  X(enable_and_dump_v2, "ActivityEnableAndDump_v2", int (*)(SubscriberHandle, uint32_t, void*),   \
    false)                                                                                        \
  X(disable_v2, "ActivityDisable_v2", int (*)(SubscriberHandle, uint32_t, void*), false)          \
  X(get_next_record_v2, "ActivityGetNextRecord_v2",                                               \
    int (*)(SubscriberHandle, uint8_t*, size_t, void**), false)                                   \
  X(get_dropped_v2, "ActivityGetNumDroppedRecords_v2",                                            \
    int (*)(SubscriberHandle, void*, uint32_t, size_t*), false)                                   \
  X(get_timestamp_v2, "GetTimestamp_v2", int (*)(SubscriberHandle, uint64_t*), false)             \
  X(get_attribute_v2, "ActivityGetAttribute_v2", int (*)(SubscriberHandle, int, size_t*, void*),  \
    false)                                                                                        \
  X(set_attribute_v2, "ActivitySetAttribute_v2", int (*)(SubscriberHandle, int, size_t*, void*),  \
    false)                                                                                        \
  X(enable_runtime_api_v2, "ActivityEnableRuntimeApi_v2",                                         \
    int (*)(SubscriberHandle, uint32_t, uint8_t), false)                                          \
  X(enable_driver_api_v2, "ActivityEnableDriverApi_v2",                                           \
    int (*)(SubscriberHandle, uint32_t, uint8_t), false)                                          \
  X(get_context_id, "GetContextId", int (*)(void*, uint32_t*), false)                             \
  X(get_stream_id, "GetStreamIdEx", int (*)(void*, void*, uint8_t, uint32_t*), false)             \
  X(get_graph_id, "GetGraphId", int (*)(void*, uint32_t*), false)                                 \
  X(get_graph_node_id, "GetGraphNodeId", int (*)(void*, uint64_t*), false)                        \
  X(get_graph_exec_id, "GetGraphExecId", int (*)(void*, uint32_t*), false)

// One record, of which only what it holds is read: what lies behind its end is 0.
class Record {
 public:
  Record(const void* at, size_t bytes) : at_(static_cast<const uint8_t*>(at)), bytes_(bytes) {}
  Activity kind() const { return static_cast<Activity>(U32(0)); }
  size_t bytes() const { return bytes_; }
  // Its beginning, of which it holds as much: where that is a constant nothing is asked any longer.
  Record First(size_t bytes) const { return Record(at_, bytes); }
  uint8_t U8(size_t offset) const { return Read<uint8_t>(offset); }
  uint16_t U16(size_t offset) const { return Read<uint16_t>(offset); }
  uint32_t U32(size_t offset) const { return Read<uint32_t>(offset); }
  uint64_t U64(size_t offset) const { return Read<uint64_t>(offset); }
  const char* Text(size_t offset) const { return Read<const char*>(offset); }
  // Null where the record does not hold all of them.
  const uint8_t* Bytes(size_t offset, size_t count) const {
    return offset + count <= bytes_ ? at_ + offset : nullptr;
  }

 private:
  template <typename T>
  T Read(size_t offset) const {
    T value{};
    if (offset + sizeof(T) <= bytes_) memcpy(&value, at_ + offset, sizeof(T));
    return value;
  }
  const uint8_t* at_;
  size_t bytes_;
};

// What a resource callback is told: CUpti_ResourceData, in it of graphs a CUpti_GraphData and of
// modules a CUpti_ModuleResourceData, whose bytes are there during the callback only.
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  uint32_t node_type;  // CUgraphNodeType
  void* dependency;
  void* graph_exec;
};
struct ModuleData {
  uint32_t module;
  size_t cubin_bytes;
  const char* cubin;
};
struct ResourceData {
  void* context;
  void* stream;
  const void* descriptor;
};

// Offsets of fields. The kind is at 0 everywhere.
namespace kernel {
enum : size_t {
  kCacheConfig = 4,  // u8: two nibbles, requested and executed
  kRegisters = 6,    // u16
  kStart = 16,
  kEnd = 24,
  kDevice = 40,
  kContext = 44,
  kStream = 48,
  kGrid = 52,   // 3 x u32
  kBlock = 64,  // 3 x u32
  kStaticShared = 76,
  kDynamicShared = 80,
  kLocalPerThread = 84,
  kCorrelation = 92,
  kName = 104,
  kLaunchType = 136,  // u8
  kSharedExecuted = 140,
  kGraphNode = 144,
  kGraph = 156,
  kCluster = 176,  // 3 x u32
  kLocalTotal = 192,
  kDeviceLaunched = 208,  // u8
};
}
// Memcpy, and Memcpy2 between devices.
namespace copy {
enum : size_t {
  kCopyKind = 4,  // u8 each
  kSourceKind = 5,
  kDestinationKind = 6,
  kFlags = 7,
  kBytes = 8,
  kStart = 16,
  kEnd = 24,
  kDevice = 32,
  kContext = 36,
  kStream = 40,
  kCorrelation = 44,
  kGraphNode = 64,
  kGraph = 72,
};
}
namespace peer_copy {
enum : size_t {
  kSourceDevice = 44,
  kSourceContext = 48,
  kDestinationDevice = 52,
  kDestinationContext = 56,
  kCorrelation = 60,
  kGraphNode = 72,
  kGraph = 80,
};
}
namespace set {
enum : size_t {
  kValue = 4,
  kBytes = 8,
  kStart = 16,
  kEnd = 24,
  kDevice = 32,
  kContext = 36,
  kStream = 40,
  kCorrelation = 44,
  kFlags = 48,       // u16
  kMemoryKind = 50,  // u16
  kGraphNode = 64,
  kGraph = 72,
};
}
namespace api {
enum : size_t {
  kCallbackId = 4,
  kStart = 8,
  kEnd = 16,
  kThread = 28,
  kCorrelation = 32,
  kResult = 36,
};
}
namespace graph_trace {
enum : size_t {
  kCorrelation = 4,
  kStart = 8,
  kEnd = 16,
  kDevice = 24,
  kGraph = 28,
  kContext = 32,
  kStream = 36,
  kEndDevice = 48,   // from 12.3 on
  kEndContext = 52,  // from 12.3 on
};
// For the device and the context: the launch begins on the host.
inline constexpr uint32_t kOnHost = 0x7fffffff;
}  // namespace graph_trace
// A function that a stream runs on the host, and one that is a node of a graph.
namespace host_launch {
enum : size_t {
  kStream = 4,
  kContext = 8,
  kDevice = 12,
  kCorrelation = 16,
  kThread = 24,
  kStart = 32,
  kEnd = 40,
};
}
namespace graph_host_node {
enum : size_t {
  kStream = 4,
  kContext = 8,
  kDevice = 12,
  kCorrelation = 16,
  kGraph = 20,
  kGraphNode = 24,
  kThread = 36,
  kStart = 40,
  kEnd = 48,
};
}
namespace overhead {
enum : size_t {
  kKind = 4,
  kObjectKind = 8,
  // Of a thread its process and its number; else device, context, stream as far as they are told.
  kObject = 12,
  kThread = 16,
  kStart = 24,
  kEnd = 32,
  kCorrelation = 40,  // from 12.2 on
  kData = 48,         // from 12.4 on: what the kind has to say beside, from malloc
};
}
namespace jit {
enum : size_t {
  kEntry = 4,
  kOperation = 8,
  kDevice = 12,
  kStart = 16,
  kEnd = 24,
  kCorrelation = 32,
  kCacheBytes = 48,
  kThread = 68,  // from 12.4 on
};
}
namespace sync {
enum : size_t {
  kType = 4,
  kStart = 8,
  kEnd = 16,
  kCorrelation = 24,
  kContext = 28,
  kStream = 32,
  kEvent = 36,
  kEventRecord = 40,  // from 12.8 on, as the next
  kResult = 48,
};
// CUpti_ActivitySynchronizationType: of an event on the host, and of a stream for an event.
inline constexpr uint32_t kForEvent = 1, kStreamForEvent = 2;
}  // namespace sync
namespace cuda_event {
enum : size_t {
  kCorrelation = 4,
  kContext = 8,
  kStream = 12,
  kEvent = 16,
  kDevice = 24,  // from 12.8 on, as the next
  kRecord = 48,
};
}
// Counters of unified memory, in the layout of CUDA 7.0 and later.
namespace um {
enum : size_t {
  kCounter = 4,
  kValue = 8,
  kStart = 16,
  kEnd = 24,
  kAddress = 32,
  kSource = 40,
  kDestination = 44,
  kFlags = 56,
};
// CUpti_ActivityUnifiedMemoryCounterKind: those whose end says nothing, and the last.
inline constexpr uint32_t kCpuPageFault = 3, kThrashing = 5, kRemoteMap = 7, kLastCounter = 8;
// CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE.
inline constexpr uint32_t kOneDevice = 1;
}  // namespace um
namespace memory {
enum : size_t {
  kOperation = 4,
  kMemoryKind = 8,
  kCorrelation = 12,
  kAddress = 16,
  kBytes = 24,
  kTime = 32,
  kPc = 40,
  kDevice = 52,
  kContext = 56,
  kStream = 60,
  kName = 64,
  kAsync = 72,
  // Of the pool that the memory is of; all but the first of a local pool alone.
  kPoolType = 80,
  kPoolAddress = 88,
  kPoolThreshold = 96,
  kPoolSize = 104,
  kPoolUtilized = 112,
  kSource = 120,  // from 12.6 on
};
}
namespace pool {
enum : size_t {
  kOperation = 4,
  kPoolType = 8,
  kCorrelation = 12,
  kDevice = 20,
  kKept = 24,
  kAddress = 32,
  kSize = 40,
  kThreshold = 48,
  kTime = 56,
  kUtilized = 64,
  kManaged = 72,  // u8, from 13.0 on
};
}
namespace device {
enum : size_t {
  kMemoryBandwidth = 8,
  kMemoryBytes = 16,
  kL2Bytes = 28,
  kThreadsPerWarp = 32,
  kCoreClock = 36,
  kMultiprocessors = 44,
  kWarpsPerMultiprocessor = 52,
  kBlocksPerMultiprocessor = 56,
  kSharedPerMultiprocessor = 60,
  kRegistersPerMultiprocessor = 64,
  kRegistersPerBlock = 68,
  kSharedPerBlock = 72,
  kThreadsPerBlock = 76,
  kMajor = 104,
  kMinor = 108,
  kId = 112,
  kUuid = 120,  // 16 bytes
  kName = 136,
  kIsMig = 145,  // u8
  kGpuInstance = 152,
  kComputeInstance = 156,
};
}
namespace context {
enum : size_t { kId = 4, kDevice = 8 };
}
namespace stream {
enum : size_t { kContext = 4, kId = 8, kPriority = 12, kFlag = 16 };
}

// What a callback of an API domain is given (CUpti_CallbackData).
namespace callback_data {
enum : size_t { kSite = 0, kCorrelation = 64, kBytes = 72 };
}
// CUpti_ApiCallbackSite.
inline constexpr uint32_t kApiEnter = 0;
inline constexpr uint32_t kApiExit = 1;

}  // namespace gpuprof::tracer::cupti
