// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ties the columns of proto/schema.h to the columns of the model: the one list of both. Whatever
// reads, writes or moves whole rows goes through it.

#pragma once

#include "analysis/model/trace.h"
#include "proto/schema.h"

namespace gpuprof::analysis {

// Calls visitor.Rows<KIND>(columns...) with the columns of a track's table, in the order of the
// schema. Then it calls visitor.Capture(column) and visitor.Weight(column) for the tables whose
// rows keep these values of their block. False: the kind has no rows.
template <typename Visitor>
bool VisitTable(Track* track, proto::ChunkKind kind, Visitor* visitor) {
  using proto::ChunkKind;
  switch (kind) {
    case ChunkKind::kHeap: {
      HeapTable& t = track->heap;
      visitor->template Rows<ChunkKind::kHeap>(t.time_ns, t.operation, t.address, t.size, t.stack);
      visitor->Capture(t.capture);
      return true;
    }
    case ChunkKind::kWait: {
      WaitTable& t = track->wait;
      visitor->template Rows<ChunkKind::kWait>(t.end_ns, t.duration_ns, t.operation, t.object,
                                               t.caller, t.stack, t.owner);
      return true;
    }
    case ChunkKind::kOp: {
      OpTable& t = track->op;
      visitor->template Rows<ChunkKind::kOp>(t.end_ns, t.duration_ns, t.name, t.operation,
                                             t.sequence);
      return true;
    }
    case ChunkKind::kTensor: {
      TensorTable& t = track->tensor;
      visitor->template Rows<ChunkKind::kTensor>(t.time_ns, t.device, t.address, t.bytes,
                                                 t.total_allocated, t.total_reserved);
      visitor->Capture(t.capture);
      return true;
    }
    case ChunkKind::kThreadEvent: {
      ThreadEventTable& t = track->thread_event;
      visitor->template Rows<ChunkKind::kThreadEvent>(t.time_ns, t.event, t.a, t.b);
      return true;
    }
    case ChunkKind::kProcessEvent: {
      ProcessEventTable& t = track->process_event;
      visitor->template Rows<ChunkKind::kProcessEvent>(t.time_ns, t.event, t.a, t.b, t.text);
      return true;
    }
    case ChunkKind::kMapping: {
      MappingTable& t = track->mapping;
      visitor->template Rows<ChunkKind::kMapping>(t.time_ns, t.operation, t.address, t.size,
                                                  t.stack);
      visitor->Capture(t.capture);
      return true;
    }
    case ChunkKind::kRange: {
      RangeTable& t = track->range;
      visitor->template Rows<ChunkKind::kRange>(t.end_ns, t.duration_ns, t.name, t.operation,
                                                t.domain, t.style, t.payload, t.begin_thread);
      return true;
    }
    case ChunkKind::kRangePayload: {
      RangePayloadTable& t = track->range_payload;
      visitor->template Rows<ChunkKind::kRangePayload>(t.time_ns, t.operation, t.domain,
                                                       t.definition, t.value);
      return true;
    }
    case ChunkKind::kLaunch: {
      LaunchTable& t = track->launch;
      visitor->template Rows<ChunkKind::kLaunch>(t.time_ns, t.correlation, t.function, t.stack);
      return true;
    }
    case ChunkKind::kOpValue: {
      OpValueTable& t = track->op_value;
      visitor->template Rows<ChunkKind::kOpValue>(t.time_ns, t.name, t.value, t.text);
      return true;
    }
    case ChunkKind::kSample: {
      SampleTable& t = track->sample;
      visitor->template Rows<ChunkKind::kSample>(t.end_ns, t.duration_ns, t.thread, t.state,
                                                 t.stack, t.holder);
      return true;
    }
    case ChunkKind::kFileRead: {
      FileReadTable& t = track->file_read;
      visitor->template Rows<ChunkKind::kFileRead>(t.end_ns, t.duration_ns, t.path, t.bytes,
                                                   t.descriptor);
      return true;
    }
    case ChunkKind::kPython: {
      PythonTable& t = track->python;
      visitor->template Rows<ChunkKind::kPython>(t.end_ns, t.duration_ns, t.name, t.parent, t.stack,
                                                 t.self_ns, t.operation);
      return true;
    }
    case ChunkKind::kGcPause: {
      GcPauseTable& t = track->gc_pause;
      visitor->template Rows<ChunkKind::kGcPause>(t.end_ns, t.duration_ns, t.generation,
                                                  t.collected, t.uncollectable);
      return true;
    }
    case ChunkKind::kRowDetail: {
      RowDetailTable& t = track->row_detail;
      visitor->template Rows<ChunkKind::kRowDetail>(t.time_ns, t.table, t.row, t.external, t.detail,
                                                    t.sequence);
      return true;
    }
    case ChunkKind::kCounter: {
      CounterTable& t = track->counter;
      visitor->template Rows<ChunkKind::kCounter>(t.time_ns, t.counter, t.value);
      return true;
    }
    case ChunkKind::kKernel: {
      KernelTable& t = track->kernel;
      visitor->template Rows<ChunkKind::kKernel>(t.end_ns, t.duration_ns, t.signature,
                                                 t.correlation, t.graph, t.graph_node);
      visitor->Capture(t.capture);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kMemcpy: {
      MemcpyTable& t = track->memcpy;
      visitor->template Rows<ChunkKind::kMemcpy>(t.end_ns, t.duration_ns, t.operation,
                                                 t.correlation, t.bytes, t.graph, t.graph_node,
                                                 t.peer);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kMemset: {
      MemsetTable& t = track->memset;
      visitor->template Rows<ChunkKind::kMemset>(t.end_ns, t.duration_ns, t.operation,
                                                 t.correlation, t.bytes, t.graph, t.graph_node,
                                                 t.value);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kApi: {
      ApiTable& t = track->api;
      visitor->template Rows<ChunkKind::kApi>(t.end_ns, t.duration_ns, t.function, t.correlation,
                                              t.result);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kSync: {
      SyncTable& t = track->sync;
      visitor->template Rows<ChunkKind::kSync>(t.end_ns, t.duration_ns, t.operation, t.correlation,
                                               t.stream, t.event, t.result, t.event_record);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kDeviceMemory: {
      DeviceMemoryTable& t = track->device_memory;
      visitor->template Rows<ChunkKind::kDeviceMemory>(t.time_ns, t.operation, t.address, t.bytes,
                                                       t.correlation, t.pool, t.pc, t.origin);
      visitor->Capture(t.capture);
      return true;
    }
    case ChunkKind::kMemoryPool: {
      MemoryPoolTable& t = track->memory_pool;
      visitor->template Rows<ChunkKind::kMemoryPool>(
          t.time_ns, t.operation, t.pool, t.size, t.utilized, t.threshold, t.kept, t.correlation);
      return true;
    }
    case ChunkKind::kGraphLaunch: {
      GraphLaunchTable& t = track->graph_launch;
      visitor->template Rows<ChunkKind::kGraphLaunch>(t.end_ns, t.duration_ns, t.graph,
                                                      t.correlation);
      visitor->Weight(t.weight);
      return true;
    }
    case ChunkKind::kOverhead: {
      OverheadTable& t = track->overhead;
      visitor->template Rows<ChunkKind::kOverhead>(t.end_ns, t.duration_ns, t.operation,
                                                   t.correlation, t.bytes);
      return true;
    }
    case ChunkKind::kCudaEvent: {
      CudaEventTable& t = track->cuda_event;
      visitor->template Rows<ChunkKind::kCudaEvent>(t.time_ns, t.correlation, t.event, t.record);
      return true;
    }
    case ChunkKind::kUnifiedMemory: {
      UnifiedMemoryTable& t = track->unified_memory;
      visitor->template Rows<ChunkKind::kUnifiedMemory>(
          t.end_ns, t.duration_ns, t.operation, t.value, t.address, t.source, t.destination);
      return true;
    }
    case ChunkKind::kHostFunction: {
      HostFunctionTable& t = track->host_function;
      visitor->template Rows<ChunkKind::kHostFunction>(t.end_ns, t.duration_ns, t.thread,
                                                       t.correlation, t.graph, t.graph_node);
      visitor->Weight(t.weight);
      return true;
    }
    default:
      return false;
  }
}

// Calls on_column(column) with the columns of a track's table that imported rows alone have. They
// are empty in other tables, and the schema does not list them.
template <typename OnColumn>
void VisitRareColumns(Track* track, proto::ChunkKind kind, const OnColumn& on_column) {
  switch (kind) {
    case proto::ChunkKind::kOp:
      on_column(track->op.external);
      on_column(track->op.detail);
      return;
    case proto::ChunkKind::kKernel:
      on_column(track->kernel.external);
      on_column(track->kernel.detail);
      return;
    case proto::ChunkKind::kMemcpy:
      on_column(track->memcpy.external);
      return;
    case proto::ChunkKind::kMemset:
      on_column(track->memset.external);
      return;
    case proto::ChunkKind::kApi:
      on_column(track->api.external);
      return;
    default:
      return;
  }
}

// Hands the columns on as they cannot be changed.
template <typename Visitor>
struct ColumnReading {
  Visitor* visitor;
  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(const Columns&... columns) {
    visitor->template Rows<kKind>(columns...);
  }
  void Capture(const Column<uint16_t>& column) { visitor->Capture(column); }
  void Weight(const Column<uint32_t>& column) { visitor->Weight(column); }
};

// Does the same for a visitor that takes columns as constants. Nothing of the track changes.
template <typename Visitor>
bool ReadTable(const Track& track, proto::ChunkKind kind, Visitor* visitor) {
  ColumnReading<Visitor> reading{visitor};
  return VisitTable(const_cast<Track*>(&track), kind, &reading);
}

}  // namespace gpuprof::analysis
