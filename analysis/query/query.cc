// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See query.h.

#include "analysis/query/query.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "analysis/query/database.h"
#include "analysis/query/query_writer.h"
#include "analysis/query/trace_tables.h"

namespace gpuprof::analysis {
namespace {

const char* WordOf(ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      return "boolean";
    case ValueType::kSigned:
      return "bigint";
    case ValueType::kUnsigned:
      return "ubigint";
    case ValueType::kId:
      return "uinteger";
    case ValueType::kReal:
      return "double";
    case ValueType::kText:
      return "varchar";
  }
  return "";
}

// Describes a column to a function: table, column, type, unit, what the rows are.
using Describe =
    std::function<void(std::string_view table, std::string_view column, const char* type,
                       std::string_view unit, std::string_view rows)>;

void DescribeTables(const QueryTables& tables, const std::string& schema,
                    const Describe& describe) {
  for (const std::unique_ptr<QueryTable>& table : tables) {
    const std::string name = schema == kMainSchema ? table->name() : schema + "." + table->name();
    for (const QueryColumn& column : table->columns()) {
      if (!column.names.empty())
        describe(name, TextOfId(column.name), "varchar", "", table->meaning());
      describe(name, column.name, WordOf(column.type), column.unit, table->meaning());
    }
  }
}

void DescribeAll(const TraceTables& tables, const Describe& describe) {
  DescribeTables(tables.main(), kMainSchema, describe);
  for (const QueryView& view : QueryViews())
    for (const ViewColumn& column : view.columns)
      describe(view.name, column.name, WordOf(column.type), column.unit, view.meaning);
  DescribeTables(tables.stats(), kStatsSchema, describe);
}

// Makes the tables of no trace, for their description.
TraceTables TablesOfNothing() { return {std::make_shared<const Trace>(), PassOptions()}; }

}  // namespace

Error OpenQueryLibrary(const std::string& path) {
  const duckdb::Api* api = nullptr;
  return duckdb::Open(path, &api);
}

std::string QuerySchemaJson() {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  const TraceTables nothing = TablesOfNothing();
  DescribeAll(nothing, [&](std::string_view table, std::string_view column, const char* type,
                           std::string_view unit, std::string_view rows) {
    if (tables.empty() || tables.back()["name"] != table)
      tables.push_back({{"name", table}, {"rows", rows}, {"columns", tables.array()}});
    tables.back()["columns"].push_back({{"name", column}, {"type", type}, {"unit", unit}});
  });
  return tables.dump();
}

std::string QuerySchemaText() {
  std::string text = "tables of SQL (gpuprof query)\n", last;
  const TraceTables nothing = TablesOfNothing();
  DescribeAll(nothing, [&](std::string_view table, std::string_view column, const char* type,
                           std::string_view unit, std::string_view rows) {
    if (table != last) text.append("\n").append(table).append(": ").append(rows).append("\n");
    last = table;
    const auto cell = [&](std::string_view word, size_t width) {
      text.append(word).append(word.size() < width ? width - word.size() : 1, ' ');
    };
    text += "  ";
    cell(column, 32);
    cell(type, 10);
    text.append(unit);
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  });
  return text;
}

bool MayAskResults(std::string_view sql) {
  std::string lower(sql);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower.find("stats") != std::string::npos;
}

Error Query(std::shared_ptr<const Trace> trace, const std::string& sql, const QueryOptions& options,
            Sink sink, void* context) {
  constexpr size_t kMostPageBytes = 16 << 20;
  const TraceTables tables(std::move(trace), options.pass);
  const std::unique_ptr<QueryWriter> writer =
      options.for_page
          ? MakePageWriter(options.limit, kMostPageBytes, sink, context)
          : MakeQueryWriter(options.format, options.limit, options.width, sink, context);
  if (sql.empty()) {
    writer->Begin({"table", "column", "type", "unit", "rows"});
    bool goes_on = true;
    DescribeAll(tables, [&](std::string_view table, std::string_view column, const char* type,
                            std::string_view unit, std::string_view rows) {
      const auto text = [](std::string_view value) {
        return QueryValue{QueryValue::Kind::kText, std::string(value)};
      };
      if (goes_on)
        goes_on = writer->Row({text(table), text(column), text(type), text(unit), text(rows)});
      else
        writer->Rest(1);
    });
    writer->Finish();
    return {};
  }
  DatabaseOptions how;
  how.library = options.library;
  how.threads = options.threads;
  how.memory_bytes = options.memory_bytes;
  how.seconds = options.seconds;
  std::unique_ptr<QueryDatabase> database;
  if (Error error = QueryDatabase::Open(how, &database)) return error;
  if (Error error = tables.AddTo(database.get())) return error;
  if (Error error = database->Lock()) return error;
  if (options.before != nullptr) options.before();
  if (Error error = database->Run(sql, writer.get())) return error;
  writer->Finish();
  return {};
}

}  // namespace gpuprof::analysis
