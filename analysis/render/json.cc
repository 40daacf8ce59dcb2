// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See json.h.

#include "analysis/render/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/enum_word.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/csv_text.h"
#include "proto/results/meta.pb.h"
#include "proto/results/stacks.pb.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return PlainJson(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string RealText(double value) { return std::isfinite(value) ? Dump(value) : "null"; }

// The value of a field that is no message, at `i` of a repeated one.
std::string ScalarText(const Message& message, const FieldDescriptor* field, int i) {
  const auto* r = message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(many ? r->GetRepeatedInt32(message, field, i)
                                 : r->GetInt32(message, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(many ? r->GetRepeatedInt64(message, field, i)
                                 : r->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(many ? r->GetRepeatedUInt32(message, field, i)
                                 : r->GetUInt32(message, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(many ? r->GetRepeatedUInt64(message, field, i)
                                 : r->GetUInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return RealText(many ? r->GetRepeatedDouble(message, field, i)
                           : r->GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return RealText(static_cast<double>(many ? r->GetRepeatedFloat(message, field, i)
                                               : r->GetFloat(message, field)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return (many ? r->GetRepeatedBool(message, field, i) : r->GetBool(message, field)) ? "true"
                                                                                         : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return Dump(
          EnumWord(many ? r->GetRepeatedEnum(message, field, i) : r->GetEnum(message, field)));
    case FieldDescriptor::CPPTYPE_STRING:
      return Dump(many ? r->GetRepeatedString(message, field, i) : r->GetString(message, field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return "null";
}

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsAbsent(const Message& message, const FieldDescriptor* field) {
  return !field->is_repeated() && field->has_presence() &&
         !message.GetReflection()->HasField(message, field);
}

// Writes objects and arrays with an element a line, numbers a few to a line.
class JsonWriter {
 public:
  explicit JsonWriter(Output* out, bool is_in_one_line = false)
      : out_(out), is_in_one_line_(is_in_one_line) {}

  void Object(const Message& message, size_t depth) {
    // Fields in the order of the schema's text, which is the order of meaning.
    const auto* type = message.GetDescriptor();
    out_->Put("{");
    for (int i = 0; i < type->field_count(); ++i) {
      NextLine(i == 0, depth + 1);
      out_->Put("\"" + type->field(i)->name() + (is_in_one_line_ ? "\":" : "\": "));
      Value(message, type->field(i), depth + 1);
    }
    if (type->field_count() > 0) LineEnd(depth);
    out_->Put("}");
  }

  void Array(const Message& message, const FieldDescriptor* field, size_t depth) {
    constexpr int kNumbersInLine = 20;
    const auto* r = message.GetReflection();
    const bool is_plain = IsMessage(field) ||
                          field->cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                          field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
    const int in_line = is_plain ? 1 : kNumbersInLine;
    const int size = r->FieldSize(message, field);
    out_->Put("[");
    for (int i = 0; i < size && !out_->is_stopped(); ++i) {
      if (i % in_line == 0 || is_in_one_line_) {
        NextLine(i == 0, depth + 1);
      } else {
        out_->Put(", ");
      }
      if (IsMessage(field)) {
        Object(r->GetRepeatedMessage(message, field, i), depth + 1);
      } else {
        out_->Put(ScalarText(message, field, i));
      }
    }
    if (size > 0) LineEnd(depth);
    out_->Put("]");
  }

 private:
  void LineEnd(size_t depth) {
    if (!is_in_one_line_) out_->Put("\n" + std::string(2 * depth, ' '));
  }

  void NextLine(bool is_first, size_t depth) {
    if (!is_first) out_->Put(",");
    LineEnd(depth);
  }

  void Value(const Message& message, const FieldDescriptor* field, size_t depth) {
    if (field->is_repeated()) return Array(message, field, depth);
    if (IsAbsent(message, field)) return out_->Put("null");
    if (!IsMessage(field)) return out_->Put(ScalarText(message, field, 0));
    Object(message.GetReflection()->GetMessage(message, field), depth);
  }

  Output* out_;
  bool is_in_one_line_;
};

// Rows name a call stack by its number in the table of their result.
bool IsCallStack(const FieldDescriptor* field) { return field->name() == "call_stack"; }

// A name that people and tools read, in one cell.
std::string StackCell(const results::CallStacks& stacks, uint32_t number, bool outermost_first) {
  std::vector<const results::Frame*> frames = FramesOf(stacks, number);
  if (outermost_first) std::reverse(frames.begin(), frames.end());
  std::string joined;
  for (size_t i = 0; i < frames.size(); ++i)
    joined += (i == 0 ? "" : ";") + CsvText(frames[i]->name());
  return joined;
}

std::string ListCell(const Message& message, const FieldDescriptor* field) {
  const auto* r = message.GetReflection();
  const int size = r->FieldSize(message, field);
  std::string joined;
  if (field->type() == FieldDescriptor::TYPE_STRING) {
    for (int i = 0; i < size; ++i)
      joined += (i == 0 ? "" : ";") + CsvText(r->GetRepeatedString(message, field, i));
    return joined;
  }
  Output out(AppendToString, &joined);
  JsonWriter(&out, true).Array(message, field, 0);
  out.Flush();
  return CsvJson(joined);
}

// The cells of a table with the call stacks of its result.
class CsvWriter {
 public:
  CsvWriter(const results::CallStacks& stacks, Output* out) : stacks_(&stacks), out_(out) {}

  void Header(const google::protobuf::Descriptor* type) { Line(type, nullptr); }
  void Row(const Message& row) { Line(row.GetDescriptor(), &row); }

 private:
  void Line(const google::protobuf::Descriptor* type, const Message* row) {
    is_first_ = true;
    Cells(type, row, "");
    out_->Put("\r\n");
  }

  // Headers when `row` is null, else the row's cells.
  void Cells(const google::protobuf::Descriptor* type, const Message* row,
             const std::string& prefix) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      if (!field->is_repeated() && IsMessage(field)) {
        const Message* inner =
            row == nullptr ? nullptr : &row->GetReflection()->GetMessage(*row, field);
        Cells(field->message_type(), inner, prefix + field->name() + "_");
      } else if (row == nullptr) {
        Cell(prefix + (IsCallStack(field) ? "frames" : field->name()));
      } else {
        Cell(CellOf(*row, field));
      }
    }
  }

  std::string CellOf(const Message& row, const FieldDescriptor* field) {
    if (field->is_repeated()) return ListCell(row, field);
    const auto* r = row.GetReflection();
    if (IsCallStack(field)) {
      const bool is_folded = row.GetDescriptor() == results::FoldedStack::descriptor();
      return StackCell(*stacks_, r->GetUInt32(row, field), is_folded);
    }
    if (IsAbsent(row, field)) return "";
    if (field->type() == FieldDescriptor::TYPE_STRING) return CsvText(r->GetString(row, field));
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) return EnumWord(r->GetEnum(row, field));
    const std::string text = ScalarText(row, field, 0);
    return text == "null" ? "" : text;
  }

  void Cell(const std::string& text) {
    if (!is_first_) out_->Put(",");
    is_first_ = false;
    out_->Put(CsvQuoted(text));
  }

  const results::CallStacks* stacks_;
  Output* out_;
  bool is_first_ = true;
};

const results::CallStacks& CallStacksOf(const Message& result) {
  const FieldDescriptor* field = result.GetDescriptor()->FindFieldByName("call_stacks");
  if (field == nullptr || field->message_type() != results::CallStacks::descriptor())
    return results::CallStacks::default_instance();
  return static_cast<const results::CallStacks&>(result.GetReflection()->GetMessage(result, field));
}

// The field of a message that a path begins with. Null: there is none that holds messages.
const FieldDescriptor* FirstField(const google::protobuf::Descriptor* type, std::string_view path) {
  const FieldDescriptor* field = type->FindFieldByName(std::string(path.substr(0, path.find('.'))));
  return field != nullptr && IsMessage(field) ? field : nullptr;
}

// Returns the type of the rows at a path. Null: there are none.
const google::protobuf::Descriptor* RowType(const google::protobuf::Descriptor* type,
                                            std::string_view path) {
  const FieldDescriptor* field = FirstField(type, path);
  const size_t dot = path.find('.');
  if (field == nullptr || dot == std::string_view::npos)
    return field == nullptr ? nullptr : field->message_type();
  return RowType(field->message_type(), path.substr(dot + 1));
}

// Writes the rows at a path that exists. Lists on the way are followed one element after the other.
void WriteRows(const Message& message, std::string_view path, CsvWriter* writer, Output* out) {
  const FieldDescriptor* field = FirstField(message.GetDescriptor(), path);
  const size_t dot = path.find('.');
  const bool is_last = dot == std::string_view::npos;
  const std::string_view rest = is_last ? std::string_view() : path.substr(dot + 1);
  const auto* r = message.GetReflection();
  if (!field->is_repeated()) return WriteRows(r->GetMessage(message, field), rest, writer, out);
  for (int i = 0; i < r->FieldSize(message, field) && !out->is_stopped(); ++i) {
    const Message& element = r->GetRepeatedMessage(message, field, i);
    if (is_last) {
      writer->Row(element);
    } else {
      WriteRows(element, rest, writer, out);
    }
  }
}

}  // namespace

void WriteJson(const Message& message, Output* out) {
  JsonWriter(out).Object(message, 0);
  out->Put("\n");
}

void WriteCsv(const Message& message, std::string_view path, Output* out) {
  const google::protobuf::Descriptor* row = RowType(message.GetDescriptor(), path);
  if (row == nullptr) return;
  CsvWriter writer(CallStacksOf(message), out);
  writer.Header(row);
  WriteRows(message, path, &writer, out);
}

std::string ToJson(const Message& message) {
  std::string text;
  {
    Output out(AppendToString, &text);
    WriteJson(message, &out);
  }
  return text;
}

std::string ToCsv(const Message& message, std::string_view path) {
  std::string text;
  {
    Output out(AppendToString, &text);
    WriteCsv(message, path, &out);
  }
  return text;
}

}  // namespace gpuprof::analysis
