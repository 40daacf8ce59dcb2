// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_columns.h.

#include "analysis/read/track_columns.h"

#include <algorithm>

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
      all(t.end_ns, t.duration_ns, t.operation, t.object, t.caller, t.stack);
      return true;
    }
    case ChunkKind::kOp: {
      OpTable& t = track->op;
      all(t.end_ns, t.duration_ns, t.name, t.operation);
      return true;
    }
    case ChunkKind::kTensor: {
      TensorTable& t = track->tensor;
      all(t.time_ns, t.device, t.address, t.bytes, t.total_allocated, t.total_reserved);
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
    default:
      return false;
  }
}

// Values of one block on their way into a table, from `row` on.
struct Writer {
  const EventColumns& from;
  const ClockMap& clock;
  uint64_t row;

  template <typename T>
  void Plain(int column, Column<T>* to) const {
    const std::vector<uint64_t>& values = from.column[column];
    T* out = to->data() + row;
    if (values.empty()) {
      std::fill_n(out, from.count, T{0});
      return;
    }
    const uint64_t* in = values.data();
    for (uint32_t i = 0; i < from.count; ++i) out[i] = static_cast<T>(in[i]);
  }

  uint64_t At(int column, uint32_t i) const {
    return from.column[column].empty() ? 0 : from.column[column][i];
  }

  void Time(int column, Column<int64_t>* to) const {
    ClockMap::Cursor cursor(clock);
    int64_t* out = to->data() + row;
    for (uint32_t i = 0; i < from.count; ++i) out[i] = cursor.Convert(At(column, i));
  }

  // Start and end are converted each, so that spans that nest or touch in ticks do so in
  // nanoseconds.
  void Span(int end_column, int duration_column, Column<int64_t>* end_ns,
            Column<int64_t>* duration_ns) const {
    ClockMap::Cursor end_cursor(clock);
    ClockMap::Cursor start_cursor(clock);
    int64_t* ends = end_ns->data() + row;
    int64_t* durations = duration_ns->data() + row;
    for (uint32_t i = 0; i < from.count; ++i) {
      const uint64_t end = At(end_column, i);
      const uint64_t duration = std::min(At(duration_column, i), end);
      ends[i] = end_cursor.Convert(end);
      durations[i] = ends[i] - start_cursor.Convert(end - duration);
    }
  }
};

void StoreHeap(const Writer& w, HeapTable* t) {
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
}

void StoreOp(const Writer& w, OpTable* t) {
  namespace c = proto::op_column;
  w.Span(c::kEnd, c::kDuration, &t->end_ns, &t->duration_ns);
  w.Plain(c::kName, &t->name);
  w.Plain(c::kOperation, &t->operation);
}

void StoreTensor(const Writer& w, TensorTable* t) {
  namespace c = proto::tensor_column;
  w.Time(c::kTime, &t->time_ns);
  w.Plain(c::kDevice, &t->device);
  w.Plain(c::kAddress, &t->address);
  w.Plain(c::kBytes, &t->bytes);
  w.Plain(c::kTotalAllocated, &t->total_allocated);
  w.Plain(c::kTotalReserved, &t->total_reserved);
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

void StoreRows(const EventColumns& columns, const ClockMap& clock, Track* track, uint64_t row) {
  const Writer writer{columns, clock, row};
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
    default:
      return;
  }
}

}  // namespace gpuprof::analysis
