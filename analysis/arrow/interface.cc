// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions of gpuprof.h. No exception passes through them.

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analysis/arrow/gpuprof.h"
#include "analysis/arrow/recording.h"

#define GPUPROF_EXPORT __attribute__((visibility("default")))

using gpuprof::analysis::Error;
using gpuprof::analysis::ErrorKind;
namespace arrow = gpuprof::analysis::arrow;

struct gpuprof_recording {
  std::unique_ptr<arrow::Recording> recording;
};
struct gpuprof_rows {
  std::shared_ptr<const arrow::QueryRows> rows;
};

namespace {

// Returns a copy for the caller; null: there is no memory.
char* TextFor(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int Fail(int number, const std::string& message, char** error) {
  if (error != nullptr) *error = TextFor(message);
  return number;
}

// Calls what returns an Error, and turns it into a number and a text.
template <typename Call>
int CallWith(char** error, const Call& call) {
  if (error != nullptr) *error = nullptr;
  try {
    const Error failed = call();
    if (!failed) return 0;
    return Fail(failed.kind == ErrorKind::kUsage ? GPUPROF_ERROR_USAGE : GPUPROF_ERROR_UNREADABLE,
                failed.message, error);
  } catch (const std::bad_alloc&) {
    return Fail(GPUPROF_ERROR_MEMORY, "there is not enough memory; choose fewer columns", error);
  } catch (const std::exception& thrown) {
    return Fail(GPUPROF_ERROR_UNREADABLE, thrown.what(), error);
  }
}

Error GiveText(const std::string& text, char** to) {
  *to = TextFor(text);
  if (*to == nullptr) throw std::bad_alloc();
  return {};
}

std::string TextOr(const char* text) { return text != nullptr ? text : ""; }

}  // namespace

GPUPROF_EXPORT int gpuprof_interface(void) { return GPUPROF_INTERFACE; }

GPUPROF_EXPORT const char* gpuprof_version(void) { return GPUPROF_VERSION; }

GPUPROF_EXPORT void gpuprof_free(char* text) { std::free(text); }

GPUPROF_EXPORT int gpuprof_open(const char* path, const gpuprof_open_options* options,
                                gpuprof_recording** recording, char** error) {
  return CallWith(error, [&]() -> Error {
    arrow::RecordingOptions how;
    if (options != nullptr) {
      if (options->size != sizeof *options)
        return {ErrorKind::kUsage,
                "gpuprof_open_options has another size; build with the header "
                "of this libgpuprof.so"};
      how.threads = options->threads;
      how.symbolize = options->no_symbols == 0;
      how.symfs = TextOr(options->symfs);
    }
    auto made = std::make_unique<gpuprof_recording>();
    if (Error failed = arrow::Recording::Open(path, how, &made->recording)) return failed;
    *recording = made.release();
    return {};
  });
}

GPUPROF_EXPORT void gpuprof_close(gpuprof_recording* recording) { delete recording; }

GPUPROF_EXPORT int gpuprof_tables(gpuprof_recording* recording, char** json, char** error) {
  return CallWith(error, [&] { return GiveText(recording->recording->TablesJson(), json); });
}

GPUPROF_EXPORT int gpuprof_faults(gpuprof_recording* recording, char** json, char** error) {
  return CallWith(error, [&] { return GiveText(recording->recording->FaultsJson(), json); });
}

GPUPROF_EXPORT int gpuprof_count(gpuprof_recording* recording, const char* table, uint64_t* rows,
                                 char** error) {
  return CallWith(error, [&] { return recording->recording->Count(table, rows); });
}

GPUPROF_EXPORT int gpuprof_read(gpuprof_recording* recording, const char* table,
                                const char* const* columns, uint64_t column_count,
                                ArrowArrayStream* stream, char** error) {
  return CallWith(error, [&]() -> Error {
    const std::vector<std::string> names(columns,
                                         columns + (columns != nullptr ? column_count : 0));
    std::unique_ptr<arrow::BatchSource> batches;
    if (Error failed = recording->recording->Read(table, names, &batches)) return failed;
    arrow::ExportStream(std::move(batches), stream);
    return {};
  });
}

GPUPROF_EXPORT int gpuprof_result(gpuprof_recording* recording, const char* pass,
                                  const char* options, char** json, char** error) {
  return CallWith(error, [&]() -> Error {
    std::string text;
    if (Error failed = recording->recording->Result(pass, TextOr(options), &text)) return failed;
    return GiveText(text, json);
  });
}

GPUPROF_EXPORT int gpuprof_schema(char** json, char** error) {
  return CallWith(error, [&] { return GiveText(gpuprof::analysis::SchemaJson(), json); });
}

GPUPROF_EXPORT int gpuprof_query(gpuprof_recording* recording, const char* sql, const char* library,
                                 gpuprof_rows** rows, char** error) {
  return CallWith(error, [&]() -> Error {
    auto made = std::make_unique<gpuprof_rows>();
    if (Error failed = recording->recording->Query(sql, TextOr(library), &made->rows))
      return failed;
    *rows = made.release();
    return {};
  });
}

GPUPROF_EXPORT uint64_t gpuprof_rows_count(const gpuprof_rows* rows) { return rows->rows->count(); }

GPUPROF_EXPORT int gpuprof_rows_schema(const gpuprof_rows* rows, ArrowSchema* schema,
                                       char** error) {
  return CallWith(error, [&]() -> Error {
    arrow::ExportField(rows->rows->field(), schema);
    return {};
  });
}

GPUPROF_EXPORT int gpuprof_rows_read(const gpuprof_rows* rows, const uint64_t* columns,
                                     uint64_t column_count, ArrowArrayStream* stream,
                                     char** error) {
  return CallWith(error, [&]() -> Error {
    const size_t all = rows->rows->field().children.size();
    std::vector<size_t> places;
    for (uint64_t i = 0; i < (columns != nullptr ? column_count : all); ++i) {
      const uint64_t place = columns != nullptr ? columns[i] : i;
      if (place >= all)
        return {ErrorKind::kUsage, "the rows have " + std::to_string(all) + " columns, and none " +
                                       "with the number " + std::to_string(place)};
      places.push_back(place);
    }
    arrow::ExportStream(arrow::MakeQueryRowBatches(rows->rows, places), stream);
    return {};
  });
}

GPUPROF_EXPORT void gpuprof_rows_close(gpuprof_rows* rows) { delete rows; }
