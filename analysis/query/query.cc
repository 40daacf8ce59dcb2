// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See query.h.

#include "analysis/query/query.h"

#include "analysis/query/database.h"
#include "analysis/query/event_tables.h"
#include "analysis/query/lookup_tables.h"
#include "analysis/query/query_writer.h"
#include "analysis/query/result_tables.h"
#include "analysis/render/table.h"

namespace gpuprof::analysis {
namespace {

constexpr char kMain[] = "main", kStats[] = "stats";

// All tables of a trace.
class TraceTables {
 public:
  TraceTables(std::shared_ptr<const Trace> trace, const PassOptions& options)
      : options_(options), names_(*trace), session_(MakeSession(trace)) {
    AddLookupTables(names_, options_, &main_);
    AddEventTables(names_, &main_);
    AddResultTables(session_.get(), options_, &stats_);
  }

  const QueryTables& main() const { return main_; }
  const QueryTables& stats() const { return stats_; }

 private:
  PassOptions options_;
  TraceNames names_;
  std::shared_ptr<Session> session_;
  QueryTables main_, stats_;
};

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

void DescribeTables(const QueryTables& tables, const std::string& schema, QueryWriter* writer) {
  const auto text = [](std::string_view value) {
    return QueryValue{QueryValue::Kind::kText, std::string(value)};
  };
  for (const std::unique_ptr<QueryTable>& table : tables) {
    const std::string name = schema == kMain ? table->name() : schema + "." + table->name();
    for (const QueryColumn& column : table->columns()) {
      if (!column.names.empty())
        writer->Row({text(name), text(column.name.substr(0, column.name.size() - 3)),
                     text("varchar"), text(""), text(table->meaning())});
      writer->Row({text(name), text(column.name), text(WordOf(column.type)), text(column.unit),
                   text(table->meaning())});
    }
  }
}

}  // namespace

Error Query(std::shared_ptr<const Trace> trace, const std::string& sql, const QueryOptions& options,
            Sink sink, void* context) {
  const TraceTables tables(std::move(trace), options.pass);
  const std::unique_ptr<QueryWriter> writer =
      MakeQueryWriter(options.format, options.limit, options.width, sink, context);
  if (sql.empty()) {
    writer->Begin({"table", "column", "type", "unit", "rows"});
    DescribeTables(tables.main(), kMain, writer.get());
    DescribeTables(tables.stats(), kStats, writer.get());
    writer->Finish();
    return {};
  }
  std::unique_ptr<QueryDatabase> database;
  if (Error error = QueryDatabase::Open(options.library, options.threads, &database)) return error;
  if (Error error = database->Add(kMain, tables.main())) return error;
  if (Error error = database->Add(kStats, tables.stats())) return error;
  if (Error error = database->Lock()) return error;
  if (Error error = database->Run(sql, writer.get())) return error;
  writer->Finish();
  return {};
}

}  // namespace gpuprof::analysis
