// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See arrow_export.h.

#include "analysis/arrow/arrow_export.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/arrow/dictionary.h"
#include "analysis/arrow/ipc_writer.h"
#include "analysis/arrow/table_batches.h"
#include "analysis/model/trace.h"
#include "analysis/query/trace_tables.h"

namespace gpuprof::analysis {
namespace {

// Writes one table. Returns without a file if the table has no rows.
Error WriteTable(QueryTable* table, const TraceNames& names, FileSink sink, void* context,
                 uint64_t* rows) {
  std::vector<size_t> columns(table->columns().size());
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  arrow::Reading reading;
  reading.check = [] { return Error(); };
  reading.dictionary = [&](size_t column, std::shared_ptr<const arrow::Dictionary>* made) {
    return arrow::Dictionary::Make(table, column, names, 0, made);
  };
  const std::unique_ptr<arrow::ArraySource> batches =
      arrow::MakeTableBatches(table, table->IsOfEvents(), std::move(columns), std::move(reading));
  const std::string file = table->name() + ".arrow";
  arrow::IpcWriter writer(batches->field(),
                          [&](std::string_view bytes) { return sink(context, file, bytes); });
  std::shared_ptr<const arrow::Array> batch;
  if (Error error = batches->NextArray(&batch)) return error;
  if (batch == nullptr) return {};
  bool goes_on = writer.Begin();
  while (goes_on && batch != nullptr) {
    *rows += static_cast<uint64_t>(batch->length);
    goes_on = writer.Write(*batch);
    if (Error error = batches->NextArray(&batch)) return error;
  }
  if (goes_on) writer.Finish();
  return {};
}

}  // namespace

Error ExportArrow(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                  ExportReport* report) {
  if (options.pid != 0 || options.window)
    return {ErrorKind::kUsage,
            "the format arrow holds whole tables; leave --pid and --window out, "
            "and choose rows where the files are read"};
  // The caller keeps the trace.
  const TraceTables tables(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace),
                           PassOptions());
  for (const std::unique_ptr<QueryTable>& table : tables.main()) {
    if (Error error = WriteTable(table.get(), tables.names(), sink, context, &report->events))
      return error;
  }
  return {};
}

}  // namespace gpuprof::analysis
