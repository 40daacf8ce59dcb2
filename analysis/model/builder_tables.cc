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

template <typename Row>
std::vector<SpanNs> SpansOf(const std::vector<Row>& rows) {
  std::vector<SpanNs> spans;
  spans.reserve(rows.size());
  for (const Row& row : rows) spans.push_back(row.span);
  return spans;
}

// Fills a column with value(i) for each of its rows, a segment at a time.
template <typename T, typename Value>
void FillColumn(size_t rows, const Value& value, Column<T>* column) {
  if (!column->empty()) {  // it has rows already, by Append
    for (size_t i = 0; i < rows; ++i) column->push_back(static_cast<T>(value(i)));
    return;
  }
  if (rows == 0) return;
  constexpr size_t kRows = ColumnSegments::kMostOpenRows;
  uint64_t values[kRows];
  column->Plan((rows + kRows - 1) / kRows);
  for (size_t first = 0; first < rows; first += kRows) {
    const size_t count = std::min(kRows, rows - first);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<uint64_t>(static_cast<T>(value(first + i)));
    column->Store(first / kRows, values, count);
  }
  column->Finish();
}

// Fills the columns of ends and durations.
template <typename Table, typename SpanAt>
void FillSpans(size_t rows, const SpanAt& span, int64_t origin, Table* table) {
  FillColumn(
      rows, [&](size_t i) { return span(i).end - origin; }, &table->end_ns);
  FillColumn(
      rows, [&](size_t i) { return span(i).end - span(i).start; }, &table->duration_ns);
}

template <typename Table>
void AddSpan(SpanNs span, int64_t origin, Table* table) {
  table->end_ns.push_back(span.end - origin);
  table->duration_ns.push_back(span.end - span.start);
}

uint32_t DepthBits(uint32_t depth) { return std::min(depth, 0xffffu) << 16; }

// Fills the columns that all work of a device has.
template <typename Table>
void FillWork(const std::vector<WorkRow>& rows, int64_t origin, Table* table) {
  FillSpans(
      rows.size(), [&](size_t i) { return rows[i].span; }, origin, table);
  FillColumn(
      rows.size(), [&](size_t i) { return rows[i].correlation; }, &table->correlation);
  FillColumn(
      rows.size(), [&](size_t i) { return rows[i].graph; }, &table->graph);
  FillColumn(
      rows.size(), [&](size_t i) { return rows[i].graph_node; }, &table->graph_node);
  FillColumn(
      rows.size(), [](size_t) { return 1; }, &table->weight);
}

// A column that only some sources have stays empty if no row has a value.
template <typename Row, typename Value>
void FillRare(const std::vector<Row>& rows, Value Row::*value, Column<Value>* column) {
  if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.*value != 0; }))
    return;
  FillColumn(
      rows.size(), [&](size_t i) { return rows[i].*value; }, column);
}

// Does the same for rows whose order in the table is `order`.
template <typename Row, typename Value>
void FillRare(const std::vector<Row>& rows, const std::vector<uint32_t>& order, Value Row::*value,
              Column<Value>* column) {
  if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.*value != 0; }))
    return;
  FillColumn(
      rows.size(), [&](size_t i) { return rows[order[i]].*value; }, column);
}

}  // namespace

void ProcessBuilder::FillOps(std::vector<OpRow>* rows, int64_t origin, OpTable* table) {
  const SpanNesting nesting = NestingOf(SpansOf(*rows));
  const auto row = [&](size_t i) -> const OpRow& { return (*rows)[nesting.by_end[i]]; };
  FillSpans(
      rows->size(), [&](size_t i) { return row(i).span; }, origin, table);
  FillColumn(
      rows->size(), [&](size_t i) { return row(i).name; }, &table->name);
  FillColumn(
      rows->size(),
      [&](size_t i) {
        return static_cast<uint32_t>(row(i).scope) | uint32_t{row(i).flags} << 8 |
               DepthBits(nesting.depths[nesting.by_end[i]]);
      },
      &table->operation);
  FillRare(*rows, nesting.by_end, &OpRow::external, &table->external);
  FillRare(*rows, nesting.by_end, &OpRow::detail, &table->detail);
  FillColumn(
      rows->size(), [&](size_t i) { return row(i).sequence; }, &table->sequence);
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
    track->python.operation.push_back(0);
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
  const SpanNesting nesting = NestingOf(SpansOf(*rows));
  const auto row = [&](size_t i) -> const RangeRow& { return (*rows)[nesting.by_end[i]]; };
  const auto none = [](size_t) { return 0; };
  const size_t count = rows->size();
  FillSpans(
      count, [&](size_t i) { return row(i).span; }, origin, table);
  FillColumn(
      count, [&](size_t i) { return row(i).name; }, &table->name);
  FillColumn(
      count,
      [&](size_t i) {
        return static_cast<uint32_t>(row(i).kind) | uint32_t{row(i).flags} << 8 |
               DepthBits(nesting.depths[nesting.by_end[i]]);
      },
      &table->operation);
  FillColumn(
      count, [&](size_t i) { return row(i).domain; }, &table->domain);
  FillColumn(count, none, &table->style);
  FillColumn(count, none, &table->payload);
  FillColumn(count, none, &table->begin_thread);
}

void ProcessBuilder::FillCalls(std::vector<CallRow>* rows, int64_t origin, ApiTable* table) {
  SortByEnd(rows);
  const auto row = [&](size_t i) -> const CallRow& { return (*rows)[i]; };
  const size_t count = rows->size();
  FillSpans(
      count, [&](size_t i) { return row(i).span; }, origin, table);
  FillColumn(
      count, [&](size_t i) { return row(i).function; }, &table->function);
  FillColumn(
      count, [&](size_t i) { return row(i).correlation; }, &table->correlation);
  FillColumn(
      count, [&](size_t i) { return row(i).result; }, &table->result);
  FillColumn(
      count, [](size_t) { return 1; }, &table->weight);
  FillRare(*rows, &CallRow::external, &table->external);
}

void ProcessBuilder::FillKernels(std::vector<WorkRow>* rows, int64_t origin, KernelTable* table) {
  SortByEnd(rows);
  FillWork(*rows, origin, table);
  const auto row = [&](size_t i) -> const WorkRow& { return (*rows)[i]; };
  FillColumn(
      rows->size(), [&](size_t i) { return row(i).signature; }, &table->signature);
  FillColumn(
      rows->size(), [&](size_t i) { return (*rows)[i].capture; }, &table->capture);
  FillRare(*rows, &WorkRow::external, &table->external);
  FillRare(*rows, &WorkRow::detail, &table->detail);
}

void ProcessBuilder::FillCopies(std::vector<WorkRow>* rows, int64_t origin, MemcpyTable* table) {
  SortByEnd(rows);
  FillWork(*rows, origin, table);
  for (const WorkRow& row : *rows) {
    table->operation.push_back(row.operation);
    table->bytes.push_back(row.bytes);
    table->peer.push_back(row.peer);
  }
  FillRare(*rows, &WorkRow::external, &table->external);
}

void ProcessBuilder::FillSets(std::vector<WorkRow>* rows, int64_t origin, MemsetTable* table) {
  SortByEnd(rows);
  FillWork(*rows, origin, table);
  for (const WorkRow& row : *rows) {
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
    table->capture.push_back(row.capture);
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
