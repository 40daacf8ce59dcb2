// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See results_schema.h.

#include "analysis/dump/results_schema.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/enum_word.h"
#include "analysis/passes/registry.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

// What the numbers of a field count. "": nothing, or it holds no numbers.
const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kDuration:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kBytesPerSecond:
      return "bytes/s";
    case Unit::kPercent:
      return "ratio";
    case Unit::kNumber:
      return "count";
    default:
      return "";
  }
}

const char* FormatName(Unit unit) {
  switch (unit) {
    case Unit::kOfField:
      break;
    case Unit::kDuration:
      return "duration";
    case Unit::kBytes:
      return "bytes";
    case Unit::kBytesPerSecond:
      return "bytes_per_second";
    case Unit::kPercent:
      return "percent";
    case Unit::kNumber:
      return "number";
    case Unit::kReal:
      return "real";
    case Unit::kIdentifier:
      return "identifier";
    case Unit::kAddress:
      return "address";
    case Unit::kProcess:
      return "process";
    case Unit::kWord:
      return "word";
    case Unit::kFlag:
      return "flag";
    case Unit::kText:
      return "text";
  }
  return "";
}

const char* ShownName(const TableColumn& column) {
  if (column.shown_if != nullptr) return "test";
  switch (column.shown) {
    case ShownIf::kAlways:
      return "always";
    case ShownIf::kAny:
      return "any";
    case ShownIf::kNone:
      return "none";
    case ShownIf::kDifferent:
      return "different";
    case ShownIf::kDifferentInProcess:
      return "different_in_process";
  }
  return "";
}

const char* PageName(OnPage on_page) {
  switch (on_page) {
    case OnPage::kShown:
      return "shown";
    case OnPage::kIfWide:
      return "if_wide";
    case OnPage::kOffered:
      return "offered";
    case OnPage::kAbsent:
      return "absent";
  }
  return "";
}

Json ListOf(std::string_view words) {
  Json list = Json::array();
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    list.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return list;
}

// Returns the type as proto/results/ has it; of messages and enums the kind of type.
const char* TypeName(const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "message";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "enum";
    default:
      return field->type_name();
  }
}

Json FieldJson(const FieldDescriptor* field) {
  Json json = {{"name", field->name()},
               {"type", TypeName(field)},
               {"unit", UnitName(UnitOf(field))},
               {"list", field->is_repeated()},
               {"nullable", !field->is_repeated() && field->has_presence()}};
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    json["message"] = field->message_type()->name();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    Json words = Json::array();
    for (int i = 0; i < field->enum_type()->value_count(); ++i)
      words.push_back(EnumWord(field->enum_type()->value(i)));
    json["values"] = std::move(words);
  }
  return json;
}

// Adds a message and those in its fields.
void AddMessage(const Descriptor* type, Json* messages) {
  if (messages->contains(type->name())) return;
  Json fields = Json::array();
  for (int i = 0; i < type->field_count(); ++i) fields.push_back(FieldJson(type->field(i)));
  (*messages)[type->name()] = std::move(fields);
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      AddMessage(type->field(i)->message_type(), messages);
  }
}

Json ColumnJson(const TableColumn& column, const TableLayout& layout) {
  const Descriptor* row = layout.row();
  const Scale scale = ScaleOf(column, row);
  return {{"title", column.title},
          {"field", column.field},
          {"format", FormatName(UnitOf(column, row))},
          {"unit", scale.unit},
          {"divisor", scale.divisor},
          {"decimals", scale.decimals},
          {"tip", column.tip},
          {"page", PageName(column.on_page)},
          {"text", column.in_text && layout.in_text},
          {"share_of", column.share_of},
          {"computed", column.cell != nullptr || column.needs_if != nullptr},
          {"needs", column.needs},
          {"blank", column.blank},
          {"align", IsRightAligned(column, row) ? "right" : "left"},
          {"flexible", column.flexible},
          {"shown", ShownName(column)},
          {"shown_by", column.shown_by},
          {"only_by", ListOf(column.only_by)},
          {"except_by", ListOf(column.except_by)}};
}

Json TablesOf(const Descriptor* result) {
  Json tables = Json::array();
  for (const TableLayout& layout : LayoutsOf(result)) {
    Json columns = Json::array();
    for (const TableColumn& column : layout.columns) columns.push_back(ColumnJson(column, layout));
    const auto [one, many] = NounsOf(layout);
    tables.push_back({{"rows", layout.rows},
                      {"title", layout.title},
                      {"noun", {one, many}},
                      {"message", layout.row()->name()},
                      {"only_by", ListOf(layout.only_by)},
                      {"sorted_by", layout.sorted_by},
                      {"columns", std::move(columns)}});
  }
  return tables;
}

Json EntriesJson(const std::vector<PassEntry>& table, Json* messages) {
  Json entries = Json::array();
  for (const PassEntry& entry : table) {
    const Descriptor* result = entry.type();
    AddMessage(result, messages);
    entries.push_back({{"name", entry.info.name},
                       {"summary", entry.info.summary},
                       {"keys", entry.info.keys},
                       {"message", result->name()},
                       {"main_table", entry.main_table},
                       {"tables", TablesOf(result)}});
  }
  return entries;
}

std::string TextOf(const Json& word) { return word.get<std::string>(); }

// A word and the width of its column.
struct Cell {
  std::string word;
  size_t width;
};

void AddLine(const std::vector<Cell>& cells, std::string* text) {
  std::string line = " ";
  for (const Cell& cell : cells) {
    line += " " + cell.word;
    if (cell.word.size() < cell.width) line.append(cell.width - cell.word.size(), ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  *text += line + "\n";
}

void AddField(const Json& field, std::string* text) {
  const std::string type = TextOf(field.value("message", field["type"]));
  const std::string unit = TextOf(field["unit"]);
  AddLine({{TextOf(field["name"]), 30},
           {type, 20},
           {unit.empty() ? "-" : unit, 7},
           {field["list"]       ? "list"
            : field["nullable"] ? "nullable"
                                : "",
            0}},
          text);
}

}  // namespace

Json ResultsSchema() {
  Json messages = Json::object();
  Json passes = EntriesJson(PassTable(), &messages);
  Json pages = EntriesJson(PageTable(), &messages);
  return {{"passes", std::move(passes)},
          {"pages", std::move(pages)},
          {"messages", std::move(messages)}};
}

std::string ResultsSchemaText() {
  const Json schema = ResultsSchema();
  std::string text = "What passes and other verbs print with --json, and the message of each.\n";
  for (const char* table : {"passes", "pages"}) {
    for (const Json& entry : schema[table])
      AddLine({{TextOf(entry["name"]), 16}, {TextOf(entry["message"]), 0}}, &text);
  }
  text += "\nEach message, with its fields: name, type, unit.\n";
  for (const auto& [name, fields] : schema["messages"].items()) {
    text += "\n" + name + "\n";
    for (const Json& field : fields) AddField(field, &text);
  }
  return text;
}

}  // namespace gpuprof::analysis
