// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Views with the names and columns that users of Nsight Systems and of Perfetto know: their SQL
// runs over any recording. Times are those of the recording. Any thread.
//
// Sources: the SQLite schema of Nsight Systems 2025, and the tables of Perfetto's trace processor
// (v50).

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/query/query_table.h"

namespace gpuprof::analysis {

struct ViewColumn {
  std::string_view name;
  ValueType type = ValueType::kSigned;
  std::string_view unit = {};
};

struct QueryView {
  std::string_view name;
  std::string_view meaning;
  std::span<const ViewColumn> columns;
  std::string_view select;  // has a value for each column
};

// Returns the views. A view refers to tables, and to views before it.
std::span<const QueryView> QueryViews();

// Returns the statement that makes a view.
std::string StatementOf(const QueryView& view);

}  // namespace gpuprof::analysis
