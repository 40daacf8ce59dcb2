// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/dump/gpu_rows.h"

#include <algorithm>
#include <string>

#include "analysis/model/names.h"
#include "proto/matrix_ops.h"

namespace gpuprof::analysis {
namespace {

// CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC and its twin of sets.
constexpr uint32_t kAsyncFlag = 1;

}  // namespace

template <typename Table>
void GpuRows::Span(const Table& table, size_t row) {
  out_->Pair("start_ns", table.end_ns[row] - table.duration_ns[row]);
  out_->Pair("duration_ns", table.duration_ns[row]);
}

void GpuRows::Stream(const Track& track) {
  out_->Pair("device", track.device);
  out_->Pair("context", track.context);
  StreamNumber(track, track.stream);
}

void GpuRows::StreamNumber(const Track& track, uint32_t stream) {
  out_->Pair("stream", stream);
  if (stream == track.stream && !track.name.empty()) out_->Text("stream_name", track.name);
}

// Of a row that stands for several.
template <typename Table>
void GpuRows::Weight(const Table& table, size_t row) {
  if (table.weight[row] != 1) out_->Pair("weight", table.weight[row]);
}

// The call that it comes from, and the node.
template <typename Table>
void GpuRows::Origin(const Table& table, size_t row) {
  out_->Pair("correlation", table.correlation[row]);
  if (table.graph[row] == 0) return;
  out_->Pair("graph", table.graph[row]);
  out_->Pair("graph_node", table.graph_node[row]);
}

void GpuRows::Kernel(const Track& track, size_t row) {
  const KernelTable& t = track.kernel;
  const auto found = process_.signatures.find(t.signature[row]);
  static const proto::Signature kNone;
  const proto::Signature& signature = found == process_.signatures.end() ? kNone : found->second;
  out_->Text("name", process_.String(signature.name()));
  Span(t, row);
  Stream(track);
  out_->Pair("grid", DimensionsText(signature.grid()));
  out_->Pair("block", DimensionsText(signature.block()));
  const bool has_cluster = std::any_of(signature.cluster().begin(), signature.cluster().end(),
                                       [](uint32_t n) { return n > 1; });
  if (has_cluster) out_->Pair("cluster", DimensionsText(signature.cluster()));
  out_->Pair("registers", signature.registers());
  out_->Pair("static_shared_bytes", signature.static_shared_bytes());
  out_->Pair("dynamic_shared_bytes", signature.dynamic_shared_bytes());
  if (signature.matrix_ops() != 0) {
    const std::string ops = MatrixOpsText(signature.matrix_ops(), ",");
    const bool is_certain = (signature.matrix_ops() & proto::kCodeLookedAt) != 0;
    out_->Pair("matrix_ops", std::string_view(!is_certain ? "differ" : ops.empty() ? "none" : ops));
  }
  Origin(t, row);
  out_->Pair("capture", t.capture[row]);
  Weight(t, row);
  External(t.external, row);
  Detail(t.detail, row);
}

void GpuRows::Copy(const Track& track, size_t row) {
  const MemcpyTable& t = track.memcpy;
  const uint32_t operation = t.operation[row];
  out_->Pair("kind", CopyKindName(operation & 0xff));
  out_->Pair("source", MemoryKindName(operation >> 8 & 0xff));
  out_->Pair("destination", MemoryKindName(operation >> 16 & 0xff));
  Span(t, row);
  if (t.bytes[row] != kUnknownBytes) out_->Pair("bytes", t.bytes[row]);
  Stream(track);
  if ((operation >> 24 & kAsyncFlag) != 0) out_->Pair("async", 1);
  Origin(t, row);
  Weight(t, row);
  External(t.external, row);
  if (t.peer[row] == 0) return;
  out_->Pair("from_device", (t.peer[row] & 0xffffffff) - 1);
  out_->Pair("to_device", (t.peer[row] >> 32) - 1);
}

void GpuRows::Set(const Track& track, size_t row) {
  const MemsetTable& t = track.memset;
  const uint32_t operation = t.operation[row];
  out_->Pair("destination", MemoryKindName(operation >> 16 & 0xff));
  Span(t, row);
  if (t.bytes[row] != kUnknownBytes) out_->Pair("bytes", t.bytes[row]);
  out_->Pair("value", t.value[row]);
  Stream(track);
  if ((operation >> 24 & kAsyncFlag) != 0) out_->Pair("async", 1);
  Origin(t, row);
  Weight(t, row);
  External(t.external, row);
}

void GpuRows::Call(const Track& track, size_t row) {
  const ApiTable& t = track.api;
  Function(t.function[row]);
  Span(t, row);
  out_->Pair("correlation", t.correlation[row]);
  if (t.result[row] != 0) out_->Pair("result", t.result[row]);
  Weight(t, row);
  External(t.external, row);
}

void GpuRows::External(const Column<uint64_t>& external, size_t row) {
  if (!external.empty() && external[row] != 0) out_->Pair("external", external[row]);
}

void GpuRows::Detail(const Column<uint32_t>& detail, size_t row) {
  if (!detail.empty() && detail[row] != 0) out_->Text("detail", process_.String(detail[row]));
}

void GpuRows::Function(uint32_t function) {
  const auto name = process_.functions.find(function);
  if (name == process_.functions.end()) {
    out_->Pair("function", function);
  } else {
    out_->Pair("function", OneLine(process_.String(name->second)));
  }
}

void GpuRows::Wait(const Track& track, size_t row) {
  const SyncTable& t = track.sync;
  out_->Pair("kind", SyncKindName(t.operation[row]));
  Span(t, row);
  out_->Pair("context", track.context);
  StreamNumber(track, t.stream[row]);
  if (t.event[row] != 0) out_->Pair("event", t.event[row]);
  if (t.event_record[row] != 0) out_->Pair("event_record", t.event_record[row]);
  out_->Pair("correlation", t.correlation[row]);
  if (t.result[row] != 0) out_->Pair("result", t.result[row]);
  Weight(t, row);
}

void GpuRows::Memory(const Track& track, size_t row) {
  const DeviceMemoryTable& t = track.device_memory;
  const uint32_t operation = t.operation[row];
  const bool is_release = (operation & 0xff) == proto::kMemoryRelease;
  out_->Pair("operation", is_release ? "release" : "allocation");
  out_->Pair("kind", MemoryKindName(operation >> 8 & 0xff));
  out_->Address("address", t.address[row]);
  out_->Pair("bytes", t.bytes[row]);
  out_->Pair("device", track.device);
  out_->Pair("context", track.context);
  if (track.stream != kNoCudaId) StreamNumber(track, track.stream);
  if (operation >> 24 != 0) out_->Pair("async", 1);
  if (t.pool[row] != 0) out_->Address("pool", t.pool[row]);
  out_->Pair("correlation", t.correlation[row]);
  out_->Pair("capture", t.capture[row]);
}

void GpuRows::Pool(const Track& track, size_t row) {
  constexpr std::string_view kOperations[] = {"seen", "created", "destroyed", "trimmed"};
  const MemoryPoolTable& t = track.memory_pool;
  const uint32_t operation = t.operation[row] & 0xff;
  out_->Code("operation", operation < std::size(kOperations) ? kOperations[operation] : "",
             operation);
  out_->Address("pool", t.pool[row]);
  out_->Pair("size_bytes", t.size[row]);
  out_->Pair("utilized_bytes", t.utilized[row]);
  out_->Pair("threshold_bytes", t.threshold[row]);
  out_->Pair("device", track.device);
  if (t.correlation[row] != 0) out_->Pair("correlation", t.correlation[row]);
}

void GpuRows::GraphLaunch(const Track& track, size_t row) {
  const GraphLaunchTable& t = track.graph_launch;
  out_->Pair("graph", t.graph[row]);
  Span(t, row);
  Stream(track);
  out_->Pair("correlation", t.correlation[row]);
  Weight(t, row);
}

void GpuRows::Overhead(const Track& track, size_t row) {
  const OverheadTable& t = track.overhead;
  out_->Code("kind", OverheadName(t.operation[row]), t.operation[row]);
  Span(t, row);
  if (t.correlation[row] != 0) out_->Pair("correlation", t.correlation[row]);
  if (t.bytes[row] != 0) out_->Pair("bytes", t.bytes[row]);
}

void GpuRows::UnifiedMemory(const Track& track, size_t row) {
  const UnifiedMemoryTable& t = track.unified_memory;
  const uint32_t counter = t.operation[row] & 0xff, flags = t.operation[row] >> 8;
  out_->Code("kind", UnifiedMemoryCounterName(counter), counter);
  Span(t, row);
  if (const auto cause = UnifiedMemoryCauseName(counter, flags); !cause.empty())
    out_->Pair("cause", cause);
  out_->Pair("value", t.value[row]);
  out_->Address("address", t.address[row]);
  out_->Pair("source", t.source[row]);
  out_->Pair("destination", t.destination[row]);
}

void GpuRows::Event(const Track& track, size_t row) {
  const CudaEventTable& t = track.cuda_event;
  out_->Pair("event", t.event[row]);
  if (t.record[row] != 0) out_->Pair("record", t.record[row]);
  Stream(track);
  out_->Pair("correlation", t.correlation[row]);
}

}  // namespace gpuprof::analysis
