// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See result_tables.h.

#include "analysis/query/result_tables.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "analysis/base/enum_word.h"
#include "analysis/passes/registry.h"
#include "analysis/query/row_table.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Path = std::vector<const FieldDescriptor*>;

constexpr size_t kDeepest = 3;  // lists within lists

// The result of a pass, made once for all its tables.
class PassResult {
 public:
  PassResult(std::string_view pass, Session* session, const PassOptions& options, std::mutex* mutex)
      : pass_(pass), session_(session), options_(options), mutex_(mutex) {}

  Error Get(const Message** result) {
    // A session answers one question at a time.
    const std::lock_guard lock(*mutex_);
    if (!is_made_) error_ = Run(pass_, session_, options_, &result_);
    is_made_ = true;
    *result = result_.get();
    return error_;
  }

 private:
  std::string_view pass_;
  Session* session_;
  const PassOptions& options_;
  std::mutex* mutex_;
  bool is_made_ = false;
  Error error_;
  std::unique_ptr<Message> result_;
};

bool IsList(const FieldDescriptor* field) {
  return field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

ValueType TypeOf(const FieldDescriptor* field) {
  if (field->is_repeated()) return ValueType::kText;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return ValueType::kBoolean;
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return ValueType::kSigned;
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return ValueType::kUnsigned;
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ValueType::kReal;
    default:
      return ValueType::kText;
  }
}

const char* UnitOfName(std::string_view name) {
  if (name.ends_with("_ns")) return "ns";
  if (name == "bytes" || name.ends_with("_bytes")) return "bytes";
  return "";
}

// The rows of one list of a result.
class ResultTable : public RowTable {
 public:
  ResultTable(std::string name, const std::string& pass, Path path,
              std::shared_ptr<PassResult> result)
      : RowTable(std::move(name), "rows of 'gpuprof stats " + pass + "'"),
        path_(std::move(path)),
        result_(std::move(result)) {
    // Which row of the list around it, by its place from 0 on.
    for (size_t depth = 0; depth + 1 < path_.size(); ++depth)
      if (IsList(path_[depth])) AddColumn(path_[depth]->name() + "_row", ValueType::kUnsigned);
    AddFields(path_.back()->message_type(), {});
  }

 private:
  void AddColumn(std::string name, ValueType type) {
    const std::string unit = UnitOfName(name);
    columns_.push_back({std::move(name), type, unit});
  }

  // Adds a column for each plain field, and those of messages that a row has once.
  void AddFields(const Descriptor* message, const Path& outer) {
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* const field = message->field(i);
      if (IsList(field)) continue;
      Path inner = outer;
      inner.push_back(field);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (inner.size() < kDeepest) AddFields(field->message_type(), inner);
        continue;
      }
      std::string name;
      for (const FieldDescriptor* const part : inner)
        name += (name.empty() ? "" : "_") + part->name();
      AddColumn(std::move(name), TypeOf(field));
      fields_.push_back(std::move(inner));
    }
  }

  Error Load() override {
    const Message* result = nullptr;
    if (Error error = result_->Get(&result)) return error;
    Walk(*result, 0, {});
    return {};
  }

  void Walk(const Message& message, size_t depth, const std::vector<Cell>& rows) {
    const FieldDescriptor* const field = path_[depth];
    const Reflection* const reflection = message.GetReflection();
    const bool is_last = depth + 1 == path_.size();
    if (!field->is_repeated()) {
      if (reflection->HasField(message, field))
        Walk(reflection->GetMessage(message, field), depth + 1, rows);
      return;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      const Message& row = reflection->GetRepeatedMessage(message, field, i);
      std::vector<Cell> cells = rows;
      if (is_last) {
        for (const Path& path : fields_) cells.push_back(CellOf(row, path));
        AddRow(std::move(cells));
      } else {
        cells.push_back(Cell::Of(int64_t{i}));
        Walk(row, depth + 1, cells);
      }
    }
  }

  Cell CellOf(const Message& row, const Path& path) {
    const Message* message = &row;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      const Reflection* const reflection = message->GetReflection();
      if (!reflection->HasField(*message, path[i])) return {};
      message = &reflection->GetMessage(*message, path[i]);
    }
    const FieldDescriptor* const field = path.back();
    const Reflection* const reflection = message->GetReflection();
    if (field->is_repeated()) return ListCell(*message, field);
    if (field->has_presence() && !reflection->HasField(*message, field)) return {};
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return Cell::Of(int64_t{reflection->GetBool(*message, field)});
      case FieldDescriptor::CPPTYPE_INT32:
        return Cell::Of(int64_t{reflection->GetInt32(*message, field)});
      case FieldDescriptor::CPPTYPE_INT64:
        return Cell::Of(int64_t{reflection->GetInt64(*message, field)});
      case FieldDescriptor::CPPTYPE_UINT32:
        return Cell::Of(int64_t{reflection->GetUInt32(*message, field)});
      case FieldDescriptor::CPPTYPE_UINT64:
        return Cell::Of(static_cast<int64_t>(reflection->GetUInt64(*message, field)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Cell::Of(double{reflection->GetFloat(*message, field)});
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Cell::Of(reflection->GetDouble(*message, field));
      case FieldDescriptor::CPPTYPE_ENUM:
        return Cell::Of(Keep(EnumWord(reflection->GetEnum(*message, field))));
      default:
        return Cell::Of(Keep(reflection->GetString(*message, field)));
    }
  }

  // Joins the values of a list by commas.
  Cell ListCell(const Message& message, const FieldDescriptor* field) {
    const Reflection* const reflection = message.GetReflection();
    std::string text;
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      if (i != 0) text += ", ";
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
          text += reflection->GetRepeatedString(message, field, i);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          text += EnumWord(reflection->GetRepeatedEnum(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          text += std::to_string(reflection->GetRepeatedInt64(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          text += std::to_string(reflection->GetRepeatedUInt64(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          text += std::to_string(reflection->GetRepeatedInt32(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          text += std::to_string(reflection->GetRepeatedUInt32(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          text += std::to_string(reflection->GetRepeatedDouble(message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_FLOAT:
          text += std::to_string(reflection->GetRepeatedFloat(message, field, i));
          break;
        default:
          break;
      }
    }
    return Cell::Of(Keep(text));
  }

  Path path_;
  std::vector<Path> fields_;
  std::shared_ptr<PassResult> result_;
};

// Adds the lists of a message and of its messages.
class ListFinder {
 public:
  ListFinder(const PassEntry& entry, std::shared_ptr<PassResult> result, QueryTables* tables)
      : entry_(entry), result_(std::move(result)), tables_(tables) {}

  void Find(const Descriptor* message, const Path& outer) {
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* const field = message->field(i);
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->name() == "meta")
        continue;
      // A message may have itself within it.
      if (outer.size() >= kDeepest) continue;
      Path path = outer;
      path.push_back(field);
      if (field->is_repeated()) Add(path);
      Find(field->message_type(), path);
    }
  }

 private:
  void Add(const Path& path) {
    std::string dotted, joined;
    for (const FieldDescriptor* const part : path) {
      dotted += (dotted.empty() ? "" : ".") + part->name();
      joined += (joined.empty() ? "" : "_") + part->name();
    }
    const std::string pass(entry_.info.name);
    const std::string name = dotted == entry_.main_table ? pass : pass + "_" + joined;
    tables_->push_back(std::make_unique<ResultTable>(name, pass, path, result_));
  }

  const PassEntry& entry_;
  std::shared_ptr<PassResult> result_;
  QueryTables* tables_;
};

}  // namespace

void AddResultTables(Session* session, const PassOptions& options, std::mutex* mutex,
                     QueryTables* tables) {
  for (const PassEntry& entry : PassTable()) {
    auto result = std::make_shared<PassResult>(entry.info.name, session, options, mutex);
    ListFinder(entry, std::move(result), tables).Find(entry.type(), {});
  }
}

}  // namespace gpuprof::analysis
