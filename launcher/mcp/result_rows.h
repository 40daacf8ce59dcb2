// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a list of a result: chosen by the values of columns, put in order, and shown as JSON.
// Only the rows that are shown become JSON, so that a list of a million rows is fast. Any thread.

#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/mcp/arguments.h"

namespace gpuprof::launcher {

// A column: a field of the row, or of a message in the row ("caller.module").
struct ResultColumn {
  std::string name;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
};

// A condition of rows.
struct RowCondition {
  ResultColumn column;
  std::string relation;  // =, !=, <, <=, >, >=, contains
  McpJson value;
};

struct RowQuery {
  std::vector<ResultColumn> columns;  // empty: all
  std::vector<RowCondition> where;    // all must hold
  std::optional<ResultColumn> order_by;
  bool is_ascending = false;
  size_t top = 20;
};

struct QueriedRows {
  McpJson rows = McpJson::array();
  uint64_t total = 0;  // rows that fulfil the conditions
};

// Finds the list at a path ("steps.categories"). Lists on the way are followed one after the other.
// Returns the type of its rows, or null.
const google::protobuf::Descriptor* RowTypeAt(const google::protobuf::Descriptor* result,
                                              const std::string& path);
// Returns the names of the columns of a type of rows.
std::vector<std::string> ColumnNames(const google::protobuf::Descriptor* row);
// Finds a column. False: the rows have none of this name.
bool FindColumn(const google::protobuf::Descriptor* row, const std::string& name,
                ResultColumn* column);

// Looks at the rows of the list at `path`, which exists. A number of a call stack becomes `frames`,
// the innermost first.
QueriedRows QueryRows(const google::protobuf::Message& result, const std::string& path,
                      const RowQuery& query);

// Returns the names of the frames of a call stack of a result, the innermost first.
std::vector<std::string> FrameNames(const google::protobuf::Message& result, uint32_t stack);

}  // namespace gpuprof::launcher
