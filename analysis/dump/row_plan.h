// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a row of a table becomes key=value pairs: by the types of its columns (proto/schema.h). A
// table needs no line here. Values that are to look otherwise are in two lists in row_plan.cc.
// For Dump, any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dump/row_columns.h"
#include "analysis/dump/value_writer.h"
#include "proto/schema.h"

namespace gpuprof::analysis {

// The order of values in a line.
enum class LinePlace : uint8_t {
  kKind,   // what kind of event it is
  kName,   // of what
  kSpan,   // when
  kValue,  // how much
  kStream,
  kFlag,
  kCall,  // its call and graph, and the result
  kStack,
  kFlags,
  kBlock,  // what the rows of a block share
  kMore,   // what only some rows have
  kLast,
};

struct DumpRow {
  const Track& track;
  const RowColumns& columns;
  const proto::TableSpec* table;
  size_t number;
};

struct DumpValue {
  std::string_view key;
  uint64_t value;
  proto::Codes codes;
  const DumpRow& row;
};

using WriteValue = void (*)(const DumpValue& value, ValueWriter* out);

// One value of a line; or several, if `write` writes several.
struct LinePart {
  LinePlace place = LinePlace::kKind;
  std::string key;
  int column = -1;                         // -1: `write` finds its values itself
  const proto::BitField* field = nullptr;  // of the column
  bool omits_zero = false;
  proto::Codes codes = proto::Codes::kNone;
  WriteValue write = nullptr;
};
using RowPlan = std::vector<LinePart>;

// Lists what a line about a row of this table has, in order.
RowPlan PlanOf(const proto::TableSpec& table);

void WriteRow(const RowPlan& plan, const DumpRow& row, ValueWriter* out);

}  // namespace gpuprof::analysis
