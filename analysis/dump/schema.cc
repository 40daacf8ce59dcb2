// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints the descriptions of the trace's tables (proto/schema.h), and what passes make of them, for
// programs and for people. Any thread; reads no file.

#include "proto/schema.h"

#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/dump/json_text.h"
#include "analysis/dump/results_schema.h"
#include "analysis/model/names.h"
#include "proto/container.h"

namespace gpuprof::analysis {
namespace {

using Json = nlohmann::ordered_json;
using proto::BitField;
using proto::ColumnSpec;
using proto::ColumnType;
using proto::Encoding;
using proto::EventClock;
using proto::Feed;
using proto::TableSpec;

const char* NameOf(Encoding encoding) {
  switch (encoding) {
    case Encoding::kPlain:
      return "plain";
    case Encoding::kDelta:
      return "delta";
    case Encoding::kTime:
      return "time";
    case Encoding::kSpan:
      return "span";
    case Encoding::kAddress:
      return "address";
    case Encoding::kGap:
      return "gap";
    case Encoding::kDuration:
      return "ticks";
    case Encoding::kKeyed:
      return "keyed";
  }
  return "";
}

const char* NameOf(ColumnType type) {
  switch (type) {
    case ColumnType::kTime:
      return "time";
    case ColumnType::kDuration:
      return "duration";
    case ColumnType::kBytes:
      return "bytes";
    case ColumnType::kSignedBytes:
      return "signed_bytes";
    case ColumnType::kNumber:
      return "number";
    case ColumnType::kSigned:
      return "signed";
    case ColumnType::kEnum:
      return "enum";
    case ColumnType::kBits:
      return "bits";
    case ColumnType::kAddress:
      return "address";
    case ColumnType::kPc:
      return "pc";
    case ColumnType::kString:
      return "string";
    case ColumnType::kStack:
      return "stack";
    case ColumnType::kSignature:
      return "signature";
    case ColumnType::kFunction:
      return "function";
    case ColumnType::kCounter:
      return "counter";
    case ColumnType::kCorrelation:
      return "correlation";
    case ColumnType::kThread:
      return "thread";
    case ColumnType::kDevice:
      return "device";
    case ColumnType::kGraph:
      return "graph";
    case ColumnType::kGraphNode:
      return "graph_node";
    case ColumnType::kResult:
      return "result";
    case ColumnType::kFlag:
      return "flag";
    case ColumnType::kFlags:
      return "flags";
    case ColumnType::kDepth:
      return "depth";
    case ColumnType::kColor:
      return "color";
    case ColumnType::kGpu:
      return "gpu";
  }
  return "";
}

const char* NameOf(Feed feed) {
  switch (feed) {
    case Feed::kRing:
      return "ring";
    case Feed::kCupti:
      return "cupti";
    case Feed::kSampler:
      return "sampler";
    case Feed::kImport:
      return "import";
  }
  return "";
}

const char* NameOf(EventClock clock) { return clock == EventClock::kTicks ? "ticks" : "cupti"; }

const char* UnitOf(const TableSpec& table, ColumnType type) {
  switch (type) {
    case ColumnType::kTime:
    case ColumnType::kDuration:
      return table.clock == EventClock::kTicks ? "ticks" : "ns";
    case ColumnType::kBytes:
    case ColumnType::kSignedBytes:
      return "bytes";
    default:
      return "";
  }
}

std::string VersionOf(uint8_t since) {
  std::string version = std::to_string(proto::kFormatMajor);
  version.append(".").append(std::to_string(since));
  return version;
}

// The words of an enumeration, by their numbers.
Json ValuesOf(proto::Codes codes) {
  Json values = Json::object();
  for (const auto& [code, name] : NamedCodes(codes)) values[std::to_string(code)] = name;
  return values;
}

Json FieldsOf(const ColumnSpec& column) {
  Json fields = Json::array();
  for (int i = 0; i < column.fields; ++i) {
    const BitField& field = column.field[i];
    Json json = {{"name", field.name},
                 {"first_bit", field.first},
                 {"bits", field.bits},
                 {"type", NameOf(field.type)}};
    if (field.codes != proto::Codes::kNone) json["values"] = ValuesOf(field.codes);
    fields.push_back(std::move(json));
  }
  return fields;
}

// "0" or "8-15", as FORMAT.md has it.
std::string BitsOf(const BitField& field) {
  std::string bits = std::to_string(field.first);
  if (field.bits > 1) bits.append("-").append(std::to_string(field.first + field.bits - 1));
  return bits;
}

Json ColumnsOf(const TableSpec& table) {
  Json columns = Json::array();
  for (int i = 0; i < table.columns; ++i) {
    const ColumnSpec& column = table.column[i];
    columns.push_back({{"name", column.name},
                       {"type", NameOf(column.type)},
                       {"unit", UnitOf(table, column.type)},
                       {"encoding", NameOf(column.encoding)},
                       {"per", "row"},
                       {"field", proto::kFirstColumnField + i},
                       {"since", VersionOf(column.since)}});
    if (column.fields != 0) columns.back()["fields"] = FieldsOf(column);
    if (column.codes != proto::Codes::kNone) columns.back()["values"] = ValuesOf(column.codes);
  }
  for (const proto::BlockColumnSpec& column : proto::kBlockColumns) {
    columns.push_back({{"name", column.name},
                       {"type", "number"},
                       {"unit", ""},
                       {"encoding", "plain"},
                       {"per", "block"},
                       {"field", column.field},
                       {"since", VersionOf(column.since)}});
  }
  return columns;
}

// Appends a word and the spaces that make it as wide as its column.
void AddCell(std::string_view word, size_t width, std::string* text) {
  text->append(word);
  if (word.size() < width) text->append(width - word.size(), ' ');
}

void AddFields(const ColumnSpec& column, std::string* text) {
  for (int i = 0; i < column.fields; ++i) {
    const BitField& field = column.field[i];
    text->append("    ");
    AddCell(field.name, 14, text);
    AddCell(NameOf(field.type), 13, text);
    text->append("bits ").append(BitsOf(field)).append("\n");
  }
}

}  // namespace

std::string SchemaJson() {
  Json kinds = Json::array();
  for (const proto::EntrySpec& entries : proto::kEntryTables) {
    kinds.push_back({{"kind", static_cast<int>(entries.kind)},
                     {"name", entries.name},
                     {"feed", "table"},
                     {"clock", nullptr},
                     {"field", entries.field},
                     {"columns", Json::array()}});
  }
  for (const TableSpec& table : proto::kTables) {
    kinds.push_back({{"kind", static_cast<int>(table.kind)},
                     {"name", table.name},
                     {"feed", NameOf(table.feed)},
                     {"clock", NameOf(table.clock)},
                     {"order", table.order == proto::RowOrder::kByTime ? "by_time" : "any"},
                     {"columns", ColumnsOf(table)}});
  }
  const std::string version = VersionOf(static_cast<uint8_t>(proto::kFormatMinor));
  return ToText({{"format", version}, {"kinds", kinds}, {"results", ResultsSchema()}});
}

std::string SchemaText() {
  std::string text = "Format ";
  text.append(VersionOf(static_cast<uint8_t>(proto::kFormatMinor)));
  text.append(
      ". Each table of events, with its columns: name, type, unit, encoding.\n"
      "Below a packed column are the values in it: name, type, bits.\n");
  for (const TableSpec& table : proto::kTables) {
    text.append("\n").append(table.name).append(": kind ");
    text.append(std::to_string(static_cast<int>(table.kind))).append(", feed ");
    text.append(NameOf(table.feed)).append(", clock ").append(NameOf(table.clock)).append("\n");
    for (int i = 0; i < table.columns; ++i) {
      const ColumnSpec& column = table.column[i];
      const std::string_view unit = UnitOf(table, column.type);
      text.append("  ");
      AddCell(column.name, 16, &text);
      AddCell(NameOf(column.type), 13, &text);
      AddCell(unit.empty() ? "-" : unit, 7, &text);
      text.append(NameOf(column.encoding)).append("\n");
      AddFields(column, &text);
    }
  }
  text.append("\nEach block of a table has once:\n");
  for (const proto::BlockColumnSpec& column : proto::kBlockColumns) {
    text.append("  ").append(column.name).append("\n");
  }
  return text + "\n" + ResultsSchemaText();
}

}  // namespace gpuprof::analysis
