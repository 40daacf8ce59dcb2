// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables as data: which field of a row a column shows, how, under which title and when. One maker
// turns rows and their layout into a text table. `gpuprof schema --json` prints the layouts; the
// page of reports and its tests take their columns from there. So each column is described once.
//
// The layouts are C++ in the file of a result's text. Options of fields in
// proto/results/ would not do: an option belongs to one field. A column may need two fields. A
// field may have another title for each key of --by. The rare cell is a function. Options would say
// less in more lines, and every reader of results would carry them. Any thread.

#pragma once

#include <google/protobuf/message.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/render/text.h"

namespace gpuprof::analysis {

using ResultMessage = google::protobuf::Message;

// How a value is written.
enum class Unit {
  kOfField,  // what UnitOf says of the field
  kDuration,
  kBytes,
  kBytesPerSecond,
  kPercent,
  kNumber,      // "12,345"
  kReal,        // "3.50"
  kIdentifier,  // "12345": of a device, a thread, a step
  kAddress,
  kProcess,  // "12", or "12 on node2" if the rows are of several hosts
  kWord,     // of an enum
  kFlag,
  kText,
};

// When a column is shown. `only_by` and `except_by` choose, too.
enum class ShownIf {
  kAlways,
  kAny,                 // a row has the value, or passes the test
  kNone,                // no row has it
  kDifferent,           // rows differ in it
  kDifferentInProcess,  // rows of one process differ in it
};

enum class ColumnAlign { kOfUnit, kLeft, kRight };

// How the page of reports shows a column.
enum class OnPage {
  kShown,
  kIfWide,   // hidden in a narrow window
  kOffered,  // hidden until it is chosen
  kAbsent,
};

// The unit in which the page shows a column: one for all cells, with fixed decimals. Text chooses a
// unit for each cell.
struct Scale {
  std::string_view unit;
  double divisor = 0;
  int decimals = 0;
};
inline constexpr Scale kSeconds = {"s", 1e9, 2};
inline constexpr Scale kMilliseconds = {"ms", 1e6, 2};
inline constexpr Scale kMicroseconds = {"\u00b5s", 1e3, 1};
inline constexpr Scale kNanoseconds = {"ns", 1, 0};
inline constexpr Scale kMebibytes = {"MiB", 1 << 20, 2};
inline constexpr Scale kTera = {"", 1e12, 1};
inline constexpr Scale kTenths = {"", 1, 1};
inline constexpr Scale kWholes = {"", 1, 0};
// Each cell has a unit of its own, as in text: for sizes of very different kinds.
inline constexpr Scale kOwnUnits = {"", 1, 0};

// What a computed cell may look at besides its row.
struct CellContext {
  const ResultMessage& result;
  const TextOptions& options;
};
using CellFunction = std::string (*)(const ResultMessage& row, const CellContext& context);
using RowTest = bool (*)(const ResultMessage& row, const CellContext& context);

// Fields are paths: "name", "caller.module". An optional field is present if it is set. Other
// numbers are present if they are not 0. Texts and lists are present if they are not empty.
struct TableColumn {
  std::string_view field = {};
  std::string_view title = {};
  Unit unit = Unit::kOfField;
  std::string_view share_of = {};  // a field: the cell is a part of this field, in percent
  CellFunction cell = nullptr;     // for the rare cell that is more than a value
  std::string_view needs = {};     // a field: without it, the cell is `blank`
  RowTest needs_if = nullptr;      // likewise of rows that do not pass
  std::string_view blank = {};     // for absent values
  ColumnAlign align = ColumnAlign::kOfUnit;
  bool flexible = false;  // may be cut
  ShownIf shown = ShownIf::kAlways;
  std::string_view shown_by = {};   // a field that `shown` asks about; "": the column's own
  RowTest shown_if = nullptr;       // for kAny: in place of a field
  std::string_view only_by = {};    // only with these keys of `by`, "name stream"
  std::string_view except_by = {};  // not with these
  std::string_view tip = {};        // explains the column, on the page
  Scale scale = {};                 // of the page; without a divisor: what ScaleOf says
  OnPage on_page = OnPage::kShown;
  bool in_text = true;
};

struct TableLayout {
  std::string_view rows;  // path of the list in the result: "copies", "paths.shares"
  const google::protobuf::Descriptor* (*row)();
  std::span<const TableColumn> columns;
  bool is_complete = false;         // no limit of rows holds for it
  std::string_view only_by = {};    // only with these keys of `by`
  std::string_view sorted_by = {};  // the field by which the rows come, the greatest first
  std::string_view noun = {};       // one row: "copy"; "": the last word of `rows`, without its s
  std::string_view title = {};      // of the table, where a result has several
  bool in_text = true;              // false: text says it otherwise
};

// What tells the rows of one table apart where their names may not.
inline constexpr TableColumn kPidColumn = {.field = "pid", .title = "pid"};
inline constexpr TableColumn kWhosePid = {
    .field = "pid", .title = "pid", .shown = ShownIf::kDifferent};
inline constexpr TableColumn kWhoseTid = {.field = "tid", .title = "tid", .shown = ShownIf::kAny};
inline constexpr TableColumn kWhoseContext = {
    .field = "context", .title = "context", .shown = ShownIf::kDifferentInProcess};

// Returns the unit that a field's name and type tell: "_ns", "_bytes", "_ratio", "_count".
Unit UnitOf(const google::protobuf::FieldDescriptor* field);
// Returns the unit in which a column shows its field.
Unit UnitOf(const TableColumn& column, const google::protobuf::Descriptor* row);
// Returns the unit of a column of the page. A divisor of 0 says that the column has no unit.
Scale ScaleOf(const TableColumn& column, const google::protobuf::Descriptor* row);
// Returns one row and several in words: {"copy", "copies"}.
std::pair<std::string, std::string> NounsOf(const TableLayout& layout);
bool IsRightAligned(const TableColumn& column, const google::protobuf::Descriptor* row);

// Returns the fields on a path, the last one innermost. Empty: the path leads to no field.
std::vector<const google::protobuf::FieldDescriptor*> FieldsOf(
    const google::protobuf::Descriptor* type, std::string_view path);

// Returns whether `key` is one of the words.
bool HasWord(std::string_view words, std::string_view key);

// Rows of a table. `all` decide which columns there are.
struct TableRows {
  std::vector<const ResultMessage*> all;
  std::vector<const ResultMessage*> shown;
};

template <typename Rows>
std::vector<const ResultMessage*> PointersTo(const Rows& rows) {
  std::vector<const ResultMessage*> pointers;
  pointers.reserve(static_cast<size_t>(rows.size()));
  for (const auto& row : rows) pointers.push_back(&row);
  return pointers;
}

TextTable MakeTable(const TableLayout& layout, const TableRows& rows, const ResultMessage& result,
                    const TextOptions& options);

// Returns a table under its heading, as Section does, of as many rows as the options allow.
std::string TableText(const std::string& heading, const TableLayout& layout,
                      std::vector<const ResultMessage*> rows, const ResultMessage& result,
                      const TextOptions& options);

// Returns the table of the rows that the layout names, which are a list of the result itself.
std::string TableText(const std::string& heading, const TableLayout& layout,
                      const ResultMessage& result, const TextOptions& options);
// Returns the same table under the layout's own title.
std::string TableText(const TableLayout& layout, const ResultMessage& result,
                      const TextOptions& options);

// Gives a function of one type of row the signature of a cell.
template <typename Row, std::string (*kFunction)(const Row& row, const CellContext& context)>
std::string CellOf(const ResultMessage& row, const CellContext& context) {
  return kFunction(static_cast<const Row&>(row), context);
}
template <typename Row, std::string (*kFunction)(const Row& row)>
std::string CellOf(const ResultMessage& row, const CellContext&) {
  return kFunction(static_cast<const Row&>(row));
}
// Gives a function of one type of row the signature of a test.
template <typename Row, bool (*kTest)(const Row& row)>
bool TestOf(const ResultMessage& row, const CellContext&) {
  return kTest(static_cast<const Row&>(row));
}

}  // namespace gpuprof::analysis
