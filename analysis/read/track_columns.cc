// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_columns.h.

#include "analysis/read/track_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace gpuprof::analysis {
namespace {

using codec::EventColumns;
using proto::ChunkKind;

// Calls visit(column) for every column of the kind's table.
template <typename Visit>
bool VisitTable(Track* track, ChunkKind kind, Visit visit) {
  const auto all = [&](auto&... columns) { (visit(columns), ...); };
  switch (kind) {
    case ChunkKind::kHeap: {
      HeapTable& t = track->heap;
      all(t.time_ns, t.operation, t.address, t.size, t.stack, t.capture);
      return true;
    }
    case ChunkKind::kWait: {
      WaitTable& t = track->wait;
      all(t.end_ns, t.duration_ns, t.operation, t.object, t.caller, t.stack, t.owner);
      return true;
    }
    case ChunkKind::kOp: {
      OpTable& t = track->op;
      all(t.end_ns, t.duration_ns, t.name, t.operation);
      return true;
    }
    case ChunkKind::kTensor: {
      TensorTable& t = track->tensor;
      all(t.time_ns, t.device, t.address, t.bytes, t.total_allocated, t.total_reserved, t.capture);
      return true;
    }
    case ChunkKind::kThreadEvent: {
      ThreadEventTable& t = track->thread_event;
      all(t.time_ns, t.event, t.a, t.b);
      return true;
    }
    case ChunkKind::kProcessEvent: {
      ProcessEventTable& t = track->process_event;
      all(t.time_ns, t.event, t.a, t.b, t.text);
      return true;
    }
    case ChunkKind::kMapping: {
      MappingTable& t = track->mapping;
      all(t.time_ns, t.operation, t.address, t.size, t.stack, t.capture);
      return true;
    }
    case ChunkKind::kRange: {
      RangeTable& t = track->range;
      all(t.end_ns, t.duration_ns, t.name, t.operation, t.domain, t.style, t.payload,
          t.begin_thread);
      return true;
    }
    case ChunkKind::kRangePayload: {
      RangePayloadTable& t = track->range_payload;
      all(t.time_ns, t.operation, t.domain, t.definition, t.value);
      return true;
    }
    case ChunkKind::kLaunch: {
      LaunchTable& t = track->launch;
      all(t.time_ns, t.correlation, t.function, t.stack);
      return true;
    }
    case ChunkKind::kPython: {
      PythonTable& t = track->python;
      all(t.end_ns, t.duration_ns, t.name, t.parent, t.stack, t.self_ns);
      return true;
    }
    case ChunkKind::kRowDetail: {
      RowDetailTable& t = track->row_detail;
      all(t.time_ns, t.table, t.row, t.external, t.detail, t.sequence);
      return true;
    }
    case ChunkKind::kCounter: {
      CounterTable& t = track->counter;
      all(t.time_ns, t.counter, t.value);
      return true;
    }
    case ChunkKind::kKernel: {
      KernelTable& t = track->kernel;
      all(t.end_ns, t.duration_ns, t.signature, t.correlation, t.graph, t.graph_node, t.capture,
          t.weight);
      return true;
    }
    case ChunkKind::kMemcpy: {
      MemcpyTable& t = track->memcpy;
      all(t.end_ns, t.duration_ns, t.operation, t.correlation, t.bytes, t.graph, t.graph_node,
          t.peer, t.weight);
      return true;
    }
    case ChunkKind::kMemset: {
      MemsetTable& t = track->memset;
      all(t.end_ns, t.duration_ns, t.operation, t.correlation, t.bytes, t.graph, t.graph_node,
          t.value, t.weight);
      return true;
    }
    case ChunkKind::kApi: {
      ApiTable& t = track->api;
      all(t.end_ns, t.duration_ns, t.function, t.correlation, t.result, t.weight);
      return true;
    }
    case ChunkKind::kSync: {
      SyncTable& t = track->sync;
      all(t.end_ns, t.duration_ns, t.operation, t.correlation, t.stream, t.event, t.result,
          t.event_record, t.weight);
      return true;
    }
    case ChunkKind::kDeviceMemory: {
      DeviceMemoryTable& t = track->device_memory;
      all(t.time_ns, t.operation, t.address, t.bytes, t.correlation, t.pool, t.pc, t.origin,
          t.capture);
      return true;
    }
    case ChunkKind::kMemoryPool: {
      MemoryPoolTable& t = track->memory_pool;
      all(t.time_ns, t.operation, t.pool, t.size, t.utilized, t.threshold, t.kept, t.correlation);
      return true;
    }
    case ChunkKind::kGraphLaunch: {
      GraphLaunchTable& t = track->graph_launch;
      all(t.end_ns, t.duration_ns, t.graph, t.correlation, t.weight);
      return true;
    }
    case ChunkKind::kOverhead: {
      OverheadTable& t = track->overhead;
      all(t.end_ns, t.duration_ns, t.operation, t.correlation, t.bytes);
      return true;
    }
    case ChunkKind::kCudaEvent: {
      CudaEventTable& t = track->cuda_event;
      all(t.time_ns, t.correlation, t.event, t.record);
      return true;
    }
    case ChunkKind::kUnifiedMemory: {
      UnifiedMemoryTable& t = track->unified_memory;
      all(t.end_ns, t.duration_ns, t.operation, t.value, t.address, t.source, t.destination);
      return true;
    }
    default:
      return false;
  }
}

// Values of one block on their way into a table, from `row` on.
struct Writer {
  const EventColumns& from;
  const ClockMap& clock;
  uint64_t row;
  const ClockMap::Line* line;  // that all times of the block are on; null: several

  template <typename T>
  void Plain(int column, Column<T>* to) const {
    const std::vector<uint64_t>& values = from.column[column];
    const uint32_t count = from.count;
    T* __restrict out = to->data() + row;
    if (values.empty()) {
      std::fill_n(out, count, T{0});
      return;
    }
    const uint64_t* __restrict in = values.data();
    for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i]);
  }

  void Weight(Column<uint32_t>* to) const {
    std::fill_n(to->data() + row, from.count, from.sampled_one_in);
  }

  void Time(int column, Column<int64_t>* to) const {
    const uint64_t* ticks = Ticks(column);
    if (line != nullptr) {
      ConvertTimes(*line, ticks, to->data() + row);
    } else {
      ConvertTimes(ClockMap::Cursor(clock), ticks, to->data() + row);
    }
  }

  void Span(int end_column, int duration_column, Column<int64_t>* end_ns,
            Column<int64_t>* duration_ns) const {
    const uint64_t* end = Ticks(end_column);
    const uint64_t* duration = Ticks(duration_column);
    if (line != nullptr) {
      ConvertSpans(*line, *line, end, duration, end_ns->data() + row, duration_ns->data() + row);
    } else {
      ConvertSpans(ClockMap::Cursor(clock), ClockMap::Cursor(clock), end, duration,
                   end_ns->data() + row, duration_ns->data() + row);
    }
  }

 private:
  // Null: all zero.
  const uint64_t* Ticks(int column) const {
    return from.column[column].empty() ? nullptr : from.column[column].data();
  }

  template <typename Converter>
  void ConvertTimes(Converter converter, const uint64_t* __restrict ticks,
                    int64_t* __restrict out) const {
    const uint32_t count = from.count;
    for (uint32_t i = 0; i < count; ++i)
      out[i] = converter.Convert(ticks == nullptr ? 0 : ticks[i]);
  }

  // Start and end are converted each, so that spans that nest or touch in ticks do so in
  // nanoseconds.
  template <typename Converter>
  void ConvertSpans(Converter end_converter, Converter start_converter,
                    const uint64_t* __restrict end, const uint64_t* __restrict duration,
                    int64_t* __restrict end_out, int64_t* __restrict duration_out) const {
    const uint32_t count = from.count;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = end == nullptr ? 0 : end[i];
      const uint64_t length = std::min(duration == nullptr ? 0 : duration[i], at);
      const int64_t time = end_converter.Convert(at);
      end_out[i] = time;
      // Where a clock was set amid a span, between two readings of it, nobody knows how long it
      // took.
      duration_out[i] = std::max<int64_t>(time - start_converter.Convert(at - length), 0);
    }
  }
};

// The heap's and the mappings' tables have the same columns.
template <typename Table>
void StoreHeap(const Writer& w, Table* t) {
  namespace c = proto::heap_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kAddress, &t->address);
  w.Plain(c::kSize, &t->size);
  w.Plain(c::kStack, &t->stack);
  std::fill_n(t->capture.data() + w.row, w.from.count, static_cast<uint16_t>(w.from.capture));
}

void StoreWait(const Writer& w, WaitTable* t) {
  namespace c = proto::wait_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kObject, &t->object);
  w.Plain(c::kCaller, &t->caller);
  w.Plain(c::kStack, &t->stack);
  w.Plain(c::kOwner, &t->owner);
}

void StoreOp(const Writer& w, OpTable* t) {
  namespace c = proto::op_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kName, &t->name);
  w.Plain(c::kOperation, &t->operation);
}

void StoreLaunch(const Writer& w, LaunchTable* t) {
  namespace c = proto::launch_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kFunction, &t->function);
  w.Plain(c::kStack, &t->stack);
}

void StoreTensor(const Writer& w, TensorTable* t) {
  namespace c = proto::tensor_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kDevice, &t->device);
  w.Plain(c::kAddress, &t->address);
  w.Plain(c::kBytes, &t->bytes);
  w.Plain(c::kTotalAllocated, &t->total_allocated);
  w.Plain(c::kTotalReserved, &t->total_reserved);
  std::fill_n(t->capture.data() + w.row, w.from.count, static_cast<uint16_t>(w.from.capture));
}

void StoreThreadEvent(const Writer& w, ThreadEventTable* t) {
  namespace c = proto::thread_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kEvent, &t->event);
  w.Plain(c::kA, &t->a);
  w.Plain(c::kB, &t->b);
}

void StoreProcessEvent(const Writer& w, ProcessEventTable* t) {
  namespace c = proto::process_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kEvent, &t->event);
  w.Plain(c::kA, &t->a);
  w.Plain(c::kB, &t->b);
  w.Plain(c::kText, &t->text);
}

void StoreRange(const Writer& w, RangeTable* t) {
  namespace c = proto::range_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kName, &t->name);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kDomain, &t->domain);
  w.Plain(c::kStyle, &t->style);
  w.Plain(c::kPayload, &t->payload);
  w.Plain(c::kBeginThread, &t->begin_thread);
}

void StoreRangePayload(const Writer& w, RangePayloadTable* t) {
  namespace c = proto::range_payload_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kDomain, &t->domain);
  w.Plain(c::kDefinition, &t->definition);
  w.Plain(c::kValue, &t->value);
}

void StorePython(const Writer& w, PythonTable* t) {
  namespace c = proto::python_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kName, &t->name);
  w.Plain(c::kParent, &t->parent);
  w.Plain(c::kStack, &t->stack);
  w.Plain(c::kInner, &t->self_ns);
  for (uint64_t i = w.row; i < w.row + w.from.count; ++i) {
    t->parent[i] -= 1;  // 0 becomes kNoRow
    t->self_ns[i] = t->duration_ns[i] - std::clamp<int64_t>(t->self_ns[i], 0, t->duration_ns[i]);
  }
}

void StoreRowDetail(const Writer& w, RowDetailTable* t) {
  namespace c = proto::row_detail_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kTable, &t->table);
  w.Plain(c::kRow, &t->row);
  w.Plain(c::kExternal, &t->external);
  w.Plain(c::kDetail, &t->detail);
  w.Plain(c::kSequence, &t->sequence);
}

void StoreCounter(const Writer& w, CounterTable* t) {
  namespace c = proto::counter_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kCounter, &t->counter);
  w.Plain(c::kValue, &t->value);
}

void StoreKernel(const Writer& w, KernelTable* t) {
  namespace c = proto::kernel_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kSignature, &t->signature);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kGraph, &t->graph);
  w.Plain(c::kGraphNode, &t->graph_node);
  std::fill_n(t->capture.data() + w.row, w.from.count, static_cast<uint16_t>(w.from.capture));
  w.Weight(&t->weight);
}

// Copies and sets have the same columns but the last one.
template <typename Table, typename Last>
void StoreCopy(const Writer& w, Table* t, Last* last) {
  namespace c = proto::memcpy_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kBytes, &t->bytes);
  w.Plain(c::kGraph, &t->graph);
  w.Plain(c::kGraphNode, &t->graph_node);
  w.Plain(c::kPeer, last);
  w.Weight(&t->weight);
}

void StoreApi(const Writer& w, ApiTable* t) {
  namespace c = proto::api_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kFunction, &t->function);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kResult, &t->result);
  w.Weight(&t->weight);
}

void StoreGraphLaunch(const Writer& w, GraphLaunchTable* t) {
  namespace c = proto::graph_launch_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kGraph, &t->graph);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Weight(&t->weight);
}

void StoreOverhead(const Writer& w, OverheadTable* t) {
  namespace c = proto::overhead_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kBytes, &t->bytes);
}

void StoreSync(const Writer& w, SyncTable* t) {
  namespace c = proto::sync_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kStream, &t->stream);
  w.Plain(c::kEvent, &t->event);
  w.Plain(c::kResult, &t->result);
  w.Plain(c::kEventRecord, &t->event_record);
  w.Weight(&t->weight);
}

void StoreUnifiedMemory(const Writer& w, UnifiedMemoryTable* t) {
  namespace c = proto::unified_memory_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kValue, &t->value);
  w.Plain(c::kAddress, &t->address);
  w.Plain(c::kSource, &t->source);
  w.Plain(c::kDestination, &t->destination);
}

void StoreCudaEvent(const Writer& w, CudaEventTable* t) {
  namespace c = proto::cuda_event_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kEvent, &t->event);
  w.Plain(c::kRecord, &t->record);
}

void StoreDeviceMemory(const Writer& w, DeviceMemoryTable* t) {
  namespace c = proto::device_memory_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kAddress, &t->address);
  w.Plain(c::kBytes, &t->bytes);
  w.Plain(c::kCorrelation, &t->correlation);
  w.Plain(c::kPool, &t->pool);
  w.Plain(c::kPc, &t->pc);
  w.Plain(c::kOrigin, &t->origin);
  std::fill_n(t->capture.data() + w.row, w.from.count, static_cast<uint16_t>(w.from.capture));
}

void StoreMemoryPool(const Writer& w, MemoryPoolTable* t) {
  namespace c = proto::memory_pool_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kOperation, &t->operation);
  w.Plain(c::kPool, &t->pool);
  w.Plain(c::kSize, &t->size);
  w.Plain(c::kUtilized, &t->utilized);
  w.Plain(c::kThreshold, &t->threshold);
  w.Plain(c::kKept, &t->kept);
  w.Plain(c::kCorrelation, &t->correlation);
}

}  // namespace

uint64_t RowBytes(ChunkKind kind) {
  Track none;
  uint64_t bytes = 0;
  VisitTable(&none, kind, [&](auto& column) { bytes += sizeof(column[0]); });
  return bytes;
}

void ResizeTable(Track* track, ChunkKind kind, uint64_t rows) {
  VisitTable(track, kind, [&](auto& column) { column.resize(rows); });
}

void RemoveRows(Track* track, ChunkKind kind, uint64_t row, uint64_t count) {
  VisitTable(track, kind, [&](auto& column) {
    const auto first = column.begin() + static_cast<ptrdiff_t>(row);
    column.erase(first, first + static_cast<ptrdiff_t>(count));
  });
}

void SortLateRows(Track* track) {
  std::vector<uint32_t> order;
  const auto sort = [&](ChunkKind kind, const Column<int64_t>& time_ns) {
    if (std::is_sorted(time_ns.begin(), time_ns.end())) return;
    order.resize(time_ns.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return time_ns[x] < time_ns[y]; });
    VisitTable(track, kind, [&](auto& column) {
      auto sorted = column;
      for (size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
      column = std::move(sorted);
    });
  };
  sort(ChunkKind::kHeap, track->heap.time_ns);
  sort(ChunkKind::kMapping, track->mapping.time_ns);
  sort(ChunkKind::kKernel, track->kernel.end_ns);
  sort(ChunkKind::kMemcpy, track->memcpy.end_ns);
  sort(ChunkKind::kMemset, track->memset.end_ns);
  sort(ChunkKind::kApi, track->api.end_ns);
  sort(ChunkKind::kSync, track->sync.end_ns);
  sort(ChunkKind::kDeviceMemory, track->device_memory.time_ns);
  sort(ChunkKind::kMemoryPool, track->memory_pool.time_ns);
  sort(ChunkKind::kGraphLaunch, track->graph_launch.end_ns);
  sort(ChunkKind::kCudaEvent, track->cuda_event.time_ns);
  sort(ChunkKind::kOverhead, track->overhead.end_ns);
  sort(ChunkKind::kUnifiedMemory, track->unified_memory.end_ns);
}

void StoreRows(const EventColumns& columns, const proto::BlockHeader& header, const ClockMap& clock,
               Track* track, uint64_t row) {
  // The decoder has checked that all times lie within the header's, but for the bits that a quantum
  // cuts off.
  constexpr uint64_t kQuantum = 4096;
  ClockMap::Line line;
  const bool is_straight = clock.FindLine(header.first_time - std::min(header.first_time, kQuantum),
                                          header.last_time, &line);
  const Writer writer{columns, clock, row, is_straight ? &line : nullptr};
  switch (columns.kind) {
    case ChunkKind::kHeap:
      return StoreHeap(writer, &track->heap);
    case ChunkKind::kWait:
      return StoreWait(writer, &track->wait);
    case ChunkKind::kOp:
      return StoreOp(writer, &track->op);
    case ChunkKind::kTensor:
      return StoreTensor(writer, &track->tensor);
    case ChunkKind::kThreadEvent:
      return StoreThreadEvent(writer, &track->thread_event);
    case ChunkKind::kProcessEvent:
      return StoreProcessEvent(writer, &track->process_event);
    case ChunkKind::kMapping:
      return StoreHeap(writer, &track->mapping);
    case ChunkKind::kRange:
      return StoreRange(writer, &track->range);
    case ChunkKind::kRangePayload:
      return StoreRangePayload(writer, &track->range_payload);
    case ChunkKind::kLaunch:
      return StoreLaunch(writer, &track->launch);
    case ChunkKind::kPython:
      return StorePython(writer, &track->python);
    case ChunkKind::kRowDetail:
      return StoreRowDetail(writer, &track->row_detail);
    case ChunkKind::kCounter:
      return StoreCounter(writer, &track->counter);
    case ChunkKind::kKernel:
      return StoreKernel(writer, &track->kernel);
    case ChunkKind::kMemcpy:
      return StoreCopy(writer, &track->memcpy, &track->memcpy.peer);
    case ChunkKind::kMemset:
      return StoreCopy(writer, &track->memset, &track->memset.value);
    case ChunkKind::kApi:
      return StoreApi(writer, &track->api);
    case ChunkKind::kSync:
      return StoreSync(writer, &track->sync);
    case ChunkKind::kDeviceMemory:
      return StoreDeviceMemory(writer, &track->device_memory);
    case ChunkKind::kMemoryPool:
      return StoreMemoryPool(writer, &track->memory_pool);
    case ChunkKind::kGraphLaunch:
      return StoreGraphLaunch(writer, &track->graph_launch);
    case ChunkKind::kOverhead:
      return StoreOverhead(writer, &track->overhead);
    case ChunkKind::kCudaEvent:
      return StoreCudaEvent(writer, &track->cuda_event);
    case ChunkKind::kUnifiedMemory:
      return StoreUnifiedMemory(writer, &track->unified_memory);
    default:
      return;
  }
}

}  // namespace gpuprof::analysis
