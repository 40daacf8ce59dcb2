// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_tables.h.

#include "analysis/query/event_tables.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/model/table_columns.h"
#include "analysis/query/column_names.h"
#include "analysis/query/range_value_table.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using proto::Codes;
using proto::ColumnSpec;
using proto::ColumnType;
using proto::TableSpec;

constexpr size_t kRows = QueryChunk::kRows;
using Values = std::array<uint64_t, kRows>;

// The columns of a table of one track, as 64 bits each.
class AnyColumns {
 public:
  AnyColumns(const Track& track, ChunkKind kind) { ReadTable(track, kind, this); }

  size_t rows() const { return rows_; }
  void Copy(int place, size_t first, size_t count, uint64_t* to) const {
    const Any& any = columns_[static_cast<size_t>(place)];
    if (any.copy == nullptr) {
      std::fill_n(to, count, 0);
    } else {
      any.copy(any.data, first, count, to);
    }
  }

  // Keeps the columns that ReadTable() hands over.
  template <ChunkKind kKind, typename... Columns>
  void Rows(const Columns&... columns) {
    int place = 0;
    (Set(place++, columns), ...);
  }
  void Capture(const Column<uint16_t>& column) { Set(kCapture, column); }
  void Weight(const Column<uint32_t>& column) { Set(kWeight, column); }

  static constexpr int kCapture = proto::kMaxColumns, kWeight = kCapture + 1;

 private:
  struct Any {
    const void* data = nullptr;
    void (*copy)(const void* data, size_t first, size_t count, uint64_t* to) = nullptr;
  };

  template <typename T>
  void Set(int place, const Column<T>& column) {
    if (place == 0) rows_ = column.size();
    if (column.size() == 0) return;
    columns_[static_cast<size_t>(place)] = {
        &column, [](const void* data, size_t first, size_t count, uint64_t* to) {
          T values[kRows];
          static_cast<const Column<T>*>(data)->Copy(first, count, values);
          for (size_t i = 0; i < count; ++i) to[i] = static_cast<uint64_t>(values[i]);
        }};
  }

  size_t rows_ = 0;
  std::array<Any, kWeight + 1> columns_{};
};

// What a column of SQL is made of.
enum class From : uint8_t {
  kColumn,  // a column, or a field of it
  kStart,   // end minus duration
  kStep,    // that the event begins in
  kId,      // its place in the table
  kTrack,
  kRank,
  kPid,
  kTid,
  kThread,
  kHost,
  kDevice,
  kContext,
  kStream,
  kStreamName,
  kCountedDevice,
  kCountedUuid,
  // Parts of a kernel's signature:
  kFunction,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kStaticShared,
  kDynamicShared,
  // Parts of a counter:
  kCounterUnit,
  kCounterSource,
  kCounterValue,
};

struct Source {
  From from = From::kColumn;
  int column = 0;
  const proto::BitField* field = nullptr;
  ColumnType type = ColumnType::kNumber;
  Codes codes = Codes::kNone;
};

class EventTable;

class EventScan : public TableScan {
 public:
  EventScan(const EventTable& table, std::vector<size_t> columns)
      : table_(table), columns_(std::move(columns)) {}
  size_t threads() const override;
  std::vector<Share> Shares() const override;
  size_t Next(Share* share, QueryChunk* chunk) override;

 private:
  struct Rows {
    size_t process, track, first, count;
    uint64_t id;  // of the first row
    const AnyColumns& columns;
  };
  void Fill(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk);
  void FillColumn(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk);
  void FillStarts(const Rows& rows, int64_t* to) const;
  void FillSteps(size_t place, const Rows& rows, QueryChunk* chunk);
  void FillOfTrack(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk);
  void FillOfShape(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk);
  void FillOfCounter(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk);

  const EventTable& table_;
  std::vector<size_t> columns_;
  std::atomic<size_t> next_{0};
};

class EventTable : public QueryTable {
 public:
  // Rows of one track that a thread takes at a time.
  struct Part {
    size_t process = 0, track = 0, first = 0, count = 0;
    uint64_t id = 0;
  };
  static constexpr size_t kMostRows = 60 * kRows;

  EventTable(const TableSpec& spec, std::string name, const TraceNames& names, TraceSteps* steps)
      : QueryTable(std::move(name), std::string("events of the table ") + spec.name),
        spec_(spec),
        names_(names),
        steps_(steps) {
    AddColumns();
    std::vector<size_t> all(names.places());
    std::iota(all.begin(), all.end(), size_t{0});
    AddAll(all);
  }

  uint64_t rows() const override { return rows_; }
  void Choose(const std::vector<size_t>& processes) override { AddAll(processes); }
  bool IsOfEvents() const override { return true; }
  Error Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) override {
    const bool wants_steps = std::any_of(columns.begin(), columns.end(), [this](size_t column) {
      return sources_[column].from == From::kStep;
    });
    if (wants_steps)
      if (Error error = steps_->Find()) return error;
    *scan = std::make_unique<EventScan>(*this, columns);
    return {};
  }

  const TableSpec& spec() const { return spec_; }
  const TraceNames& names() const { return names_; }
  const TraceSteps& steps() const { return *steps_; }
  const std::vector<Part>& parts() const { return parts_; }
  const Source& source(size_t column) const { return sources_[column]; }
  int duration() const { return duration_; }

 private:
  void AddColumns();
  void AddSpec(int place, const ColumnSpec& column);
  void Add(std::string name, ValueType type, std::string unit, const Source& source,
           std::string_view names = {});
  void AddAll(const std::vector<size_t>& processes);
  void AddParts(size_t process, size_t number, const Track& track);

  const TableSpec& spec_;
  const TraceNames& names_;
  TraceSteps* steps_;
  std::vector<Source> sources_;
  std::vector<Part> parts_;
  uint64_t rows_ = 0;
  int duration_ = -1;
};

void EventTable::Add(std::string name, ValueType type, std::string unit, const Source& source,
                     std::string_view names) {
  for (const QueryColumn& column : columns_)
    if (column.name == name) return;
  columns_.push_back({std::move(name), type, std::move(unit), names});
  sources_.push_back(source);
}

void EventTable::AddSpec(int place, const ColumnSpec& column) {
  if (column.type != ColumnType::kBits) {
    const ValueType type = SqlTypeOf(column.type);
    Add(SqlNameOf(column.name, column.type), type, SqlUnitOf(column.type),
        {From::kColumn, place, nullptr, column.type, column.codes},
        type == ValueType::kId ? "names" : "");
    return;
  }
  for (int i = 0; i < column.fields; ++i) {
    const proto::BitField& field = column.field[i];
    const ValueType type = SqlTypeOf(field.type);
    Add(SqlNameOf(field.name, field.type), type, SqlUnitOf(field.type),
        {From::kColumn, place, &field, field.type, field.codes},
        type == ValueType::kId ? "names" : "");
  }
}

void EventTable::AddColumns() {
  for (int i = 0; i < spec_.columns; ++i)
    if (spec_.column[i].type == ColumnType::kDuration) duration_ = duration_ < 0 ? i : duration_;
  if (duration_ > 0) Add("start_ns", ValueType::kSigned, "ns", {From::kStart});
  for (int i = 0; i < spec_.columns; ++i) AddSpec(i, spec_.column[i]);
  if (spec_.kind == ChunkKind::kKernel) {
    // Without its text: each text costs a join, also where a query does not ask for it.
    Add("function_id", ValueType::kId, "", {From::kFunction});
    constexpr std::pair<const char*, From> kParts[] = {
        {"grid_x", From::kGridX},       {"grid_y", From::kGridY},   {"grid_z", From::kGridZ},
        {"block_x", From::kBlockX},     {"block_y", From::kBlockY}, {"block_z", From::kBlockZ},
        {"registers", From::kRegisters}};
    for (const auto& [name, from] : kParts) Add(name, ValueType::kUnsigned, "", {from});
    Add("static_shared_bytes", ValueType::kUnsigned, "bytes", {From::kStaticShared});
    Add("dynamic_shared_bytes", ValueType::kUnsigned, "bytes", {From::kDynamicShared});
  }
  if (spec_.kind == ChunkKind::kCounter) {
    Add("reading", ValueType::kReal, "", {From::kCounterValue});
    Add("unit", ValueType::kText, "", {From::kCounterUnit});
    Add("source", ValueType::kText, "", {From::kCounterSource});
    Add("device", ValueType::kUnsigned, "", {From::kCountedDevice});
    Add("device_uuid", ValueType::kText, "", {From::kCountedUuid});
  }
  Add("step", ValueType::kUnsigned, "", {From::kStep});
  Add("host", ValueType::kText, "", {From::kHost});
  Add("rank", ValueType::kUnsigned, "", {From::kRank});
  Add("pid", ValueType::kSigned, "", {From::kPid});
  Add("tid", ValueType::kSigned, "", {From::kTid});
  Add("thread", ValueType::kText, "", {From::kThread});
  if (spec_.feed == proto::Feed::kCupti) {
    Add("device", ValueType::kUnsigned, "", {From::kDevice});
    Add("context", ValueType::kUnsigned, "", {From::kContext});
    Add("stream", ValueType::kUnsigned, "", {From::kStream});
    Add("stream_name", ValueType::kText, "", {From::kStreamName});
  }
  Add("track", ValueType::kUnsigned, "", {From::kTrack});
  Add("id", ValueType::kUnsigned, "", {From::kId});
}

void EventTable::AddAll(const std::vector<size_t>& processes) {
  parts_.clear();
  rows_ = 0;
  for (const size_t process : processes) {
    const std::vector<Track>& tracks = names_.process(process).tracks;
    for (size_t track = 0; track < tracks.size(); ++track) AddParts(process, track, tracks[track]);
  }
}

void EventTable::AddParts(size_t process, size_t number, const Track& track) {
  const size_t rows = AnyColumns(track, spec_.kind).rows();
  for (size_t first = 0; first < rows; first += kMostRows)
    parts_.push_back({process, number, first, std::min(kMostRows, rows - first), rows_ + first});
  rows_ += rows;
}

size_t EventScan::threads() const { return std::max<size_t>(table_.parts().size(), 1); }

std::vector<TableScan::Share> EventScan::Shares() const {
  std::vector<Share> shares;
  for (size_t i = 0; i < table_.parts().size(); ++i) {
    const EventTable::Part& part = table_.parts()[i];
    shares.push_back({i, part.first, part.first + part.count});
  }
  return shares;
}

size_t EventScan::Next(Share* share, QueryChunk* chunk) {
  const std::vector<EventTable::Part>& parts = table_.parts();
  if (share->row == share->end) {
    share->part = next_.fetch_add(1);
    if (share->part >= parts.size()) return 0;
    share->row = parts[share->part].first;
    share->end = share->row + parts[share->part].count;
  }
  const EventTable::Part& part = parts[share->part];
  const size_t count = std::min(kRows, share->end - share->row);
  const Track& track = table_.names().process(part.process).tracks[part.track];
  const AnyColumns columns(track, table_.spec().kind);
  const uint64_t id = part.id + share->row - part.first;
  const Rows rows = {part.process, part.track, share->row, count, id, columns};
  for (size_t place = 0; place < columns_.size(); ++place)
    Fill(table_.source(columns_[place]), place, rows, chunk);
  share->row += count;
  return count;
}

void EventScan::Fill(const Source& source, size_t place, const Rows& rows, QueryChunk* chunk) {
  if (source.from == From::kColumn) return FillColumn(source, place, rows, chunk);
  if (source.from == From::kStart) return FillStarts(rows, chunk->Values<int64_t>(place));
  if (source.from == From::kStep) return FillSteps(place, rows, chunk);
  if (source.from == From::kId) {
    auto* const to = chunk->Values<uint64_t>(place);
    for (size_t i = 0; i < rows.count; ++i) to[i] = rows.id + i;
    return;
  }
  if (source.from >= From::kCounterUnit) return FillOfCounter(source, place, rows, chunk);
  if (source.from >= From::kFunction) return FillOfShape(source, place, rows, chunk);
  FillOfTrack(source, place, rows, chunk);
}

void EventScan::FillStarts(const Rows& rows, int64_t* to) const {
  Values ends, durations;
  rows.columns.Copy(0, rows.first, rows.count, ends.data());
  durations.fill(0);
  if (table_.duration() > 0)
    rows.columns.Copy(table_.duration(), rows.first, rows.count, durations.data());
  for (size_t i = 0; i < rows.count; ++i) to[i] = static_cast<int64_t>(ends[i] - durations[i]);
}

// Fills the numbers of the steps in which rows begin.
void EventScan::FillSteps(size_t place, const Rows& rows, QueryChunk* chunk) {
  std::array<int64_t, kRows> starts;
  FillStarts(rows, starts.data());
  const std::vector<NumberedSpan>& steps = table_.steps().Of(rows.process);
  auto* const to = chunk->Values<uint64_t>(place);
  const NumberedSpan* at = nullptr;  // rows next to each other are mostly in one step
  for (size_t i = 0; i < rows.count; ++i) {
    const int64_t time = starts[i];
    if (at == nullptr || time < at->start_ns || time >= at->end_ns) {
      const auto next = std::upper_bound(
          steps.begin(), steps.end(), time,
          [](int64_t value, const NumberedSpan& step) { return value < step.start_ns; });
      at = next == steps.begin() || (next - 1)->end_ns <= time ? nullptr : &*(next - 1);
    }
    if (at == nullptr)
      chunk->SetNull(place, i);
    else
      to[i] = at->number;
  }
}

void EventScan::FillColumn(const Source& source, size_t place, const Rows& rows,
                           QueryChunk* chunk) {
  Values values;
  rows.columns.Copy(source.column, rows.first, rows.count, values.data());
  if (source.field != nullptr)
    for (size_t i = 0; i < rows.count; ++i) values[i] = source.field->Of(values[i]);
  const TraceNames& names = table_.names();
  const TraceNames::OfProcess& of = names.of(rows.process);
  // Calls `text` where the value changes.
  const auto fill_texts = [&](const auto& text) {
    auto* const to = chunk->Values<duckdb::Text>(place);
    for (size_t i = 0; i < rows.count; ++i)
      to[i] = i != 0 && values[i] == values[i - 1] ? to[i - 1] : TextValue(text(values[i]));
  };
  const auto fill_ids = [&](const auto& id) {
    auto* const to = chunk->Values<uint32_t>(place);
    for (size_t i = 0; i < rows.count; ++i)
      to[i] =
          i != 0 && values[i] == values[i - 1] ? to[i - 1] : id(static_cast<uint32_t>(values[i]));
  };
  switch (source.type) {
    case ColumnType::kEnum:
      return fill_texts([&](uint64_t value) { return names.Word(source.codes, value); });
    case ColumnType::kFlags:
      return fill_texts([&](uint64_t value) { return names.Flags(source.codes, value); });
    case ColumnType::kDevice:
      return fill_texts(
          [&](uint64_t value) { return names.Device(rows.process, static_cast<uint32_t>(value)); });
    case ColumnType::kString:
      return fill_ids([&](uint32_t id) { return of.strings.Find(id); });
    case ColumnType::kFunction:
      return fill_ids([&](uint32_t id) { return of.functions.Find(id); });
    case ColumnType::kSignature:
      return fill_ids([&](uint32_t id) { return names.shape(of.shapes.Find(id)).name; });
    case ColumnType::kCounter:
      return fill_ids([&](uint32_t id) { return names.counter(of.counters.Find(id)).name; });
    case ColumnType::kFlag: {
      auto* const to = chunk->Values<bool>(place);
      for (size_t i = 0; i < rows.count; ++i) to[i] = values[i] != 0;
      return;
    }
    default:
      break;
  }
  std::copy_n(values.data(), rows.count, chunk->Values<uint64_t>(place));
  if (source.type != ColumnType::kBytes && source.type != ColumnType::kStack &&
      source.type != ColumnType::kGpu)
    return;
  for (size_t i = 0; i < rows.count; ++i) {
    const bool is_unknown = (source.type == ColumnType::kBytes && values[i] == kUnknownBytes) ||
                            (source.type == ColumnType::kStack && values[i] <= 1) ||
                            (source.type == ColumnType::kGpu && values[i] == 0);
    if (is_unknown) {
      chunk->SetNull(place, i);
    } else if (source.type == ColumnType::kGpu) {
      --chunk->Values<uint64_t>(place)[i];
    } else if (source.type == ColumnType::kStack) {
      const StackTree& tree = names.process(rows.process).stacks;
      const uint64_t id = tree.Canonical(static_cast<uint32_t>(values[i]));
      chunk->Values<uint64_t>(place)[i] = uint64_t{rows.process} << 32 | id;
    }
  }
}

void EventScan::FillOfTrack(const Source& source, size_t place, const Rows& rows,
                            QueryChunk* chunk) {
  const TraceNames& names = table_.names();
  const Process& process = names.process(rows.process);
  const Track& track = process.tracks[rows.track];
  const TraceNames::OfProcess& of = names.of(rows.process);
  const auto fill = [&](auto value, bool is_known) {
    auto* const to = chunk->Values<decltype(value)>(place);
    std::fill_n(to, rows.count, value);
    for (size_t i = 0; i < rows.count && !is_known; ++i) chunk->SetNull(place, i);
  };
  const std::string_view name = names.Text(of.tracks[rows.track]);
  const CountedDevice device = of.Counted(rows.track);
  switch (source.from) {
    case From::kPid:
      return fill(int64_t{process.pid}, of.is_of_program);
    case From::kTid:
      return fill(int64_t{track.tid}, !track.is_stream && track.tid != 0 && of.is_of_program);
    case From::kThread:
      return fill(TextValue(name), !track.is_stream && of.is_of_program);
    case From::kRank:
      return fill(uint64_t{of.rank.value_or(0)}, of.rank.has_value() && of.is_of_program);
    case From::kTrack:
      return fill(TrackNumber(rows.process, rows.track), true);
    case From::kHost:
      return fill(TextValue(names.Text(of.host)), true);
    case From::kDevice:
      return fill(uint64_t{track.device}, track.is_stream);
    case From::kContext:
      return fill(uint64_t{track.context}, track.is_stream && track.context != kNoCudaId);
    case From::kStream:
      return fill(uint64_t{track.stream}, track.is_stream && track.stream != kNoCudaId);
    case From::kCountedDevice:
      return fill(uint64_t{device.index}, device.is_known);
    case From::kCountedUuid:
      return fill(TextValue(names.Text(device.uuid)), device.uuid != 0);
    default:
      return fill(TextValue(name), track.is_stream);
  }
}

void EventScan::FillOfShape(const Source& source, size_t place, const Rows& rows,
                            QueryChunk* chunk) {
  Values values;
  constexpr int kSignature = 2;
  rows.columns.Copy(kSignature, rows.first, rows.count, values.data());
  const TraceNames::OfProcess& of = table_.names().of(rows.process);
  if (source.from == From::kFunction) {
    auto* const to = chunk->Values<uint32_t>(place);
    for (size_t i = 0; i < rows.count; ++i)
      to[i] = i != 0 && values[i] == values[i - 1]
                  ? to[i - 1]
                  : table_.names().shape(of.shapes.Find(static_cast<uint32_t>(values[i]))).function;
    return;
  }
  const auto part = [&](const LaunchShape& shape) -> uint64_t {
    switch (source.from) {
      case From::kRegisters:
        return shape.registers;
      case From::kStaticShared:
        return shape.static_shared_bytes;
      case From::kDynamicShared:
        return shape.dynamic_shared_bytes;
      default:
        break;
    }
    const auto at = static_cast<size_t>(source.from) - static_cast<size_t>(From::kGridX);
    return at < 3 ? shape.grid[at] : shape.block[at - 3];
  };
  auto* const to = chunk->Values<uint64_t>(place);
  for (size_t i = 0; i < rows.count; ++i)
    to[i] = part(table_.names().shape(of.shapes.Find(static_cast<uint32_t>(values[i]))));
}

void EventScan::FillOfCounter(const Source& source, size_t place, const Rows& rows,
                              QueryChunk* chunk) {
  Values counters, values;
  rows.columns.Copy(1, rows.first, rows.count, counters.data());
  rows.columns.Copy(2, rows.first, rows.count, values.data());
  const TraceNames& names = table_.names();
  const IdMap& places = names.of(rows.process).counters;
  for (size_t i = 0; i < rows.count; ++i) {
    const CounterText& counter = names.counter(places.Find(static_cast<uint32_t>(counters[i])));
    if (source.from == From::kCounterValue) {
      chunk->Values<double>(place)[i] =
          static_cast<double>(static_cast<int64_t>(values[i])) / counter.divisor;
    } else {
      const uint32_t text = source.from == From::kCounterUnit ? counter.unit : counter.source;
      chunk->Values<duckdb::Text>(place)[i] = TextValue(names.Text(text));
    }
  }
}

// Returns the name that SQL has for a table: the plural, where that is a word.
std::string TableName(std::string_view name) {
  constexpr std::string_view kAsTheyAre[] = {"heap",          "memcpy",   "memset",
                                             "api",           "sync",     "python",
                                             "device_memory", "overhead", "unified_memory"};
  if (std::find(std::begin(kAsTheyAre), std::end(kAsTheyAre), name) != std::end(kAsTheyAre))
    return std::string(name);
  if (name == "thread" || name == "process") return std::string(name) + "_events";
  if (name == "launch" || name == "graph_launch") return std::string(name) + "es";
  return std::string(name) + "s";
}

}  // namespace

void AddEventTables(const TraceNames& names, TraceSteps* steps, QueryTables* tables) {
  for (const TableSpec& spec : proto::kTables) {
    if (spec.kind == ChunkKind::kRangePayload) {  // the reader has made values of its rows
      tables->push_back(MakeRangeValueTable(names));
    } else {
      tables->push_back(std::make_unique<EventTable>(spec, TableName(spec.name), names, steps));
    }
  }
}

}  // namespace gpuprof::analysis
