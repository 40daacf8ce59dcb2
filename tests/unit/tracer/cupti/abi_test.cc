// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// tracer/cupti/abi.h, line by line, against the headers of a CUDA toolkit.

#include "tracer/cupti/abi.h"

#include <gtest/gtest.h>

#include <cuda.h>
#include <cupti.h>

#include <type_traits>
#include <utility>

#include "proto/schema.h"
#include "tests/fake_gpu/cupti/host_records.h"

namespace gpuprof::tracer::cupti {
namespace {

#define SAME_PLACE(ours, type, field, bytes)      \
  static_assert((ours) == offsetof(type, field)); \
  static_assert(sizeof(type::field) == (bytes))

using Kernel = CUpti_ActivityKernel10;
SAME_PLACE(kernel::kCacheConfig, Kernel, cacheConfig, 1);
SAME_PLACE(kernel::kRegisters, Kernel, registersPerThread, 2);
SAME_PLACE(kernel::kStart, Kernel, start, 8);
SAME_PLACE(kernel::kEnd, Kernel, end, 8);
SAME_PLACE(kernel::kDevice, Kernel, deviceId, 4);
SAME_PLACE(kernel::kContext, Kernel, contextId, 4);
SAME_PLACE(kernel::kStream, Kernel, streamId, 4);
SAME_PLACE(kernel::kGrid, Kernel, gridX, 4);
SAME_PLACE(kernel::kGrid + 8, Kernel, gridZ, 4);
SAME_PLACE(kernel::kBlock, Kernel, blockX, 4);
SAME_PLACE(kernel::kBlock + 8, Kernel, blockZ, 4);
SAME_PLACE(kernel::kStaticShared, Kernel, staticSharedMemory, 4);
SAME_PLACE(kernel::kDynamicShared, Kernel, dynamicSharedMemory, 4);
SAME_PLACE(kernel::kLocalPerThread, Kernel, localMemoryPerThread, 4);
SAME_PLACE(kernel::kCorrelation, Kernel, correlationId, 4);
SAME_PLACE(kernel::kName, Kernel, name, 8);
SAME_PLACE(kernel::kLaunchType, Kernel, launchType, 1);
SAME_PLACE(kernel::kSharedExecuted, Kernel, sharedMemoryExecuted, 4);
SAME_PLACE(kernel::kGraphNode, Kernel, graphNodeId, 8);
SAME_PLACE(kernel::kGraph, Kernel, graphId, 4);
SAME_PLACE(kernel::kCluster, Kernel, clusterX, 4);
SAME_PLACE(kernel::kCluster + 8, Kernel, clusterZ, 4);
SAME_PLACE(kernel::kLocalTotal, Kernel, localMemoryTotal_v2, 8);
SAME_PLACE(kernel::kDeviceLaunched, Kernel, isDeviceLaunched, 1);

SAME_PLACE(callback_data::kSite, CUpti_CallbackData, callbackSite, 4);
SAME_PLACE(callback_data::kCorrelation, CUpti_CallbackData, correlationId, 4);
static_assert(callback_data::kBytes == sizeof(CUpti_CallbackData));
static_assert(kApiEnter == CUPTI_API_ENTER);
static_assert(kApiExit == CUPTI_API_EXIT);

using Memcpy = CUpti_ActivityMemcpy6;
SAME_PLACE(copy::kCopyKind, Memcpy, copyKind, 1);
SAME_PLACE(copy::kSourceKind, Memcpy, srcKind, 1);
SAME_PLACE(copy::kDestinationKind, Memcpy, dstKind, 1);
SAME_PLACE(copy::kFlags, Memcpy, flags, 1);
SAME_PLACE(copy::kBytes, Memcpy, bytes, 8);
SAME_PLACE(copy::kStart, Memcpy, start, 8);
SAME_PLACE(copy::kEnd, Memcpy, end, 8);
SAME_PLACE(copy::kDevice, Memcpy, deviceId, 4);
SAME_PLACE(copy::kContext, Memcpy, contextId, 4);
SAME_PLACE(copy::kStream, Memcpy, streamId, 4);
SAME_PLACE(copy::kCorrelation, Memcpy, correlationId, 4);
SAME_PLACE(copy::kGraphNode, Memcpy, graphNodeId, 8);
SAME_PLACE(copy::kGraph, Memcpy, graphId, 4);

// A copy between devices begins like one within.
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
SAME_PLACE(copy::kCopyKind, PeerCopy, copyKind, 1);
SAME_PLACE(copy::kBytes, PeerCopy, bytes, 8);
SAME_PLACE(copy::kStart, PeerCopy, start, 8);
SAME_PLACE(copy::kEnd, PeerCopy, end, 8);
SAME_PLACE(copy::kDevice, PeerCopy, deviceId, 4);
SAME_PLACE(copy::kContext, PeerCopy, contextId, 4);
SAME_PLACE(copy::kStream, PeerCopy, streamId, 4);
SAME_PLACE(peer_copy::kSourceDevice, PeerCopy, srcDeviceId, 4);
SAME_PLACE(peer_copy::kSourceContext, PeerCopy, srcContextId, 4);
SAME_PLACE(peer_copy::kDestinationDevice, PeerCopy, dstDeviceId, 4);
SAME_PLACE(peer_copy::kDestinationContext, PeerCopy, dstContextId, 4);
SAME_PLACE(peer_copy::kCorrelation, PeerCopy, correlationId, 4);
SAME_PLACE(peer_copy::kGraphNode, PeerCopy, graphNodeId, 8);
SAME_PLACE(peer_copy::kGraph, PeerCopy, graphId, 4);

using Memset = CUpti_ActivityMemset4;
SAME_PLACE(set::kValue, Memset, value, 4);
SAME_PLACE(set::kBytes, Memset, bytes, 8);
SAME_PLACE(set::kStart, Memset, start, 8);
SAME_PLACE(set::kEnd, Memset, end, 8);
SAME_PLACE(set::kDevice, Memset, deviceId, 4);
SAME_PLACE(set::kContext, Memset, contextId, 4);
SAME_PLACE(set::kStream, Memset, streamId, 4);
SAME_PLACE(set::kCorrelation, Memset, correlationId, 4);
SAME_PLACE(set::kFlags, Memset, flags, 2);
SAME_PLACE(set::kMemoryKind, Memset, memoryKind, 2);
SAME_PLACE(set::kGraphNode, Memset, graphNodeId, 8);
SAME_PLACE(set::kGraph, Memset, graphId, 4);

SAME_PLACE(api::kCallbackId, CUpti_ActivityAPI, cbid, 4);
SAME_PLACE(api::kStart, CUpti_ActivityAPI, start, 8);
SAME_PLACE(api::kEnd, CUpti_ActivityAPI, end, 8);
SAME_PLACE(api::kThread, CUpti_ActivityAPI, threadId, 4);
SAME_PLACE(api::kCorrelation, CUpti_ActivityAPI, correlationId, 4);
SAME_PLACE(api::kResult, CUpti_ActivityAPI, returnValue, 4);

using GraphTrace = CUpti_ActivityGraphTrace2;
using Overhead = CUpti_ActivityOverhead3;
using Jit = CUpti_ActivityJit2;
SAME_PLACE(graph_trace::kCorrelation, GraphTrace, correlationId, 4);
SAME_PLACE(graph_trace::kStart, GraphTrace, start, 8);
SAME_PLACE(graph_trace::kEnd, GraphTrace, end, 8);
SAME_PLACE(graph_trace::kDevice, GraphTrace, deviceId, 4);
SAME_PLACE(graph_trace::kGraph, GraphTrace, graphId, 4);
SAME_PLACE(graph_trace::kContext, GraphTrace, contextId, 4);
SAME_PLACE(graph_trace::kStream, GraphTrace, streamId, 4);
SAME_PLACE(graph_trace::kEndDevice, GraphTrace, endDeviceId, 4);
SAME_PLACE(graph_trace::kEndContext, GraphTrace, endContextId, 4);
static_assert(graph_trace::kOnHost == INT_MAX);

SAME_PLACE(overhead::kKind, Overhead, overheadKind, 4);
SAME_PLACE(overhead::kObjectKind, Overhead, objectKind, 4);
SAME_PLACE(overhead::kObject, Overhead, objectId.pt.processId, 4);
SAME_PLACE(overhead::kObject, Overhead, objectId.dcs.deviceId, 4);
SAME_PLACE(overhead::kThread, Overhead, objectId.pt.threadId, 4);
SAME_PLACE(overhead::kStart, Overhead, start, 8);
SAME_PLACE(overhead::kEnd, Overhead, end, 8);
SAME_PLACE(overhead::kCorrelation, Overhead, correlationId, 4);
SAME_PLACE(overhead::kData, Overhead, overheadData, 8);
static_assert(kCommandBufferFull == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
SAME_PLACE(jit::kEntry, Jit, jitEntryType, 4);
SAME_PLACE(jit::kOperation, Jit, jitOperationType, 4);
SAME_PLACE(jit::kDevice, Jit, deviceId, 4);
SAME_PLACE(jit::kStart, Jit, start, 8);
SAME_PLACE(jit::kEnd, Jit, end, 8);
SAME_PLACE(jit::kCorrelation, Jit, correlationId, 4);
SAME_PLACE(jit::kCacheBytes, Jit, cacheSize, 8);
SAME_PLACE(jit::kThread, Jit, threadId, 4);
static_assert(proto::OverheadOperation(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) == 1 &&
              proto::OverheadOperation(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH) == 2 &&
              proto::OverheadOperation(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING) == 6 &&
              proto::OverheadOperation(CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT) == 9);
static_assert(proto::JitOperation(CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX,
                                  CUPTI_ACTIVITY_JIT_OPERATION_COMPILE) == 0x23);

#define SAME_MEMBER(ours, field, type, their_field)                    \
  static_assert(offsetof(ours, field) == offsetof(type, their_field)); \
  static_assert(sizeof(ours::field) == sizeof(type::their_field))
SAME_MEMBER(GraphData, graph, CUpti_GraphData, graph);
SAME_MEMBER(GraphData, original_graph, CUpti_GraphData, originalGraph);
SAME_MEMBER(GraphData, node, CUpti_GraphData, node);
SAME_MEMBER(GraphData, original_node, CUpti_GraphData, originalNode);
SAME_MEMBER(GraphData, node_type, CUpti_GraphData, nodeType);
SAME_MEMBER(GraphData, dependency, CUpti_GraphData, dependency);
SAME_MEMBER(GraphData, graph_exec, CUpti_GraphData, graphExec);
SAME_MEMBER(ResourceData, context, CUpti_ResourceData, context);
SAME_MEMBER(ModuleData, module, CUpti_ModuleResourceData, moduleId);
SAME_MEMBER(ModuleData, cubin_bytes, CUpti_ModuleResourceData, cubinSize);
SAME_MEMBER(ModuleData, cubin, CUpti_ModuleResourceData, pCubin);
SAME_MEMBER(ResourceData, stream, CUpti_ResourceData, resourceHandle);
SAME_MEMBER(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);

// Of 13.1 and later, which the headers at hand may lack.
using HostLaunch = fake_gpu_cupti::HostLaunchRecord;
SAME_PLACE(host_launch::kStream, HostLaunch, streamId, 4);
SAME_PLACE(host_launch::kContext, HostLaunch, contextId, 4);
SAME_PLACE(host_launch::kDevice, HostLaunch, deviceId, 4);
SAME_PLACE(host_launch::kCorrelation, HostLaunch, correlationId, 4);
SAME_PLACE(host_launch::kThread, HostLaunch, threadId, 4);
SAME_PLACE(host_launch::kStart, HostLaunch, start, 8);
SAME_PLACE(host_launch::kEnd, HostLaunch, end, 8);
using GraphHostNode = fake_gpu_cupti::GraphHostNodeRecord;
SAME_PLACE(graph_host_node::kStream, GraphHostNode, streamId, 4);
SAME_PLACE(graph_host_node::kContext, GraphHostNode, contextId, 4);
SAME_PLACE(graph_host_node::kDevice, GraphHostNode, deviceId, 4);
SAME_PLACE(graph_host_node::kCorrelation, GraphHostNode, correlationId, 4);
SAME_PLACE(graph_host_node::kGraph, GraphHostNode, graphId, 4);
SAME_PLACE(graph_host_node::kGraphNode, GraphHostNode, graphNodeId, 8);
SAME_PLACE(graph_host_node::kThread, GraphHostNode, threadId, 4);
SAME_PLACE(graph_host_node::kStart, GraphHostNode, start, 8);
SAME_PLACE(graph_host_node::kEnd, GraphHostNode, end, 8);
static_assert(static_cast<uint32_t>(Activity::kHostLaunch) == fake_gpu_cupti::kKindHostLaunch);
static_assert(static_cast<uint32_t>(Activity::kGraphHostNode) ==
              fake_gpu_cupti::kKindGraphHostNode);

using Sync = CUpti_ActivitySynchronization2;
SAME_PLACE(sync::kType, Sync, type, 4);
SAME_PLACE(sync::kStart, Sync, start, 8);
SAME_PLACE(sync::kEnd, Sync, end, 8);
SAME_PLACE(sync::kCorrelation, Sync, correlationId, 4);
SAME_PLACE(sync::kContext, Sync, contextId, 4);
SAME_PLACE(sync::kStream, Sync, streamId, 4);
SAME_PLACE(sync::kEvent, Sync, cudaEventId, 4);
SAME_PLACE(sync::kEventRecord, Sync, cudaEventSyncId, 8);
SAME_PLACE(sync::kResult, Sync, returnValue, 4);
static_assert(sync::kForEvent == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE &&
              sync::kStreamForEvent == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
using Counter = CUpti_ActivityUnifiedMemoryCounter3;
SAME_PLACE(um::kCounter, Counter, counterKind, 4);
SAME_PLACE(um::kValue, Counter, value, 8);
SAME_PLACE(um::kStart, Counter, start, 8);
SAME_PLACE(um::kEnd, Counter, end, 8);
SAME_PLACE(um::kAddress, Counter, address, 8);
SAME_PLACE(um::kSource, Counter, srcId, 4);
SAME_PLACE(um::kDestination, Counter, dstId, 4);
SAME_PLACE(um::kFlags, Counter, flags, 4);
static_assert(um::kCpuPageFault ==
                  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT &&
              um::kThrashing == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING &&
              um::kRemoteMap == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP &&
              um::kLastCounter == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD &&
              um::kOneDevice == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE);
SAME_MEMBER(UnifiedMemoryConfig, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME_MEMBER(UnifiedMemoryConfig, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME_MEMBER(UnifiedMemoryConfig, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME_MEMBER(UnifiedMemoryConfig, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
static_assert(sizeof(UnifiedMemoryConfig) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
using Event = CUpti_ActivityCudaEvent2;
SAME_PLACE(cuda_event::kCorrelation, Event, correlationId, 4);
SAME_PLACE(cuda_event::kContext, Event, contextId, 4);
SAME_PLACE(cuda_event::kStream, Event, streamId, 4);
SAME_PLACE(cuda_event::kEvent, Event, eventId, 4);
SAME_PLACE(cuda_event::kDevice, Event, deviceId, 4);
SAME_PLACE(cuda_event::kRecord, Event, cudaEventSyncId, 8);

using Memory = CUpti_ActivityMemory4;
SAME_PLACE(memory::kOperation, Memory, memoryOperationType, 4);
SAME_PLACE(memory::kMemoryKind, Memory, memoryKind, 4);
SAME_PLACE(memory::kCorrelation, Memory, correlationId, 4);
SAME_PLACE(memory::kAddress, Memory, address, 8);
SAME_PLACE(memory::kBytes, Memory, bytes, 8);
SAME_PLACE(memory::kTime, Memory, timestamp, 8);
SAME_PLACE(memory::kPc, Memory, PC, 8);
SAME_PLACE(memory::kDevice, Memory, deviceId, 4);
SAME_PLACE(memory::kContext, Memory, contextId, 4);
SAME_PLACE(memory::kStream, Memory, streamId, 4);
SAME_PLACE(memory::kName, Memory, name, 8);
SAME_PLACE(memory::kAsync, Memory, isAsync, 4);
SAME_PLACE(memory::kSource, Memory, source, 8);
constexpr size_t kPoolOffset = offsetof(Memory, memoryPoolConfig);
using PoolOfMemory = decltype(Memory::memoryPoolConfig);
SAME_PLACE(memory::kPoolType - kPoolOffset, PoolOfMemory, memoryPoolType, 4);
SAME_PLACE(memory::kPoolAddress - kPoolOffset, PoolOfMemory, address, 8);
SAME_PLACE(memory::kPoolThreshold - kPoolOffset, PoolOfMemory, releaseThreshold, 8);
SAME_PLACE(memory::kPoolSize - kPoolOffset, PoolOfMemory, pool, 8);
SAME_PLACE(memory::kPoolUtilized - kPoolOffset, PoolOfMemory, utilizedSize, 8);
// What 11.8 has of it.
static_assert(memory::kPoolUtilized + 8 == sizeof(CUpti_ActivityMemory3));

using Pool = CUpti_ActivityMemoryPool3;
SAME_PLACE(pool::kOperation, Pool, memoryPoolOperationType, 4);
SAME_PLACE(pool::kPoolType, Pool, memoryPoolType, 4);
SAME_PLACE(pool::kCorrelation, Pool, correlationId, 4);
SAME_PLACE(pool::kDevice, Pool, deviceId, 4);
SAME_PLACE(pool::kKept, Pool, minBytesToKeep, 8);
SAME_PLACE(pool::kAddress, Pool, address, 8);
SAME_PLACE(pool::kSize, Pool, size, 8);
SAME_PLACE(pool::kThreshold, Pool, releaseThreshold, 8);
SAME_PLACE(pool::kTime, Pool, timestamp, 8);
SAME_PLACE(pool::kUtilized, Pool, utilizedSize, 8);
SAME_PLACE(pool::kManaged, Pool, isManagedPool, 1);

using Device = CUpti_ActivityDevice5;
SAME_PLACE(device::kMemoryBandwidth, Device, globalMemoryBandwidth, 8);
SAME_PLACE(device::kMemoryBytes, Device, globalMemorySize, 8);
SAME_PLACE(device::kL2Bytes, Device, l2CacheSize, 4);
SAME_PLACE(device::kThreadsPerWarp, Device, numThreadsPerWarp, 4);
SAME_PLACE(device::kCoreClock, Device, coreClockRate, 4);
SAME_PLACE(device::kMultiprocessors, Device, numMultiprocessors, 4);
SAME_PLACE(device::kWarpsPerMultiprocessor, Device, maxWarpsPerMultiprocessor, 4);
SAME_PLACE(device::kBlocksPerMultiprocessor, Device, maxBlocksPerMultiprocessor, 4);
SAME_PLACE(device::kSharedPerMultiprocessor, Device, maxSharedMemoryPerMultiprocessor, 4);
SAME_PLACE(device::kRegistersPerMultiprocessor, Device, maxRegistersPerMultiprocessor, 4);
SAME_PLACE(device::kRegistersPerBlock, Device, maxRegistersPerBlock, 4);
SAME_PLACE(device::kSharedPerBlock, Device, maxSharedMemoryPerBlock, 4);
SAME_PLACE(device::kThreadsPerBlock, Device, maxThreadsPerBlock, 4);
SAME_PLACE(device::kMajor, Device, computeCapabilityMajor, 4);
SAME_PLACE(device::kMinor, Device, computeCapabilityMinor, 4);
SAME_PLACE(device::kId, Device, id, 4);
SAME_PLACE(device::kUuid, Device, uuid, 16);
SAME_PLACE(device::kName, Device, name, 8);
SAME_PLACE(device::kIsMig, Device, isMigEnabled, 1);
SAME_PLACE(device::kGpuInstance, Device, gpuInstanceId, 4);
SAME_PLACE(device::kComputeInstance, Device, computeInstanceId, 4);

SAME_PLACE(context::kId, CUpti_ActivityContext3, contextId, 4);
SAME_PLACE(context::kDevice, CUpti_ActivityContext3, deviceId, 4);
SAME_PLACE(stream::kContext, CUpti_ActivityStream, contextId, 4);
SAME_PLACE(stream::kId, CUpti_ActivityStream, streamId, 4);
SAME_PLACE(stream::kPriority, CUpti_ActivityStream, priority, 4);
SAME_PLACE(stream::kFlag, CUpti_ActivityStream, flag, 4);

TEST(CuptiAbi, NumbersAreTheHeaders) {
  EXPECT_EQ(kSuccess, CUPTI_SUCCESS);
  EXPECT_EQ(kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(kInvalidKind, CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_EQ(kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(kUmNotSupported, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED);
  EXPECT_EQ(kUmNotSupportedOnDevice, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE);
  EXPECT_EQ(kUmNotSupportedOnNonP2pDevices,
            CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES);
  EXPECT_EQ(kUmNotSupportedWithMps, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
  EXPECT_EQ(kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(kLegacyProfilerNotSupported, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
  EXPECT_EQ(kMultipleSubscribersNotSupported, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(kUnknown, CUPTI_ERROR_UNKNOWN);
  const std::pair<Activity, uint32_t> kinds[] = {
      {Activity::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY},
      {Activity::kMemset, CUPTI_ACTIVITY_KIND_MEMSET},
      {Activity::kDriver, CUPTI_ACTIVITY_KIND_DRIVER},
      {Activity::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME},
      {Activity::kDevice, CUPTI_ACTIVITY_KIND_DEVICE},
      {Activity::kContext, CUPTI_ACTIVITY_KIND_CONTEXT},
      {Activity::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
      {Activity::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD},
      {Activity::kMemcpy2, CUPTI_ACTIVITY_KIND_MEMCPY2},
      {Activity::kUnifiedMemoryCounter, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER},
      {Activity::kCudaEvent, CUPTI_ACTIVITY_KIND_CUDA_EVENT},
      {Activity::kStream, CUPTI_ACTIVITY_KIND_STREAM},
      {Activity::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
      {Activity::kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2},
      {Activity::kMemoryPool, CUPTI_ACTIVITY_KIND_MEMORY_POOL},
      {Activity::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE},
      {Activity::kJit, CUPTI_ACTIVITY_KIND_JIT},
  };
  for (const auto& [ours, theirs] : kinds) EXPECT_EQ(static_cast<uint32_t>(ours), theirs);
  EXPECT_EQ(kDriverApi, static_cast<uint32_t>(CUPTI_CB_DOMAIN_DRIVER_API));
  EXPECT_EQ(kRuntimeApi, static_cast<uint32_t>(CUPTI_CB_DOMAIN_RUNTIME_API));
  EXPECT_EQ(kResource, static_cast<uint32_t>(CUPTI_CB_DOMAIN_RESOURCE));
  EXPECT_EQ(kState, static_cast<uint32_t>(CUPTI_CB_DOMAIN_STATE));
  EXPECT_EQ(kContextCreated, static_cast<uint32_t>(CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
  EXPECT_EQ(kDeviceBufferSize, static_cast<uint32_t>(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE));
  EXPECT_EQ(kDeviceBufferPreAllocate,
            static_cast<uint32_t>(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE));
  EXPECT_EQ(kDeviceBufferHostPinned,
            static_cast<uint32_t>(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED));
  EXPECT_EQ(kPoolLocal, static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL));
  EXPECT_EQ(kObjectThread, static_cast<uint32_t>(CUPTI_ACTIVITY_OBJECT_THREAD));
  EXPECT_EQ(kObjectDevice, static_cast<uint32_t>(CUPTI_ACTIVITY_OBJECT_DEVICE));
  EXPECT_EQ(kObjectStream, static_cast<uint32_t>(CUPTI_ACTIVITY_OBJECT_STREAM));
  EXPECT_EQ(kNoId, CUPTI_INVALID_CONTEXT_ID);
  EXPECT_EQ(kNoId, CUPTI_INVALID_STREAM_ID);
  EXPECT_EQ(uint32_t{proto::kMemoryAllocation},
            static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION));
  EXPECT_EQ(uint32_t{proto::kMemoryRelease},
            static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE));
  EXPECT_EQ(uint32_t{proto::kPoolCreated},
            static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED));
  EXPECT_EQ(uint32_t{proto::kPoolDestroyed},
            static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED));
  EXPECT_EQ(uint32_t{proto::kPoolTrimmed},
            static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED));
  const std::pair<ResourceId, uint32_t> resources[] = {
      {kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
      {kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
      {kStreamCreated, CUPTI_CBID_RESOURCE_STREAM_CREATED},
      {kModuleLoaded, CUPTI_CBID_RESOURCE_MODULE_LOADED},
      {kGraphCreated, CUPTI_CBID_RESOURCE_GRAPH_CREATED},
      {kGraphCloned, CUPTI_CBID_RESOURCE_GRAPH_CLONED},
      {kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED},
      {kGraphExecCreateStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING},
      {kGraphExecCreated, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED},
      {kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED},
  };
  for (const auto& [ours, theirs] : resources) EXPECT_EQ(static_cast<uint32_t>(ours), theirs);
  EXPECT_EQ(kThreadIdSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  EXPECT_EQ(kFlushForced, static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

// Same number of parameters, each of the same size: what a call through a pointer depends on.
template <typename T>
constexpr size_t SizeOf() {
  if constexpr (std::is_void_v<T>) {
    return 0;
  } else {
    return sizeof(T);
  }
}
template <typename Ours, typename Theirs>
struct Alike : std::false_type {};
template <typename R1, typename... A, typename R2, typename... B>
            struct Alike<R1 (*)(A...), R2 (*)(B...)> : std::bool_constant < sizeof...(A) ==
        sizeof...(B) &&
    SizeOf<R1>() == SizeOf<R2>() &&[]<bool... kSame>(std::integer_sequence<bool, kSame...>) {
  return (kSame && ...);
}(std::integer_sequence<bool, sizeof(A) == sizeof(B)...>()) > {};

static_assert(Alike<int (*)(uint32_t*), decltype(&cuptiGetVersion)>::value);
static_assert(Alike<int (*)(uint64_t*), decltype(&cuptiGetTimestamp)>::value);
static_assert(Alike<int (*)(int, const char**), decltype(&cuptiGetResultString)>::value);
static_assert(Alike<int (*)(SubscriberHandle*, Callback, void*), decltype(&cuptiSubscribe)>::value);
static_assert(Alike<int (*)(SubscriberHandle), decltype(&cuptiUnsubscribe)>::value);
static_assert(Alike<int (*)(uint32_t, SubscriberHandle, uint32_t, uint32_t),
                    decltype(&cuptiEnableCallback)>::value);
static_assert(
    Alike<int (*)(uint32_t, uint32_t, const char**), decltype(&cuptiGetCallbackName)>::value);
static_assert(Alike<int (*)(BufferRequested, BufferCompleted),
                    decltype(&cuptiActivityRegisterCallbacks)>::value);
static_assert(Alike<int (*)(uint32_t), decltype(&cuptiActivityEnable)>::value);
static_assert(Alike<int (*)(uint32_t), decltype(&cuptiActivityEnableAndDump)>::value);
static_assert(Alike<int (*)(uint32_t), decltype(&cuptiActivityDisable)>::value);
static_assert(
    Alike<int (*)(uint32_t, size_t*, void*), decltype(&cuptiActivityGetAttribute)>::value);
static_assert(Alike<int (*)(uint32_t), decltype(&cuptiActivityFlushAll)>::value);
static_assert(
    Alike<int (*)(uint8_t*, size_t, void**), decltype(&cuptiActivityGetNextRecord)>::value);
static_assert(
    Alike<int (*)(void*, uint32_t, size_t*), decltype(&cuptiActivityGetNumDroppedRecords)>::value);
static_assert(Alike<int (*)(int), decltype(&cuptiSetThreadIdType)>::value);
static_assert(Alike<int (*)(int*), decltype(&cuptiGetThreadIdType)>::value);
static_assert(Alike<int (*)(uint32_t, uint8_t), decltype(&cuptiActivityEnableRuntimeApi)>::value);
static_assert(Alike<int (*)(void*, uint32_t*), decltype(&cuptiGetContextId)>::value);
static_assert(
    Alike<int (*)(void*, void*, uint8_t, uint32_t*), decltype(&cuptiGetStreamIdEx)>::value);
static_assert(Alike<int (*)(void*, uint32_t*), decltype(&cuptiGetGraphId)>::value);
static_assert(Alike<int (*)(void*, uint64_t*), decltype(&cuptiGetGraphNodeId)>::value);
static_assert(Alike<int (*)(void*, uint32_t*), decltype(&cuptiGetGraphExecId)>::value);
static_assert(Alike<int (*)(uint32_t, uint8_t), decltype(&cuptiActivityEnableDriverApi)>::value);
static_assert(Alike<int (*)(uint8_t), decltype(&cuptiActivityEnableAllSyncRecords)>::value);
static_assert(Alike<int (*)(SubscriberHandle*, Callback, void*, SubscriberParams*),
                    decltype(&cuptiSubscribe_v2)>::value);

// Without its last fields, which are younger than the header.
SAME_PLACE(offsetof(SubscriberParams, size), CUpti_SubscriberParams, structSize, 8);
SAME_PLACE(offsetof(SubscriberParams, name), CUpti_SubscriberParams, subscriberName, 8);
SAME_PLACE(offsetof(SubscriberParams, old_name), CUpti_SubscriberParams, oldSubscriberName, 8);
SAME_PLACE(offsetof(SubscriberParams, old_name_size), CUpti_SubscriberParams, oldSubscriberSize, 8);
static_assert(ParamsBytes(CUPTI_API_VERSION) == CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(ParamsBytes(130200) == 40 && ParamsBytes(130199) == 32);
static_assert(kHolderBytes >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
static_assert(Alike<Callback, CUpti_CallbackFunc>::value);
static_assert(Alike<BufferRequested, CUpti_BuffersCallbackRequestFunc>::value);
static_assert(Alike<BufferCompleted, CUpti_BuffersCallbackCompleteFunc>::value);

}  // namespace
}  // namespace gpuprof::tracer::cupti
