// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_plan.h.

#include "analysis/dump/row_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/dump/special_values.h"
#include "analysis/model/names.h"

namespace gpuprof::analysis {
namespace {

using proto::BitField;
using proto::ChunkKind;
using proto::Codes;
using proto::ColumnSpec;
using proto::ColumnType;
using proto::TableSpec;

void Unsigned(const DumpValue& value, ValueWriter* out) { out->out().Pair(value.key, value.value); }
void Signed(const DumpValue& value, ValueWriter* out) {
  out->out().Pair(value.key, static_cast<int64_t>(value.value));
}
void Bytes(const DumpValue& value, ValueWriter* out) {
  if (value.value != kUnknownBytes) Unsigned(value, out);
}
void Hexadecimal(const DumpValue& value, ValueWriter* out) {
  out->out().Address(value.key, value.value);
}
void CodeOf(const DumpValue& value, ValueWriter* out) {
  out->Code(value.key, value.codes, value.value);
}
void Pc(const DumpValue& value, ValueWriter* out) {
  out->Pc(value.key, value.value, PcKind::kReturnAddress);
}
void Text(const DumpValue& value, ValueWriter* out) {
  out->Text(value.key, static_cast<uint32_t>(value.value));
}
void Stack(const DumpValue& value, ValueWriter* out) {
  out->Stack(value.key, static_cast<uint32_t>(value.value));
}
void Function(const DumpValue& value, ValueWriter* out) {
  out->Function(value.key, static_cast<uint32_t>(value.value));
}
void Device(const DumpValue& value, ValueWriter* out) {
  out->out().Pair(value.key, DeviceName(out->process(), static_cast<uint32_t>(value.value)));
}
void Gpu(const DumpValue& value, ValueWriter* out) { out->out().Pair(value.key, value.value - 1); }
void Flags(const DumpValue& value, ValueWriter* out) {
  out->Flags(value.key, value.codes, value.value);
}
// A node is one of the graph beside it.
void GraphNode(const DumpValue& value, ValueWriter* out) {
  const DumpRow& row = value.row;
  for (int i = 0; i < row.table->columns; ++i) {
    if (row.table->column[i].type == ColumnType::kGraph && row.columns.Value(i, row.number) == 0)
      return;
  }
  Unsigned(value, out);
}
void Span(const DumpValue& value, ValueWriter* out) {
  out->Span(value.row.columns.Time(value.row.number), static_cast<int64_t>(value.value));
}
void Weight(const DumpValue& value, ValueWriter* out) {
  if (value.value != 1) Unsigned(value, out);
}
void Nothing(const DumpValue&, ValueWriter*) {}

// What values of a type look like.
struct Form {
  ColumnType type;
  LinePlace place;
  bool omits_zero;
  std::string_view unit;  // the end of its key
  WriteValue write;
};
constexpr Form kForms[] = {
    {ColumnType::kTime, LinePlace::kValue, false, "_ns", Signed},
    {ColumnType::kDuration, LinePlace::kValue, false, "_ns", Signed},
    {ColumnType::kBytes, LinePlace::kValue, false, "_bytes", Bytes},
    {ColumnType::kSignedBytes, LinePlace::kValue, false, "_bytes", Signed},
    {ColumnType::kNumber, LinePlace::kValue, false, "", Unsigned},
    {ColumnType::kSigned, LinePlace::kValue, false, "", Signed},
    {ColumnType::kEnum, LinePlace::kKind, false, "", CodeOf},
    {ColumnType::kAddress, LinePlace::kValue, false, "", Hexadecimal},
    {ColumnType::kPc, LinePlace::kValue, false, "", Pc},
    {ColumnType::kString, LinePlace::kName, false, "", Text},
    {ColumnType::kStack, LinePlace::kStack, true, "", Stack},
    {ColumnType::kSignature, LinePlace::kName, false, "", WriteKernelName},
    {ColumnType::kFunction, LinePlace::kKind, false, "", Function},
    {ColumnType::kCounter, LinePlace::kKind, false, "", Unsigned},
    {ColumnType::kCorrelation, LinePlace::kCall, false, "", Unsigned},
    {ColumnType::kThread, LinePlace::kValue, true, "_tid", Signed},
    {ColumnType::kDevice, LinePlace::kValue, false, "", Device},
    {ColumnType::kGraph, LinePlace::kCall, true, "", Unsigned},
    {ColumnType::kGraphNode, LinePlace::kCall, false, "", GraphNode},
    {ColumnType::kResult, LinePlace::kCall, true, "", Unsigned},
    {ColumnType::kFlag, LinePlace::kFlag, true, "", Unsigned},
    {ColumnType::kFlags, LinePlace::kFlags, true, "", Flags},
    {ColumnType::kDepth, LinePlace::kValue, false, "", Unsigned},
    {ColumnType::kColor, LinePlace::kValue, true, "", Hexadecimal},
    {ColumnType::kGpu, LinePlace::kLast, true, "", Gpu},
};

constexpr const Form* FindForm(ColumnType type) {
  for (const Form& form : kForms) {
    if (form.type == type) return &form;
  }
  return nullptr;
}
constexpr bool EveryColumnHasAForm() {
  for (const TableSpec& table : proto::kTables) {
    for (int i = 0; i < table.columns; ++i) {
      const ColumnSpec& column = table.column[i];
      if (column.type != ColumnType::kBits && FindForm(column.type) == nullptr) return false;
      for (int j = 0; j < column.fields; ++j) {
        if (FindForm(column.field[j].type) == nullptr) return false;
      }
    }
  }
  return true;
}
static_assert(EveryColumnHasAForm());

// Names of what a row has besides its columns: its stream, and the values of its block.
constexpr std::string_view kTrack = "track", kCapture = "capture", kWeight = "weight";

// A value that looks otherwise than its type says. Where a member is not given, the type says it.
struct SpecialValue {
  ChunkKind kind;
  std::string_view name;  // of a column, of a field, or one of the three above
  WriteValue write = nullptr;
  std::string_view key = "";
  std::optional<LinePlace> place = {};
  bool omits_zero = false;
};

constexpr SpecialValue kSpecialValues[] = {
    {ChunkKind::kHeap, "free", Nothing},
    {ChunkKind::kHeap, "call", WriteHeapCall},
    {ChunkKind::kHeap, "size", WriteHeapSize, "size"},
    {ChunkKind::kWait, "limited", nullptr, "", LinePlace::kFlags},
    {ChunkKind::kOp, "scope", nullptr, "", LinePlace::kValue},
    {ChunkKind::kOp, "sequence", Nothing},  // WriteImportedOp has it
    {ChunkKind::kTensor, kCapture, Nothing},
    {ChunkKind::kThreadEvent, "a", WriteThreadFacts},
    {ChunkKind::kThreadEvent, "b", Nothing},
    {ChunkKind::kProcessEvent, "a", WriteProcessFacts},
    {ChunkKind::kProcessEvent, "b", Nothing},
    {ChunkKind::kProcessEvent, "text", Nothing},
    {ChunkKind::kMapping, "size", nullptr, "size"},
    {ChunkKind::kRange, "domain", nullptr, "", LinePlace::kKind, true},
    {ChunkKind::kRange, "category", nullptr, "", {}, true},
    {ChunkKind::kRange, "payload_type", Nothing},
    {ChunkKind::kRange, "payload", WriteRangePayload},
    {ChunkKind::kRange, "begin_thread", nullptr, "begin_tid"},
    {ChunkKind::kRange, "flags", WriteRangeFlags},
    {ChunkKind::kCounter, "counter", WriteReading},
    {ChunkKind::kCounter, "value", Nothing},
    {ChunkKind::kPython, "parent", Nothing},
    {ChunkKind::kPython, "inner", nullptr, "self_ns"},  // the model has the rest of the duration
    {ChunkKind::kPython, "stack", Unsigned},
    {ChunkKind::kKernel, "signature", nullptr, "name"},
    {ChunkKind::kSync, kTrack, Nothing},
    {ChunkKind::kSync, "stream", WriteSyncStream, "", LinePlace::kStream},
    {ChunkKind::kSync, "event", nullptr, "", LinePlace::kFlag, true},
    {ChunkKind::kSync, "event_record", nullptr, "", LinePlace::kFlag, true},
    {ChunkKind::kDeviceMemory, "pool_type", Nothing},
    {ChunkKind::kDeviceMemory, "pool", nullptr, "", LinePlace::kFlag, true},
    {ChunkKind::kDeviceMemory, "pc", Nothing},
    {ChunkKind::kDeviceMemory, "origin", Nothing},
    {ChunkKind::kMemoryPool, kTrack, WriteDeviceOfTrack},
    {ChunkKind::kMemoryPool, "pool_type", Nothing},
    {ChunkKind::kMemoryPool, "managed", Nothing},
    {ChunkKind::kMemoryPool, "kept", Nothing},
    {ChunkKind::kMemoryPool, "correlation", nullptr, "", {}, true},
    {ChunkKind::kGraphLaunch, "graph", nullptr, "", LinePlace::kKind},
    {ChunkKind::kOverhead, kTrack, Nothing},
    {ChunkKind::kOverhead, "correlation", nullptr, "", LinePlace::kValue, true},
    {ChunkKind::kOverhead, "bytes", nullptr, "", {}, true},
    {ChunkKind::kCudaEvent, "record", nullptr, "", {}, true},
    {ChunkKind::kUnifiedMemory, kTrack, Nothing},
    {ChunkKind::kUnifiedMemory, "cause", WriteUnifiedMemoryCause},
};

// Values that the model has and the schema does not.
struct Extra {
  ChunkKind kind;
  LinePlace place;
  WriteValue write;
};
constexpr Extra kExtras[] = {
    {ChunkKind::kKernel, LinePlace::kFlag, WriteKernelShape},
    {ChunkKind::kOp, LinePlace::kMore, WriteImportedOp},
    {ChunkKind::kKernel, LinePlace::kMore, WriteImportedKernel},
    {ChunkKind::kMemcpy, LinePlace::kMore, WriteImported<&Track::memcpy>},
    {ChunkKind::kMemset, LinePlace::kMore, WriteImported<&Track::memset>},
    {ChunkKind::kApi, LinePlace::kMore, WriteImported<&Track::api>},
};

constexpr bool Holds(const TableSpec& table, std::string_view name) {
  if (name == kTrack || name == kCapture || name == kWeight) return true;
  for (int i = 0; i < table.columns; ++i) {
    if (table.column[i].fields == 0 && name == table.column[i].name) return true;
    for (int j = 0; j < table.column[i].fields; ++j) {
      if (name == table.column[i].field[j].name) return true;
    }
  }
  return false;
}
static_assert(std::all_of(std::begin(kSpecialValues), std::end(kSpecialValues),
                          [](const SpecialValue& e) {
                            return Holds(*proto::FindTable(e.kind), e.name);
                          }));

std::string KeyOf(std::string_view name, std::string_view unit) {
  std::string key(name);
  const bool has_unit = unit.empty() || name == unit.substr(1) || name.ends_with(unit);
  if (!has_unit) key += unit;
  return key;
}

class Planner {
 public:
  explicit Planner(const TableSpec& table) : table_(table) {}

  // The first column is the line's own time.
  RowPlan Plan() {
    for (int i = 1; i < table_.columns; ++i) AddColumn(i);
    Add(kCapture, {LinePlace::kBlock, std::string(kCapture), RowColumns::kCapture, nullptr, false,
                   Codes::kNone, Unsigned});
    Add(kWeight, {LinePlace::kBlock, std::string(kWeight), RowColumns::kWeight, nullptr, false,
                  Codes::kNone, Weight});
    if (table_.feed == proto::Feed::kCupti) {
      LinePart stream;
      stream.place = LinePlace::kStream;
      stream.write = WriteStreamOfTrack;
      Add(kTrack, std::move(stream));
    }
    for (const Extra& extra : kExtras) {
      if (extra.kind != table_.kind) continue;
      LinePart& part = plan_.emplace_back();
      part.place = extra.place;
      part.write = extra.write;
    }
    std::stable_sort(plan_.begin(), plan_.end(),
                     [](const LinePart& a, const LinePart& b) { return a.place < b.place; });
    return std::move(plan_);
  }

 private:
  void AddColumn(int place) {
    const ColumnSpec& column = table_.column[place];
    if (place == 1 && column.type == ColumnType::kDuration) {
      plan_.push_back({LinePlace::kSpan, "", place, nullptr, false, Codes::kNone, Span});
    } else if (column.fields == 0) {
      AddValue(column.name, column.type, column.codes, place, nullptr);
    }
    for (int i = 0; i < column.fields; ++i) {
      const BitField& field = column.field[i];
      AddValue(field.name, field.type, field.codes, place, &field);
    }
  }

  void AddValue(std::string_view name, ColumnType type, Codes codes, int place,
                const BitField* field) {
    const Form& form = *FindForm(type);
    Add(name,
        {form.place, KeyOf(name, form.unit), place, field, form.omits_zero, codes, form.write});
  }

  void Add(std::string_view name, LinePart part) {
    for (const SpecialValue& special : kSpecialValues) {
      if (special.kind != table_.kind || special.name != name) continue;
      if (special.write == Nothing) return;
      if (special.write != nullptr) part.write = special.write;
      if (!special.key.empty()) part.key = special.key;
      part.place = special.place.value_or(part.place);
      part.omits_zero |= special.omits_zero;
    }
    plan_.push_back(std::move(part));
  }

  const TableSpec& table_;
  RowPlan plan_;
};

}  // namespace

RowPlan PlanOf(const TableSpec& table) { return Planner(table).Plan(); }

void WriteRow(const RowPlan& plan, const DumpRow& row, ValueWriter* out) {
  for (const LinePart& part : plan) {
    uint64_t value = 0;
    if (part.column >= 0) {
      if (!row.columns.Has(part.column)) continue;
      value = row.columns.Value(part.column, row.number);
      if (part.field != nullptr) value = part.field->Of(value);
      if (part.omits_zero && value == 0) continue;
    }
    part.write({part.key, value, part.codes, row}, out);
  }
}

}  // namespace gpuprof::analysis
