// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What happens on the device becomes records and callbacks.

#include "tests/fake_gpu/cupti/sink.h"

#include <unistd.h>

#include <chrono>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu_cupti {
namespace {

using fake_gpu::Done;
using fake_gpu::Object;
using fake_gpu::ObjectEvent;
using fake_gpu::Work;

struct External {
  CUpti_ExternalCorrelationKind kind;
  uint64_t id;
};
thread_local std::vector<External> externals;

uint32_t ProcessId() {
  static const auto pid = static_cast<uint32_t>(getpid());
  return pid;
}

bool IsRecorded(const fake_gpu::Call& call) {
  const auto domain = static_cast<uint32_t>(call.domain);
  bool any = false;
  EachClient([&](const Client& client, size_t) {
    any = any || (call.cbid < kMostIds &&
                  client.recorded[domain][call.cbid].load(std::memory_order_relaxed));
  });
  return any;
}

void SpendTime(uint64_t ns) {
  if (ns == 0) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
  while (std::chrono::steady_clock::now() < until) {}
}

// Times are the tool's.
void WriteCall(const fake_gpu::Call& call, uint64_t start, uint64_t end, uint32_t thread) {
  CUpti_ActivityAPI record{};
  record.kind = call.domain == fake_gpu::Domain::kRuntime ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                          : CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = call.cbid;
  record.start = start;
  record.end = end;
  record.processId = ProcessId();
  record.threadId = thread;
  record.correlationId = call.correlation;
  record.returnValue = static_cast<uint32_t>(call.result);
  if (externals.empty() || !Enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    Append({&record, sizeof record}, false, 0);
    return;
  }
  // One of each kind's innermost id; the last one right before the call.
  std::vector<CUpti_ActivityExternalCorrelation> ids;
  for (auto it = externals.rbegin(); it != externals.rend(); ++it) {
    bool known = false;
    for (const auto& id : ids) known = known || id.externalKind == it->kind;
    if (known) continue;
    ids.push_back(
        {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, it->kind, it->id, call.correlation, 0});
  }
  for (size_t i = 0; i + 1 < ids.size(); ++i) Append({&ids[i], sizeof ids[i]}, false, 0);
  AppendPair({&ids.back(), sizeof ids.back()}, {&record, sizeof record});
}

// Every Nth record's times are lost, as when the device's buffer runs out.
bool LosesTimes(uint32_t correlation) {
  static std::atomic<uint64_t> seen{0};
  const uint64_t every = fake_gpu::TheScript().lose_times;
  if (every == 0 || seen.fetch_add(1) % every != every - 1) return false;
  fake_gpu::TruthLine("{\"t\":\"lost_times\",\"correlation\":%u}", correlation);
  return true;
}

// Compute work and copies run on channels of their own.
struct Channel {
  uint32_t id;
  CUpti_ChannelType type;
};
constexpr Channel kCompute{8, CUPTI_CHANNEL_TYPE_COMPUTE};
constexpr Channel kCopies{13, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY};

template <typename Record>
void FillCommon(Record* record, const Done& done, Channel channel) {
  record->start = done.start;
  // A zero here would be "lost"; the device's clock is never 0.
  record->end = done.end;
  record->deviceId = static_cast<uint32_t>(done.context->device);
  record->contextId = done.context->id;
  record->streamId = done.stream->id;
  record->correlationId = done.correlation;
  record->graphId = done.graph;
  record->graphNodeId = done.node;
  record->channelID = channel.id;
  record->channelType = channel.type;
}

template <typename Record>
void Write(Record* record, const Done& done) {
  uint64_t due = done.end;
  if (LosesTimes(done.correlation)) record->start = record->end = due = 0;
  Append({record, sizeof *record}, true, due);
}

void WriteKernel(const Done& done) {
  const fake_gpu::KernelWork& kernel = done.work->kernel;
  CUpti_ActivityKernel10 record{};
  record.kind = Enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
                    ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                    : CUPTI_ACTIVITY_KIND_KERNEL;
  FillCommon(&record, done, kCompute);
  static std::atomic<int64_t> grids{0};
  record.registersPerThread = static_cast<uint16_t>(kernel.function->registers);
  record.gridX = static_cast<int32_t>(kernel.grid.x);
  record.gridY = static_cast<int32_t>(kernel.grid.y);
  record.gridZ = static_cast<int32_t>(kernel.grid.z);
  record.blockX = static_cast<int32_t>(kernel.block.x);
  record.blockY = static_cast<int32_t>(kernel.block.y);
  record.blockZ = static_cast<int32_t>(kernel.block.z);
  record.staticSharedMemory = kernel.function->static_smem;
  record.dynamicSharedMemory = static_cast<int32_t>(kernel.dynamic_smem);
  record.gridId = grids.fetch_add(1, std::memory_order_relaxed) + 1;
  record.name = kernel.function->name;
  record.launchType = kernel.cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                         : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
  record.clusterX = kernel.cluster.x;
  record.clusterY = kernel.cluster.y;
  record.clusterZ = kernel.cluster.z;
  // Graphs older than the tool lack what is looked up when they are made.
  if (!done.reduced) {
    record.sharedMemoryExecuted = kernel.dynamic_smem + 1024;
    record.cacheConfig.config.executed = 1;
  }
  Write(&record, done);
}

void WriteCopy(const Done& done) {
  const fake_gpu::CopyWork& copy = done.work->copy;
  const uint8_t flags = copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  if (copy.kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
    CUpti_ActivityMemcpyPtoP4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    FillCommon(&record, done, kCopies);
    record.copyKind = copy.kind;
    record.srcKind = copy.source_memory;
    record.dstKind = copy.destination_memory;
    record.flags = flags;
    record.bytes = copy.bytes;
    record.srcDeviceId = static_cast<uint32_t>(copy.source_context->device);
    record.srcContextId = copy.source_context->id;
    record.dstDeviceId = static_cast<uint32_t>(copy.destination_context->device);
    record.dstContextId = copy.destination_context->id;
    Write(&record, done);
    return;
  }
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  FillCommon(&record, done, kCopies);
  record.copyKind = copy.kind;
  record.srcKind = copy.source_memory;
  record.dstKind = copy.destination_memory;
  record.flags = flags;
  record.bytes = copy.bytes;
  record.runtimeCorrelationId = done.correlation;
  record.copyCount = 1;
  Write(&record, done);
}

void WriteSet(const Done& done) {
  const fake_gpu::SetWork& set = done.work->set;
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  FillCommon(&record, done, kCompute);
  // CUPTI does not tell the value that a graph's node sets (seen with 13.0 on an H200).
  record.value = done.graph == 0 ? set.value : 0;
  record.bytes = set.count * set.element;
  record.flags = set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  record.memoryKind = set.memory;
  Write(&record, done);
}

void WriteHostFunction(const Done& done) {
  const auto device = static_cast<uint32_t>(done.context->device);
  if (done.graph == 0) {
    const HostLaunchRecord record{.streamId = done.stream->id,
                                  .contextId = done.context->id,
                                  .deviceId = device,
                                  .correlationId = done.correlation,
                                  .processId = ProcessId(),
                                  .threadId = fake_gpu::CurrentTid(),
                                  .start = done.start,
                                  .end = done.end};
    return Append({&record, sizeof record}, true, done.end);
  }
  const GraphHostNodeRecord record{.streamId = done.stream->id,
                                   .contextId = done.context->id,
                                   .deviceId = device,
                                   .correlationId = done.correlation,
                                   .graphId = done.graph,
                                   .graphNodeId = done.node,
                                   .processId = ProcessId(),
                                   .threadId = fake_gpu::CurrentTid(),
                                   .start = done.start,
                                   .end = done.end};
  Append({&record, sizeof record}, true, done.end);
}

void FillPool(CUmemoryPool pool, CUpti_ActivityMemory4* record) {
  const std::lock_guard lock(pool->mutex);
  record->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record->memoryPoolConfig.address = pool->address;
  record->memoryPoolConfig.releaseThreshold = pool->threshold;
  record->memoryPoolConfig.pool.size = pool->reserved;
  record->memoryPoolConfig.utilizedSize = pool->used;
}

}  // namespace

void PushExternal(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  externals.push_back({kind, id});
}

bool PopExternal(CUpti_ExternalCorrelationKind kind, uint64_t* id) {
  for (auto it = externals.rbegin(); it != externals.rend(); ++it) {
    if (it->kind != kind) continue;
    if (id != nullptr) *id = it->id;
    externals.erase(std::next(it).base());
    return true;
  }
  return false;
}

void CuptiSink::Enter(fake_gpu::Call* call) {
  call->start_tool = CallTime();
  CallBackOf(call, CUPTI_API_ENTER);
}

void CuptiSink::Exit(fake_gpu::Call* call) {
  CallBackOf(call, CUPTI_API_EXIT);
  if (!IsRecorded(*call)) return;
  WriteCall(*call, call->start_tool, CallTime(), fake_gpu::CurrentTid());
  SpendTime(fake_gpu::TheScript().record_ns);
}

void CuptiSink::CallReplayed(const fake_gpu::Call& call, uint64_t end) {
  const DeviceClock clock;
  if (IsRecorded(call)) WriteCall(call, clock.Time(call.start), clock.Time(end), call.tid);
}

void CuptiSink::CallBackOf(fake_gpu::Call* call, uint32_t site) {
  const auto domain = static_cast<uint32_t>(call->domain);
  CUpti_CallbackData data{};
  data.callbackSite = static_cast<CUpti_ApiCallbackSite>(site);
  data.functionName = call->name;
  data.functionParams = call->parameters;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &call->result : nullptr;
  data.symbolName = call->symbol;
  data.context = fake_gpu::current_context;
  data.contextUid = data.context != nullptr ? data.context->id : 0;
  data.correlationId = call->correlation;
  static_assert(std::size(decltype(call->subscriber_data){}) == kMostClients);
  EachClient([&](const Client& client, size_t i) {
    CUpti_SubscriberHandle subscriber = client.subscriber.load(std::memory_order_acquire);
    if (subscriber == nullptr) return;
    const CUpti_CallbackFunc callback = subscriber->callback.load();
    if (callback == nullptr) return;
    if (!client.called_back[domain][call->cbid % kMostIds].load(std::memory_order_relaxed)) return;
    data.correlationData = &call->subscriber_data[i];
    callback(subscriber->data.load(), static_cast<CUpti_CallbackDomain>(domain), call->cbid, &data);
  });
}

void CuptiSink::Finished(const Done& done) {
  // A graph that is recorded as a whole has no records of its nodes.
  if (done.whole) return;
  const bool kernels =
      Enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || Enabled(CUPTI_ACTIVITY_KIND_KERNEL);
  if (done.work->type == Work::Type::kKernel && kernels) WriteKernel(done);
  if (done.work->type == Work::Type::kCopy) {
    const bool peer = done.work->copy.kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    if (Enabled(peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 : CUPTI_ACTIVITY_KIND_MEMCPY)) WriteCopy(done);
  }
  if (done.work->type == Work::Type::kSet && Enabled(CUPTI_ACTIVITY_KIND_MEMSET)) WriteSet(done);
  if (done.work->type == Work::Type::kHost &&
      Enabled(done.graph == 0 ? kKindHostLaunch : kKindGraphHostNode))
    WriteHostFunction(done);
}

// With several subscribers an attribute decides for all of them.
bool CuptiSink::RecordsWholeGraphs() {
  if (TheState().several.load()) return TheState().graphs_as_wholes.load();
  return Enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

void CuptiSink::GraphLaunched(const Done& done) {
  if (!done.whole || !Enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) return;
  CUpti_ActivityGraphTrace2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = done.correlation;
  record.start = done.start;
  record.end = done.end;
  record.deviceId = record.endDeviceId = static_cast<uint32_t>(done.context->device);
  record.graphId = done.graph;
  record.contextId = record.endContextId = done.context->id;
  record.streamId = done.stream->id;
  Append({&record, sizeof record}, true, done.end);
}

void CuptiSink::Synchronized(const fake_gpu::Sync& sync) {
  if (!sync.query && sync.type >= 3) {
    const CUpti_SynchronizeData data{sync.context, sync.stream};
    CallBack(CUPTI_CB_DOMAIN_SYNCHRONIZE,
             sync.type == 3 ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                            : CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
             &data);
  }
  if (!Enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(sync.type);
  const DeviceClock clock;
  record.start = clock.Time(sync.start);
  record.end = clock.Time(sync.end);
  record.correlationId = sync.correlation;
  record.contextId = sync.context->id;
  record.streamId = sync.stream != nullptr ? sync.stream->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = sync.event != nullptr ? sync.event->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventSyncId = sync.event != nullptr ? sync.event->sync_id : 0;
  record.returnValue = sync.result;
  Append({&record, sizeof record}, false, 0);
}

void CuptiSink::EventRecorded(CUevent event, uint64_t /*time*/, uint32_t correlation) {
  if (!Enabled(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) return;
  CUpti_ActivityCudaEvent2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = correlation;
  record.contextId = event->stream->context->id;
  record.streamId = event->stream->id;
  record.eventId = event->id;
  record.deviceId = static_cast<uint32_t>(event->stream->context->device);
  record.cudaEventSyncId = event->sync_id;
  Append({&record, sizeof record}, false, 0);
}

void CuptiSink::MemoryChanged(const fake_gpu::MemoryChange& change) {
  if (!Enabled(CUPTI_ACTIVITY_KIND_MEMORY2)) return;
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = change.release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                              : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(change.memory);
  record.correlationId = change.correlation;
  record.address = change.address;
  record.bytes = change.bytes;
  record.timestamp = CallTime();
  record.PC = change.pc;
  record.processId = ProcessId();
  record.deviceId = static_cast<uint32_t>(change.context->device);
  record.contextId = change.context->id;
  record.streamId = change.stream != nullptr ? change.stream->id : CUPTI_INVALID_STREAM_ID;
  // A synchronous call may give back memory of a pool.
  record.isAsync = change.stream != nullptr;
  if (change.pool != nullptr) FillPool(change.pool, &record);
  Append({&record, sizeof record}, false, 0);
}

void CuptiSink::Migrated(const fake_gpu::Migration& migration) {
  if (!Enabled(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)) return;
  if ((TheState().um_counters.load() >> migration.counter & 1) == 0) return;
  CUpti_ActivityUnifiedMemoryCounter3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  record.counterKind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(migration.counter);
  record.value = migration.value;
  record.start = migration.start;
  record.end = migration.end;
  record.address = migration.address;
  record.srcId = migration.source;
  record.dstId = migration.destination;
  record.processId = ProcessId();
  record.flags = migration.flags;
  Append({&record, sizeof record}, true, migration.end);
}

void CuptiSink::PoolChanged(CUmemoryPool pool, uint32_t what, uint64_t kept, uint32_t correlation) {
  if (!Enabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL)) return;
  CUpti_ActivityMemoryPool3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType = static_cast<CUpti_ActivityMemoryPoolOperationType>(what);
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = correlation;
  record.processId = ProcessId();
  record.deviceId = static_cast<uint32_t>(pool->device);
  record.minBytesToKeep = kept;
  record.address = pool->address;
  record.size = pool->reserved;
  record.releaseThreshold = pool->threshold;
  record.timestamp = CallTime();
  record.utilizedSize = pool->used;
  Append({&record, sizeof record}, false, 0);
}

void CuptiSink::FunctionLoaded(CUfunction /*function*/, uint64_t start, uint64_t end,
                               uint32_t correlation) {
  if (!Enabled(CUPTI_ACTIVITY_KIND_OVERHEAD)) return;
  CUpti_ActivityOverhead3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt = {ProcessId(), ThreadId(TheState().clients[0])};
  const DeviceClock clock;
  record.start = clock.Time(start);
  record.end = clock.Time(end);
  record.correlationId = correlation;
  Append({&record, sizeof record}, false, 0);
}

void CuptiSink::DriverExited() { TheState().driver_exited.store(true); }

}  // namespace fake_gpu_cupti
