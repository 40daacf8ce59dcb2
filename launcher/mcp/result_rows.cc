// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See result_rows.h.

#include "launcher/mcp/result_rows.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "launcher/mcp/pass_facts.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::launcher {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kMostFrames = 64;

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// A value that rows are compared by.
struct CellValue {
  enum class Kind { kNone, kNumber, kText } kind = Kind::kNone;
  double number = 0;
  std::string text;
};

CellValue NumberCell(double number) { return {CellValue::Kind::kNumber, number, ""}; }
CellValue TextCell(std::string text) { return {CellValue::Kind::kText, 0, std::move(text)}; }

// Returns the word of an enum's value, as JSON of results has it.
std::string EnumText(const FieldDescriptor* field, int index) {
  const McpJson& fields = FieldsOfMessage(field->containing_type()->name());
  const auto at = static_cast<size_t>(field->index());
  if (at >= fields.size()) return "";
  const McpJson words = fields[at].value("values", McpJson::array());
  const auto word = static_cast<size_t>(index);
  return word < words.size() && words[word].is_string() ? words[word].get<std::string>() : "";
}

CellValue CellAt(const Message& row, const ResultColumn& column) {
  const Message* at = &row;
  for (size_t i = 0; i + 1 < column.fields.size(); ++i)
    at = &at->GetReflection()->GetMessage(*at, column.fields[i]);
  const FieldDescriptor* const field = column.fields.back();
  const auto* r = at->GetReflection();
  if (field->is_repeated() || (field->has_presence() && !r->HasField(*at, field))) return {};
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return NumberCell(r->GetInt32(*at, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return NumberCell(static_cast<double>(r->GetInt64(*at, field)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return NumberCell(r->GetUInt32(*at, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return NumberCell(static_cast<double>(r->GetUInt64(*at, field)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberCell(r->GetDouble(*at, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberCell(static_cast<double>(r->GetFloat(*at, field)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return NumberCell(r->GetBool(*at, field) ? 1 : 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return TextCell(EnumText(field, r->GetEnum(*at, field)->index()));
    case FieldDescriptor::CPPTYPE_STRING:
      return TextCell(r->GetString(*at, field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return {};
}

// Compares two values of one kind: below 0, 0 or above.
int Order(const CellValue& x, const CellValue& y) {
  if (x.kind == CellValue::Kind::kText) return x.text.compare(y.text);
  return x.number < y.number ? -1 : x.number > y.number ? 1 : 0;
}

CellValue WantedValue(const McpJson& value) {
  if (value.is_string()) return TextCell(value.get<std::string>());
  if (value.is_boolean()) return NumberCell(value.get<bool>() ? 1 : 0);
  if (value.is_number()) return NumberCell(value.get<double>());
  return {};
}

bool Holds(const Message& row, const RowCondition& condition) {
  const CellValue cell = CellAt(row, condition.column), wanted = WantedValue(condition.value);
  const std::string& relation = condition.relation;
  if (cell.kind != wanted.kind) return relation == "!=";
  if (relation == "contains") return cell.text.find(wanted.text) != std::string::npos;
  const int order = Order(cell, wanted);
  if (relation == "=") return order == 0;
  if (relation == "!=") return order != 0;
  if (relation == "<") return order < 0;
  if (relation == "<=") return order <= 0;
  return relation == ">" ? order > 0 : order >= 0;
}

void ForEachRow(const Message& message, const std::string& path,
                const std::function<void(const Message& row)>& take) {
  const size_t dot = path.find('.');
  const FieldDescriptor* const field =
      message.GetDescriptor()->FindFieldByName(path.substr(0, dot));
  const auto* r = message.GetReflection();
  const std::string rest = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (!field->is_repeated())
    return rest.empty() ? take(r->GetMessage(message, field))
                        : ForEachRow(r->GetMessage(message, field), rest, take);
  for (int i = 0; i < r->FieldSize(message, field); ++i) {
    const Message& each = r->GetRepeatedMessage(message, field, i);
    rest.empty() ? take(each) : ForEachRow(each, rest, take);
  }
}

const results::CallStacks* StacksOfResult(const Message& result) {
  const FieldDescriptor* const field = result.GetDescriptor()->FindFieldByName("call_stacks");
  if (field == nullptr || field->message_type() != results::CallStacks::descriptor())
    return nullptr;
  return static_cast<const results::CallStacks*>(
      &result.GetReflection()->GetMessage(result, field));
}

// Puts the frames in place of numbers of call stacks.
void NameStacks(const Message& result, McpJson* json) {
  if (json->is_array()) {
    for (McpJson& each : *json) NameStacks(result, &each);
  } else if (json->is_object()) {
    const auto stack = json->find("call_stack");
    if (stack != json->end() && stack->is_number_unsigned()) {
      const auto number = stack->get<uint32_t>();
      json->erase("call_stack");
      (*json)["frames"] = FrameNames(result, number);
    }
    for (auto& [name, inner] : json->items()) NameStacks(result, &inner);
  }
}

// Returns a row with these columns alone, by their whole names.
McpJson WithColumns(const McpJson& row, const std::vector<ResultColumn>& columns) {
  if (columns.empty()) return row;
  McpJson chosen = McpJson::object();
  for (const ResultColumn& column : columns) {
    const McpJson* at = &row;
    for (size_t begin = 0; begin <= column.name.size() && at != nullptr;) {
      const size_t end = std::min(column.name.find('.', begin), column.name.size());
      std::string part = column.name.substr(begin, end - begin);
      if (part == "call_stack") part = "frames";
      const auto found = at->is_object() ? at->find(part) : at->end();
      at = at->is_object() && found != at->end() ? &*found : nullptr;
      begin = end + 1;
    }
    chosen[column.name == "call_stack" ? "frames" : column.name] = at == nullptr ? McpJson() : *at;
  }
  return chosen;
}

void AddColumns(const Descriptor* row, const std::string& prefix, int depth,
                std::vector<std::string>* names) {
  constexpr int kMostDepth = 3;  // a message may have itself as a field
  for (int i = 0; i < row->field_count(); ++i) {
    const FieldDescriptor* const field = row->field(i);
    const std::string name = prefix + field->name();
    names->push_back(name == "call_stack" ? "frames" : name);
    if (IsMessage(field) && !field->is_repeated() && depth < kMostDepth)
      AddColumns(field->message_type(), name + ".", depth + 1, names);
  }
}

}  // namespace

const Descriptor* RowTypeAt(const Descriptor* result, const std::string& path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* const field = result->FindFieldByName(path.substr(0, dot));
  if (field == nullptr || !IsMessage(field)) return nullptr;
  if (dot == std::string::npos) return field->message_type();
  return RowTypeAt(field->message_type(), path.substr(dot + 1));
}

std::vector<std::string> ColumnNames(const Descriptor* row) {
  std::vector<std::string> names;
  AddColumns(row, "", 0, &names);
  return names;
}

bool FindColumn(const Descriptor* row, const std::string& name, ResultColumn* column) {
  column->name =
      name == "frames" && row->FindFieldByName("frames") == nullptr ? "call_stack" : name;
  column->fields.clear();
  const std::string& path = column->name;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const FieldDescriptor* const field =
        row == nullptr ? nullptr : row->FindFieldByName(path.substr(begin, end - begin));
    if (field == nullptr || (end < path.size() && (field->is_repeated() || !IsMessage(field))))
      return false;
    column->fields.push_back(field);
    row = IsMessage(field) ? field->message_type() : nullptr;
    begin = end + 1;
  }
  return true;
}

QueriedRows QueryRows(const Message& result, const std::string& path, const RowQuery& query) {
  std::vector<const Message*> found;
  ForEachRow(result, path, [&](const Message& row) {
    const bool holds = std::all_of(query.where.begin(), query.where.end(),
                                   [&](const RowCondition& each) { return Holds(row, each); });
    if (holds) found.push_back(&row);
  });
  QueriedRows queried;
  queried.total = found.size();
  const size_t shown = std::min(query.top, found.size());
  if (query.order_by) {
    std::vector<std::pair<CellValue, size_t>> keys;
    keys.reserve(found.size());
    for (size_t i = 0; i < found.size(); ++i)
      keys.emplace_back(CellAt(*found[i], *query.order_by), i);
    // Rows without the value come last. Equal rows stay in their order.
    const auto before = [&](const auto& x, const auto& y) {
      const bool has_x = x.first.kind != CellValue::Kind::kNone;
      const bool has_y = y.first.kind != CellValue::Kind::kNone;
      if (has_x != has_y) return has_x;
      const int order = has_x ? Order(x.first, y.first) : 0;
      if (order != 0) return query.is_ascending ? order < 0 : order > 0;
      return x.second < y.second;
    };
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shown), keys.end(),
                      before);
    std::vector<const Message*> ordered;
    for (size_t i = 0; i < shown; ++i) ordered.push_back(found[keys[i].second]);
    found = std::move(ordered);
  }
  for (size_t i = 0; i < shown; ++i) {
    McpJson row = JsonOf(*found[i]);
    NameStacks(result, &row);
    queried.rows.push_back(WithColumns(row, query.columns));
  }
  return queried;
}

std::vector<std::string> FrameNames(const Message& result, uint32_t stack) {
  std::vector<std::string> names;
  const results::CallStacks* const stacks = StacksOfResult(result);
  if (stacks == nullptr) return names;
  for (uint32_t at = stack; at != 0 && names.size() < kMostFrames;) {
    if (at >= static_cast<uint32_t>(stacks->frame_size()) ||
        at >= static_cast<uint32_t>(stacks->caller_size()))
      break;
    const uint32_t number = stacks->frame(static_cast<int>(at));
    if (number < static_cast<uint32_t>(stacks->frames_size())) {
      const results::Frame& frame = stacks->frames(static_cast<int>(number));
      std::string name = frame.short_name().empty() ? frame.name() : frame.short_name();
      if (name.empty()) name = frame.module();
      if (frame.line() != 0) name += " (" + frame.file() + ":" + std::to_string(frame.line()) + ")";
      names.push_back(std::move(name));
    }
    at = stacks->caller(static_cast<int>(at));
  }
  return names;
}

}  // namespace gpuprof::launcher
