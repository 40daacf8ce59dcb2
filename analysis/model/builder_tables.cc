// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a ProcessBuilder become columns, in the order that the model wants.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/model/builder.h"

namespace gpuprof::analysis {
namespace {

// Sorts rows. Many come in order: that is cheap to see.
template <typename Row, typename IsBefore>
void SortRows(std::vector<Row>* rows, IsBefore is_before) {
  if (!std::is_sorted(rows->begin(), rows->end(), is_before))
    std::stable_sort(rows->begin(), rows->end(), is_before);
}

// Spans by their end.
template <typename Row>
void SortByEnd(std::vector<Row>* rows) {
  SortRows(rows, [](const Row& x, const Row& y) { return x.span.end < y.span.end; });
}

// Returns how many of the rows before are open at each row's start. Sorts the rows so that a row
// comes before the rows that lie in it.
template <typename Row>
std::vector<uint32_t> SortOutermostFirst(std::vector<Row>* rows) {
  SortRows(rows, [](const Row& x, const Row& y) {
    return x.span.start != y.span.start ? x.span.start < y.span.start : x.span.end > y.span.end;
  });
  std::vector<int64_t> open;
  std::vector<uint32_t> depths;
  depths.reserve(rows->size());
  for (const Row& row : *rows) {
    while (!open.empty() && open.back() <= row.span.start) open.pop_back();
    depths.push_back(static_cast<uint32_t>(open.size()));
    open.push_back(row.span.end);
  }
  return depths;
}

// Returns the order in which nested rows end: the inner row first if both end at one moment.
template <typename Row>
std::vector<uint32_t> OrderOfEnds(const std::vector<Row>& rows,
                                  const std::vector<uint32_t>& depths) {
  std::vector<uint32_t> order(rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  SortRows(&order, [&](uint32_t x, uint32_t y) {
    return rows[x].span.end != rows[y].span.end ? rows[x].span.end < rows[y].span.end
                                                : depths[x] > depths[y];
  });
  return order;
}

template <typename Table>
void AddSpan(SpanNs span, int64_t origin, Table* table) {
  table->end_ns.push_back(span.end - origin);
  table->duration_ns.push_back(span.end - span.start);
}

uint32_t DepthBits(uint32_t depth) { return std::min(depth, 0xffffu) << 16; }

// The columns that all work of a device has.
template <typename Table>
void AddWork(const WorkRow& row, int64_t origin, Table* table) {
  AddSpan(row.span, origin, table);
  table->correlation.push_back(row.correlation);
  table->graph.push_back(row.graph);
  table->graph_node.push_back(row.graph_node);
  table->weight.push_back(1);
}

// A column that only some sources have stays empty if no row has a value.
template <typename Row, typename Value>
void FillRare(const std::vector<Row>& rows, Value Row::*value, Column<Value>* column) {
  if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.*value != 0; }))
    return;
  for (const Row& row : rows) column->push_back(row.*value);
}

// Does the same for rows whose order in the table is `order`.
template <typename Row, typename Value>
void FillRare(const std::vector<Row>& rows, const std::vector<uint32_t>& order, Value Row::*value,
              Column<Value>* column) {
  if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.*value != 0; }))
    return;
  for (const uint32_t i : order) column->push_back(rows[i].*value);
}

}  // namespace

void ProcessBuilder::FillOps(std::vector<OpRow>* rows, int64_t origin, OpTable* table) {
  const std::vector<uint32_t> depths = SortOutermostFirst(rows);
  const std::vector<uint32_t> order = OrderOfEnds(*rows, depths);
  for (const uint32_t i : order) {
    const OpRow& row = (*rows)[i];
    AddSpan(row.span, origin, table);
    table->name.push_back(row.name);
    table->operation.push_back(static_cast<uint32_t>(row.scope) | uint32_t{row.flags} << 8 |
                               DepthBits(depths[i]));
  }
  FillRare(*rows, order, &OpRow::external, &table->external);
  FillRare(*rows, order, &OpRow::detail, &table->detail);
  FillRare(*rows, order, &OpRow::sequence, &table->sequence);
}

void ProcessBuilder::FillPython(TimelineRows* rows, int64_t origin, Track* track) {
  std::vector<PythonRow>& python = rows->python;
  const std::vector<uint32_t> depths = SortOutermostFirst(&python);
  // The stack of each row, and its time less that of the rows directly in it.
  std::vector<uint32_t> stacks(python.size());
  std::vector<int64_t> self(python.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < python.size(); ++i) {
    while (!open.empty() && python[open.back()].span.end <= python[i].span.start) open.pop_back();
    const uint32_t caller = open.empty() ? 0 : stacks[open.back()];
    stacks[i] = process_.stacks.Child(caller, NamedFrame(python[i].name));
    self[i] = python[i].span.end - python[i].span.start;
    if (!open.empty()) {
      const SpanNs& outer = python[open.back()].span;
      self[open.back()] -= std::min(python[i].span.end, outer.end) - python[i].span.start;
    }
    open.push_back(i);
  }
  const std::vector<uint32_t> order = OrderOfEnds(python, depths);
  std::unordered_map<int64_t, uint32_t> places;  // by the source's number
  for (uint32_t i = 0; i < order.size(); ++i) {
    const int64_t id = python[order[i]].id;
    if (id >= 0) places.emplace(id, i);
  }
  for (const uint32_t i : order) {
    const PythonRow& row = python[i];
    AddSpan(row.span, origin, &track->python);
    track->python.name.push_back(row.name);
    const auto parent = row.parent < 0 ? places.end() : places.find(row.parent);
    track->python.parent.push_back(parent == places.end() ? PythonTable::kNoRow : parent->second);
    track->python.stack.push_back(stacks[i]);
    track->python.self_ns.push_back(std::max<int64_t>(self[i], 0));
  }
  AddLaunches(python, stacks, &rows->calls, origin, &track->launch);
}

// `python`: outermost first.
void ProcessBuilder::AddLaunches(const std::vector<PythonRow>& python,
                                 const std::vector<uint32_t>& stacks, std::vector<CallRow>* calls,
                                 int64_t origin, LaunchTable* table) {
  if (python.empty()) return;
  std::stable_sort(calls->begin(), calls->end(),
                   [](const CallRow& x, const CallRow& y) { return x.span.start < y.span.start; });
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (const CallRow& call : *calls) {
    if (!call.launches || call.correlation == 0) continue;
    for (; next < python.size() && python[next].span.start <= call.span.start; ++next) {
      while (!open.empty() && python[open.back()].span.end <= python[next].span.start)
        open.pop_back();
      open.push_back(next);
    }
    while (!open.empty() && python[open.back()].span.end <= call.span.start) open.pop_back();
    if (open.empty()) continue;
    table->time_ns.push_back(call.span.start - origin);
    table->correlation.push_back(call.correlation);
    table->function.push_back(call.function);
    table->stack.push_back(stacks[open.back()]);
  }
}

void ProcessBuilder::FillRanges(std::vector<RangeRow>* rows, int64_t origin, RangeTable* table) {
  const std::vector<uint32_t> depths = SortOutermostFirst(rows);
  for (const uint32_t i : OrderOfEnds(*rows, depths)) {
    const RangeRow& row = (*rows)[i];
    AddSpan(row.span, origin, table);
    table->name.push_back(row.name);
    table->operation.push_back(static_cast<uint32_t>(row.kind) | uint32_t{row.flags} << 8 |
                               DepthBits(depths[i]));
    table->domain.push_back(row.domain);
    table->style.push_back(0);
    table->payload.push_back(0);
    table->begin_thread.push_back(0);
  }
}

void ProcessBuilder::FillCalls(std::vector<CallRow>* rows, int64_t origin, ApiTable* table) {
  SortByEnd(rows);
  for (const CallRow& row : *rows) {
    AddSpan(row.span, origin, table);
    table->function.push_back(row.function);
    table->correlation.push_back(row.correlation);
    table->result.push_back(row.result);
    table->weight.push_back(1);
  }
  FillRare(*rows, &CallRow::external, &table->external);
}

void ProcessBuilder::FillKernels(std::vector<WorkRow>* rows, int64_t origin, KernelTable* table) {
  SortByEnd(rows);
  for (const WorkRow& row : *rows) {
    AddWork(row, origin, table);
    table->signature.push_back(row.signature);
    table->capture.push_back(1);
  }
  FillRare(*rows, &WorkRow::external, &table->external);
  FillRare(*rows, &WorkRow::detail, &table->detail);
}

void ProcessBuilder::FillCopies(std::vector<WorkRow>* rows, int64_t origin, MemcpyTable* table) {
  SortByEnd(rows);
  for (const WorkRow& row : *rows) {
    AddWork(row, origin, table);
    table->operation.push_back(row.operation);
    table->bytes.push_back(row.bytes);
    table->peer.push_back(row.peer);
  }
  FillRare(*rows, &WorkRow::external, &table->external);
}

void ProcessBuilder::FillSets(std::vector<WorkRow>* rows, int64_t origin, MemsetTable* table) {
  SortByEnd(rows);
  for (const WorkRow& row : *rows) {
    AddWork(row, origin, table);
    table->operation.push_back(row.operation);
    table->bytes.push_back(row.bytes);
    table->value.push_back(0);
  }
  FillRare(*rows, &WorkRow::external, &table->external);
}

void ProcessBuilder::FillGraphLaunches(std::vector<WorkRow>* rows, int64_t origin,
                                       GraphLaunchTable* table) {
  SortByEnd(rows);
  for (const WorkRow& row : *rows) {
    AddSpan(row.span, origin, table);
    table->graph.push_back(row.graph);
    table->correlation.push_back(row.correlation);
    table->weight.push_back(1);
  }
}

void ProcessBuilder::FillSyncs(std::vector<SyncRow>* rows, uint32_t stream, int64_t origin,
                               SyncTable* table) {
  SortByEnd(rows);
  for (const SyncRow& row : *rows) {
    AddSpan(row.span, origin, table);
    table->operation.push_back(row.kind);
    table->correlation.push_back(row.correlation);
    table->stream.push_back(stream);
    table->event.push_back(row.event);
    table->result.push_back(0);
    table->event_record.push_back(row.event_record);
    table->weight.push_back(1);
  }
}

void ProcessBuilder::FillTensors(std::vector<TensorRow>* rows, int64_t origin, TensorTable* table) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const TensorRow& x, const TensorRow& y) { return x.time < y.time; });
  for (const TensorRow& row : *rows) {
    table->time_ns.push_back(row.time - origin);
    table->device.push_back(row.device);
    table->address.push_back(row.address);
    table->bytes.push_back(row.bytes);
    table->total_allocated.push_back(row.total_allocated);
    table->total_reserved.push_back(row.total_reserved);
    table->capture.push_back(1);
  }
}

void ProcessBuilder::FillRest(TimelineRows* rows, int64_t origin, Track* track) {
  SortByEnd(&rows->overheads);
  for (const OverheadRow& row : rows->overheads) {
    AddSpan(row.span, origin, &track->overhead);
    track->overhead.operation.push_back(row.operation);
    track->overhead.correlation.push_back(0);
    track->overhead.bytes.push_back(0);
  }
  std::stable_sort(rows->events.begin(), rows->events.end(),
                   [](const EventRow& x, const EventRow& y) { return x.time < y.time; });
  for (const EventRow& row : rows->events) {
    track->cuda_event.time_ns.push_back(row.time - origin);
    track->cuda_event.correlation.push_back(row.correlation);
    track->cuda_event.event.push_back(0);
    track->cuda_event.record.push_back(row.record);
  }
}

void ProcessBuilder::FillCounters(std::vector<CounterRow>* rows, int64_t origin, Track* track) {
  if (rows->empty()) return;
  std::stable_sort(rows->begin(), rows->end(),
                   [](const CounterRow& x, const CounterRow& y) { return x.time < y.time; });
  for (const CounterRow& row : *rows) {
    track->counter.time_ns.push_back(row.time - origin);
    track->counter.counter.push_back(row.counter);
    track->counter.value.push_back(row.value);
  }
  if (!track->is_stream) return;
  proto::SampledDevice& device = process_.sampled_devices[track->id];
  device.set_track(track->id);
  device.set_index(track->device);
  const proto::Device* known = process_.FindDevice(track->device);
  if (known != nullptr) device.set_name(known->name());
}

}  // namespace gpuprof::analysis
