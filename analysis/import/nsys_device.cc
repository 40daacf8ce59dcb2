// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of devices; see nsys_importer.h.

#include <algorithm>
#include <set>

#include "analysis/base/utf8.h"
#include "analysis/import/kineto_fields.h"
#include "analysis/import/nsys_importer.h"
#include "analysis/model/counter_sources.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

// The columns that tables of work begin with.
enum WorkColumn {
  kWorkStart,
  kWorkEnd,
  kWorkDevice,
  kWorkContext,
  kWorkStream,
  kWorkCorrelation,
  kWorkProcess,
  kWorkNode,
  kWorkGraph,
  kWorkColumns,
};
#define GPUPROF_NSYS_WORK_COLUMNS                                                    \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", \
      "graphNodeId", "graphId"

uint32_t Small(std::optional<int64_t> number, uint32_t otherwise) {
  return number && *number >= 0 && *number < kNoCudaId ? static_cast<uint32_t>(*number) : otherwise;
}

uint64_t Unsigned(std::optional<int64_t> number, uint64_t otherwise = 0) {
  return number && *number >= 0 ? static_cast<uint64_t>(*number) : otherwise;
}

// Returns CUpti_ActivityMemoryKind for a value of ENUM_CUDA_MEM_KIND.
uint8_t MemoryKind(std::optional<int64_t> kind) {
  constexpr int64_t kUnknown = 7;
  return kind && *kind >= 0 && *kind < kUnknown ? static_cast<uint8_t>(*kind + 1) : 0;
}

// Returns CUpti_ActivityMemcpyKind for a value of ENUM_CUDA_MEMCPY_OPER, which also has the
// migrations of unified memory.
uint8_t CopyKind(int64_t kind) {
  constexpr int64_t kLast = 10, kToDevice = 11, kToHost = 12, kBetweenDevices = 13;
  if (kind == kToDevice) return 1;
  if (kind == kToHost) return 2;
  if (kind == kBetweenDevices) return 8;
  return kind > 0 && kind <= kLast ? static_cast<uint8_t>(kind) : 0;
}

// Returns the bytes of "GPU-12345678-…"; empty: it is something else.
std::string UuidOf(std::string_view text) {
  constexpr std::string_view kPrefix = "GPU-", kDigits = "0123456789abcdef";
  constexpr size_t kBytes = 16;
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  std::string bytes;
  size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const size_t digit = kDigits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
    if (digit == std::string_view::npos || bytes.size() > kBytes) return "";
    if (digits++ % 2 == 0) {
      bytes += static_cast<char>(digit << 4);
    } else {
      bytes.back() = static_cast<char>(static_cast<unsigned char>(bytes.back()) | digit);
    }
  }
  return digits == 2 * kBytes ? bytes : "";
}

}  // namespace

// Finds the call of a row. `what` is for notes; empty: the text `name`.
void NsysImporter::JoinCall(const DeviceRow& row, std::string_view what, int64_t name) {
  LaunchCall* const call = row.correlation > 0 ? row.host->calls.Find(row.correlation) : nullptr;
  if (call != nullptr) call->has_work = true;
  if (call != nullptr && row.work.span.start >= call->span.start) return;
  notes_.Add(call == nullptr ? ImportNoteKind::kNoLaunch : ImportNoteKind::kImpossibleOrder,
             what.empty() ? TextOf(name) : what);
}

bool NsysImporter::ReadDeviceRow(const SqliteRows& rows, std::string_view what, DeviceRow* row) {
  if (!SpanOf(rows, &row->work.span)) return false;
  row->host = &HostOfProcess(rows.Number(kWorkProcess));
  row->device = Small(rows.Number(kWorkDevice), 0);
  row->context = Small(rows.Number(kWorkContext), 0);
  row->timeline = row->host->builder.Stream(row->device, row->context,
                                            Small(rows.Number(kWorkStream), kNoCudaId));
  row->correlation = rows.NumberOr(kWorkCorrelation, 0);
  row->work.correlation = Correlation32(row->correlation);
  row->work.graph_node = Unsigned(rows.Number(kWorkNode));
  row->work.graph = Small(rows.Number(kWorkGraph), 0);
  // The number of a node has that of its graph in its upper half.
  constexpr int kGraphBits = 32;
  if (row->work.graph == 0)
    row->work.graph = static_cast<uint32_t>(row->work.graph_node >> kGraphBits);
  if (!what.empty()) JoinCall(*row, what, -1);
  return true;
}

void NsysImporter::ReadKernels() {
  enum Column { kName = kWorkColumns, kShortName, kFirstValue };
  constexpr std::string_view kColumns[] = {GPUPROF_NSYS_WORK_COLUMNS,
                                           "demangledName",
                                           "shortName",
                                           "gridX",
                                           "gridY",
                                           "gridZ",
                                           "blockX",
                                           "blockY",
                                           "blockZ",
                                           "clusterX",
                                           "clusterY",
                                           "clusterZ",
                                           "registersPerThread",
                                           "staticSharedMemory",
                                           "dynamicSharedMemory",
                                           "sharedMemoryExecuted",
                                           "localMemoryPerThread",
                                           "cacheConfig",
                                           "launchType"};
  constexpr size_t kValues = std::size(kColumns) - kFirstValue;
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_KERNEL", kColumns);
  while (Next(&rows)) {
    DeviceRow row;
    if (!ReadDeviceRow(rows, "", &row)) continue;
    std::optional<int64_t> name = rows.Number(kName);
    if (!name || TextOf(*name).empty()) name = rows.Number(kShortName);
    Signature key;
    key.name = NameIn(row.host, name.value_or(-1));
    for (size_t i = 0; i < kValues; ++i) key.values[i] = Small(rows.Number(kFirstValue + i), 0);
    key.values[kValues] = row.device;
    key.values[kValues + 1] = row.context;
    JoinCall(row, {}, name.value_or(-1));
    const auto [at, is_new] = row.host->signatures.try_emplace(key, 0);
    if (is_new) {
      Hold(2 * sizeof key + kTextBytes);
      const std::array<uint32_t, 18>& v = key.values;
      proto::Signature signature;
      signature.set_name(key.name);
      signature.set_device(row.device);
      signature.set_context(row.context);
      for (size_t i = 0; i < 3; ++i) {
        if (v[0] != 0) signature.add_grid(v[i]);
        if (v[0] != 0) signature.add_block(v[3 + i]);
        if (v[6] > 0) signature.add_cluster(v[6 + i]);
      }
      signature.set_registers(v[9]);
      signature.set_static_shared_bytes(v[10]);
      signature.set_dynamic_shared_bytes(v[11]);
      signature.set_shared_executed_bytes(v[12]);
      signature.set_local_bytes_per_thread(v[13]);
      signature.set_cache_config(v[14]);
      signature.set_launch_type(v[15]);
      at->second = row.host->builder.Signature(signature);
    }
    row.work.signature = at->second;
    row.host->builder.AddKernel(row.timeline, row.work);
  }
}

void NsysImporter::ReadCopies() {
  enum Column { kBytes = kWorkColumns, kKind, kSource, kTarget, kFromDevice, kToDevice };
  constexpr std::string_view kColumns[] = {GPUPROF_NSYS_WORK_COLUMNS,
                                           "bytes",
                                           "copyKind",
                                           "srcKind",
                                           "dstKind",
                                           "srcDeviceId",
                                           "dstDeviceId"};
  constexpr int64_t kFirstMigration = 11;
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_MEMCPY", kColumns);
  while (Next(&rows)) {
    const int64_t kind = rows.NumberOr(kKind, 0);
    DeviceRow row;
    if (!ReadDeviceRow(rows, kind < kFirstMigration ? "a copy" : "", &row)) continue;
    row.work.bytes = Unsigned(rows.Number(kBytes), kUnknownBytes);
    row.work.operation = proto::CopyOperation(CopyKind(kind), MemoryKind(rows.Number(kSource)),
                                              MemoryKind(rows.Number(kTarget)), 0);
    const uint32_t from = Small(rows.Number(kFromDevice), kNoCudaId);
    const uint32_t to = Small(rows.Number(kToDevice), kNoCudaId);
    if (from != to && from != kNoCudaId && to != kNoCudaId)
      row.work.peer = (from + uint64_t{1}) | (to + uint64_t{1}) << 32;
    row.host->builder.AddCopy(row.timeline, row.work);
  }
}

void NsysImporter::ReadSets() {
  enum Column { kBytes = kWorkColumns, kMemory };
  constexpr std::string_view kColumns[] = {GPUPROF_NSYS_WORK_COLUMNS, "bytes", "memKind"};
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_MEMSET", kColumns);
  while (Next(&rows)) {
    DeviceRow row;
    if (!ReadDeviceRow(rows, "a memset", &row)) continue;
    row.work.bytes = Unsigned(rows.Number(kBytes), kUnknownBytes);
    row.work.operation = proto::CopyOperation(0, 0, MemoryKind(rows.Number(kMemory)), 0);
    row.host->builder.AddSet(row.timeline, row.work);
  }
}

void NsysImporter::ReadGraphLaunches() {
  enum Column { kExecutable = kWorkColumns };
  constexpr std::string_view kColumns[] = {GPUPROF_NSYS_WORK_COLUMNS, "graphExecId"};
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kColumns);
  while (Next(&rows)) {
    DeviceRow row;
    if (!ReadDeviceRow(rows, "a graph", &row)) continue;
    row.work.graph = Small(rows.Number(kExecutable), row.work.graph);
    row.host->builder.AddGraphLaunch(row.timeline, row.work);
  }
}

void NsysImporter::ReadSyncs() {
  enum Column { kKind = kWorkColumns, kOldKind, kEvent, kRecord };
  constexpr std::string_view kColumns[] = {GPUPROF_NSYS_WORK_COLUMNS, "syncType",
                                           "deprecatedSyncType", "eventId", "eventSyncId"};
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kColumns);
  while (Next(&rows)) {
    DeviceRow row;
    if (!ReadDeviceRow(rows, "", &row)) continue;
    SyncRow sync;
    sync.span = row.work.span;
    const std::optional<int64_t> kind = rows.Number(kKind);
    sync.kind = Small(kind ? kind : rows.Number(kOldKind), 0);
    sync.correlation = row.work.correlation;
    sync.event = Small(rows.Number(kEvent), 0);
    sync.event_record = Unsigned(rows.Number(kRecord));
    row.host->builder.Add(row.timeline, sync);
  }
}

// Reads when events were recorded: at the call, which waits for them name.
void NsysImporter::ReadEvents() {
  enum Column { kDevice, kContext, kStream, kCorrelation, kProcess, kRecord };
  constexpr std::string_view kColumns[] = {"deviceId",      "contextId", "streamId",
                                           "correlationId", "globalPid", "eventSyncId"};
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_CUDA_EVENT", kColumns);
  while (Next(&rows)) {
    Host& host = HostOfProcess(rows.Number(kProcess));
    const int64_t correlation = rows.NumberOr(kCorrelation, 0);
    const LaunchCall* const call = correlation > 0 ? host.calls.Find(correlation) : nullptr;
    const uint64_t record = Unsigned(rows.Number(kRecord));
    if (call == nullptr || record == 0) continue;
    const uint32_t timeline =
        host.builder.Stream(Small(rows.Number(kDevice), 0), Small(rows.Number(kContext), 0),
                            Small(rows.Number(kStream), kNoCudaId));
    host.builder.AddEventRecord(timeline, call->span.start, Correlation32(correlation), record);
  }
}

void NsysImporter::TellIdleCalls() {
  for (const Host* host : host_order_) {
    const Process& process = host->builder.process();
    for (const LaunchCall& call : host->calls.calls()) {
      if (!call.launches || call.has_work) continue;
      const auto name = process.strings.find(call.name);
      notes_.Add(ImportNoteKind::kNoKernel, name == process.strings.end()
                                                ? std::string_view()
                                                : std::string_view(name->second));
    }
  }
}

// Each process numbers its devices by itself. Newer exports say which device it means.
void NsysImporter::ReadDevices() {
  enum Column { kId, kName, kOrdinal, kFirstNumber };
  constexpr std::string_view kColumns[] = {"id",
                                           "name",
                                           "cuDevice",
                                           "computeMajor",
                                           "computeMinor",
                                           "smCount",
                                           "totalMemory",
                                           "memoryBandwidth",
                                           "l2CacheSize",
                                           "clockRate",
                                           "threadsPerWarp",
                                           "maxWarpsPerSm",
                                           "maxBlocksPerSm",
                                           "maxShmemPerSm",
                                           "maxRegistersPerSm",
                                           "maxShmemPerBlock",
                                           "maxRegistersPerBlock",
                                           "maxThreadsPerBlock",
                                           "uuid"};
  using Set = void (*)(proto::Device*, uint64_t);
  constexpr Set kSet[] = {
      [](proto::Device* d, uint64_t n) { d->set_compute_major(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_compute_minor(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_multiprocessors(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_memory_bytes(n); },
      [](proto::Device* d, uint64_t n) { d->set_memory_bandwidth_kb_per_s(n / 1000); },
      [](proto::Device* d, uint64_t n) { d->set_l2_bytes(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_core_clock_khz(static_cast<uint32_t>(n / 1000)); },
      [](proto::Device* d, uint64_t n) { d->set_threads_per_warp(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) {
        d->set_warps_per_multiprocessor(static_cast<uint32_t>(n));
      },
      [](proto::Device* d, uint64_t n) {
        d->set_blocks_per_multiprocessor(static_cast<uint32_t>(n));
      },
      [](proto::Device* d, uint64_t n) {
        d->set_shared_bytes_per_multiprocessor(static_cast<uint32_t>(n));
      },
      [](proto::Device* d, uint64_t n) {
        d->set_registers_per_multiprocessor(static_cast<uint32_t>(n));
      },
      [](proto::Device* d, uint64_t n) { d->set_shared_bytes_per_block(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_registers_per_block(static_cast<uint32_t>(n)); },
      [](proto::Device* d, uint64_t n) { d->set_threads_per_block(static_cast<uint32_t>(n)); },
  };
  constexpr size_t kUuid = kFirstNumber + std::size(kSet);
  static_assert(kUuid + 1 == std::size(kColumns));
  // No machine has more, and each process has a copy of them.
  constexpr size_t kMostDevices = 256;
  std::map<int64_t, proto::Device> devices;  // by the number of Nsight Systems
  SqliteRows rows = file_->Read("TARGET_INFO_GPU", kColumns);
  while (Next(&rows) && devices.size() < kMostDevices) {
    proto::Device device;
    const int64_t id = rows.NumberOr(kId, 0);
    device.set_id(Small(rows.Number(kOrdinal), Small(id, 0)));
    device.set_uuid(UuidOf(rows.Text(kUuid).value_or("")));
    device.set_name(Utf8Of(rows.Text(kName).value_or("").substr(0, 256)));
    for (size_t i = 0; i < std::size(kSet); ++i)
      if (const auto value = rows.Number(kFirstNumber + i); value && *value > 0)
        kSet[i](&device, static_cast<uint64_t>(*value));
    devices.emplace(id, std::move(device));
  }
  constexpr std::string_view kOrdinals[] = {"pid", "cudaId", "gpuId"};
  SqliteRows of_processes = file_->Read("TARGET_INFO_CUDA_DEVICE", kOrdinals);
  while (Next(&of_processes) && gpus_.size() < kMostDevices * kMostDevices) {
    const auto pid = of_processes.Number(0), ordinal = of_processes.Number(1);
    const auto id = of_processes.Number(2);
    if (pid && ordinal && id) gpus_.try_emplace({*pid, *ordinal}, *id);
  }
  for (Host* host : host_order_) {
    Process& process = host->builder.process();
    const auto first = gpus_.lower_bound({process.pid, INT64_MIN});
    const bool is_told = first != gpus_.end() && first->first.first == process.pid;
    for (auto at = first; is_told && at != gpus_.end() && at->first.first == process.pid; ++at) {
      const auto device = devices.find(at->second);
      if (device == devices.end()) continue;
      process.devices.push_back(device->second);
      process.devices.back().set_id(Small(at->first.second, 0));
    }
    if (is_told) continue;
    for (const auto& [id, device] : devices) process.devices.push_back(device);
  }
}

// Values of counters that Nsight Systems samples. They are of a device: the process that works on
// it shows them.
void NsysImporter::ReadMetrics() {
  enum InfoColumn { kInfoType, kInfoMetric, kInfoName };
  constexpr std::string_view kInfo[] = {"typeId", "metricId", "metricName"};
  enum Column { kTime, kType, kMetric, kValue };
  constexpr std::string_view kColumns[] = {"timestamp", "typeId", "metricId", "value"};
  if (host_order_.empty()) return;
  struct Counter {
    Host* host = nullptr;
    uint32_t timeline = 0, id = 0;
  };
  constexpr size_t kMostCounters = 65'536;
  // The process that works on a device, and its number of the device.
  std::map<int64_t, std::pair<Host*, uint32_t>> owners;
  for (Host* host : host_order_) {
    const Process& process = host->builder.process();
    for (const Track& track : process.tracks) {
      if (!track.is_stream) continue;
      const auto gpu = gpus_.find({process.pid, track.device});
      owners.try_emplace(gpu != gpus_.end() ? gpu->second : track.device, host, track.device);
    }
  }
  std::map<std::pair<int64_t, int64_t>, Counter> counters;
  SqliteRows info = file_->Read("TARGET_INFO_GPU_METRICS", kInfo);
  while (Next(&info) && counters.size() < kMostCounters) {
    const int64_t type = info.NumberOr(kInfoType, 0);
    const auto [at, is_new] = counters.try_emplace({type, info.NumberOr(kInfoMetric, 0)});
    if (!is_new) continue;
    const int64_t gpu = type & 0xff;
    const auto owner = owners.find(gpu);
    const bool is_used = owner != owners.end();
    at->second.host = is_used ? owner->second.first : host_order_.front();
    const uint32_t device = is_used ? owner->second.second : static_cast<uint32_t>(gpu);
    const std::string name = Utf8Of(info.Text(kInfoName).value_or("").substr(0, 1024));
    proto::Counter described;
    const bool is_share = name.find('%') != std::string::npos;
    described.set_name(name);
    described.set_unit(is_share ? "%" : "");
    described.set_source(kNsysCounters);
    ProcessBuilder& builder = at->second.host->builder;
    at->second.id = builder.AddCounter(std::move(described));
    at->second.timeline = builder.Stream(device, 0, kNoCudaId);
    Hold(kTextBytes + name.size());
  }
  SqliteRows rows = file_->Read("GPU_METRICS", kColumns);
  while (Next(&rows)) {
    const auto known = counters.find({rows.NumberOr(kType, 0), rows.NumberOr(kMetric, 0)});
    const std::optional<int64_t> time = rows.Number(kTime), value = rows.Number(kValue);
    constexpr int64_t kFarNs = int64_t{1} << 61;
    if (known == counters.end() || !time || *time > kFarNs || *time < -kFarNs || !value) {
      notes_.Add(ImportNoteKind::kCounter, "a metric");
      continue;
    }
    Cover({*time, *time});
    const Counter& counter = known->second;
    counter.host->builder.AddCounterValue(counter.timeline, *time, counter.id, *value);
  }
}

}  // namespace gpuprof::analysis::import
