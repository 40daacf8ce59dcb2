// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See json.h.

#include "analysis/render/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/analysis.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::ordered_json;

// Length of the words that all values of an enum begin with: "LEVEL_".
size_t CommonPrefix(const EnumDescriptor* type) {
  const std::string& first = type->value(0)->name();
  size_t length = first.size();
  for (int i = 1; i < type->value_count(); ++i) {
    const std::string& other = type->value(i)->name();
    length = std::min(length, other.size());
    while (first.compare(0, length, other, 0, length) != 0) --length;
  }
  const size_t end = first.rfind('_', length == 0 ? 0 : length - 1);
  return type->value_count() < 2 || end == std::string::npos ? 0 : end + 1;
}

std::string EnumWord(const EnumValueDescriptor* value) {
  std::string word = value->name().substr(CommonPrefix(value->type()));
  for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return word;
}

Json Real(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json ObjectOf(const Message& message);

Json ElementOf(const Message& message, const FieldDescriptor* field, int i) {
  const auto* r = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->GetRepeatedInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return r->GetRepeatedInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->GetRepeatedUInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->GetRepeatedUInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Real(r->GetRepeatedDouble(message, field, i));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Real(static_cast<double>(r->GetRepeatedFloat(message, field, i)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->GetRepeatedBool(message, field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumWord(r->GetRepeatedEnum(message, field, i));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetRepeatedString(message, field, i);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ObjectOf(r->GetRepeatedMessage(message, field, i));
  }
  return nullptr;
}

Json SingleOf(const Message& message, const FieldDescriptor* field) {
  const auto* r = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return r->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Real(r->GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Real(static_cast<double>(r->GetFloat(message, field)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumWord(r->GetEnum(message, field));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetString(message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ObjectOf(r->GetMessage(message, field));
  }
  return nullptr;
}

Json ValueOf(const Message& message, const FieldDescriptor* field) {
  const auto* r = message.GetReflection();
  if (field->is_repeated()) {
    Json array = Json::array();
    for (int i = 0; i < r->FieldSize(message, field); ++i)
      array.push_back(ElementOf(message, field, i));
    return array;
  }
  if (field->has_presence() && !r->HasField(message, field)) return nullptr;
  return SingleOf(message, field);
}

// Fields in the order of the schema's text, which is the order of meaning.
std::vector<const FieldDescriptor*> FieldsOf(const google::protobuf::Descriptor* type) {
  std::vector<const FieldDescriptor*> fields;
  fields.reserve(static_cast<size_t>(type->field_count()));
  for (int i = 0; i < type->field_count(); ++i) fields.push_back(type->field(i));
  return fields;
}

Json ObjectOf(const Message& message) {
  Json object = Json::object();
  for (const FieldDescriptor* field : FieldsOf(message.GetDescriptor())) {
    object[field->name()] = ValueOf(message, field);
  }
  return object;
}

std::string Dump(const Json& json, int indent) {
  return PlainJson(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

bool IsFrame(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field->message_type() == results::Frame::descriptor();
}

std::string CellOf(const Message& message, const FieldDescriptor* field) {
  const auto* r = message.GetReflection();
  if (field->is_repeated() && (IsFrame(field) || field->type() == FieldDescriptor::TYPE_STRING)) {
    std::string joined;
    for (int i = 0; i < r->FieldSize(message, field); ++i) {
      if (i > 0) joined += ";";
      joined +=
          IsFrame(field)
              ? static_cast<const results::Frame&>(r->GetRepeatedMessage(message, field, i)).name()
              : r->GetRepeatedString(message, field, i);
    }
    return joined;
  }
  const Json value = ValueOf(message, field);
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : Dump(value, -1);
}

// Headers when `row` is null, else the row's cells.
void AppendCells(const google::protobuf::Descriptor* type, const Message* row,
                 const std::string& prefix, std::vector<std::string>* cells) {
  for (const FieldDescriptor* field : FieldsOf(type)) {
    const bool nested =
        !field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (nested) {
      const Message* inner =
          row == nullptr ? nullptr : &row->GetReflection()->GetMessage(*row, field);
      AppendCells(field->message_type(), inner, prefix + field->name() + "_", cells);
    } else {
      cells->push_back(row == nullptr ? prefix + field->name() : CellOf(*row, field));
    }
  }
}

std::string Line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + Quoted(OneLine(cells[i]));
  return line + "\r\n";
}

}  // namespace

std::string ToJson(const Message& message) { return Dump(ObjectOf(message), 2) + "\n"; }

std::string ToCsv(const Message& message, std::string_view path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* field =
      message.GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return "";
  const auto* r = message.GetReflection();
  if (dot != std::string_view::npos) {
    return ToCsv(r->GetMessage(message, field), path.substr(dot + 1));
  }
  std::vector<std::string> cells;
  AppendCells(field->message_type(), nullptr, "", &cells);
  std::string out = Line(cells);
  for (int i = 0; i < r->FieldSize(message, field); ++i) {
    const Message& row = r->GetRepeatedMessage(message, field, i);
    cells.clear();
    AppendCells(field->message_type(), &row, "", &cells);
    out += Line(cells);
  }
  return out;
}

}  // namespace gpuprof::analysis
