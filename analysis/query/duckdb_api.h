// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of DuckDB's C interface that queries use. The library is found when a query runs,
// without a header: these declarations follow DuckDB's documentation. The interface is stable from
// DuckDB 1.2 on.
//
// One thread opens it; then any thread, as DuckDB says of each function.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/analysis.h"

struct ArrowArray;  // Arrow's C data interface
struct ArrowSchema;

namespace gpuprof::analysis::duckdb {

using Handle = void*;  // what DuckDB keeps behind a pointer of its own
using State = int;     // 0: success

struct Result {
  uint64_t column_count;
  uint64_t row_count;
  uint64_t rows_changed;
  void* columns;
  char* error;
  void* data;
};

// A text in a vector. A longer text is not copied: its bytes outlive the result.
struct Text {
  uint32_t length;
  char prefix[4];
  union {
    const char* bytes;
    char rest[8];
  };
};
static_assert(sizeof(Text) == 16);

struct HugeInt {
  uint64_t lower;
  int64_t upper;
};

// Numbers of duckdb_type.
enum Type : int {
  kBoolean = 1,
  kTinyInt = 2,
  kSmallInt = 3,
  kInteger = 4,
  kBigInt = 5,
  kUTinyInt = 6,
  kUSmallInt = 7,
  kUInteger = 8,
  kUBigInt = 9,
  kFloat = 10,
  kDouble = 11,
  kHugeInt = 16,
  kVarchar = 17,
  kDecimal = 19,
};
// Numbers of duckdb_statement_type.
enum Statement : int { kSelect = 1, kExplain = 4 };

using Callback = void (*)(Handle info);
using FunctionCallback = void (*)(Handle info, Handle chunk);
using Destroy = void (*)(void* data);

// name, result, arguments
#define GPUPROF_DUCKDB_FUNCTIONS(X)                                          \
  X(library_version, const char*, ())                                        \
  X(create_config, State, (Handle*))                                         \
  X(set_config, State, (Handle, const char*, const char*))                   \
  X(destroy_config, void, (Handle*))                                         \
  X(open_ext, State, (const char*, Handle*, Handle, char**))                 \
  X(close, void, (Handle*))                                                  \
  X(connect, State, (Handle, Handle*))                                       \
  X(disconnect, void, (Handle*))                                             \
  X(interrupt, void, (Handle))                                               \
  X(query, State, (Handle, const char*, Result*))                            \
  X(destroy_result, void, (Result*))                                         \
  X(rows_changed, uint64_t, (Result*))                                       \
  X(result_error, const char*, (Result*))                                    \
  X(extract_statements, uint64_t, (Handle, const char*, Handle*))            \
  X(extract_statements_error, const char*, (Handle))                         \
  X(prepare_extracted_statement, State, (Handle, Handle, uint64_t, Handle*)) \
  X(destroy_extracted, void, (Handle*))                                      \
  X(prepare_error, const char*, (Handle))                                    \
  X(prepared_statement_type, int, (Handle))                                  \
  X(execute_prepared_streaming, State, (Handle, Result*))                    \
  X(destroy_prepare, void, (Handle*))                                        \
  X(column_count, uint64_t, (Result*))                                       \
  X(column_name, const char*, (Result*, uint64_t))                           \
  X(column_type, int, (Result*, uint64_t))                                   \
  X(fetch_chunk, Handle, (Result))                                           \
  X(destroy_data_chunk, void, (Handle*))                                     \
  X(data_chunk_get_size, uint64_t, (Handle))                                 \
  X(data_chunk_set_size, void, (Handle, uint64_t))                           \
  X(data_chunk_get_vector, Handle, (Handle, uint64_t))                       \
  X(vector_get_data, void*, (Handle))                                        \
  X(vector_get_validity, uint64_t*, (Handle))                                \
  X(vector_ensure_validity_writable, void, (Handle))                         \
  X(vector_size, uint64_t, ())                                               \
  X(create_logical_type, Handle, (int))                                      \
  X(destroy_logical_type, void, (Handle*))                                   \
  X(create_table_function, Handle, ())                                       \
  X(destroy_table_function, void, (Handle*))                                 \
  X(table_function_set_name, void, (Handle, const char*))                    \
  X(table_function_set_extra_info, void, (Handle, void*, Destroy))           \
  X(table_function_set_bind, void, (Handle, Callback))                       \
  X(table_function_set_init, void, (Handle, Callback))                       \
  X(table_function_set_local_init, void, (Handle, Callback))                 \
  X(table_function_set_function, void, (Handle, FunctionCallback))           \
  X(table_function_supports_projection_pushdown, void, (Handle, bool))       \
  X(register_table_function, State, (Handle, Handle))                        \
  X(bind_get_extra_info, void*, (Handle))                                    \
  X(bind_add_result_column, void, (Handle, const char*, Handle))             \
  X(bind_set_cardinality, void, (Handle, uint64_t, bool))                    \
  X(init_get_extra_info, void*, (Handle))                                    \
  X(init_get_column_count, uint64_t, (Handle))                               \
  X(init_get_column_index, uint64_t, (Handle, uint64_t))                     \
  X(init_set_init_data, void, (Handle, void*, Destroy))                      \
  X(init_set_max_threads, void, (Handle, uint64_t))                          \
  X(init_set_error, void, (Handle, const char*))                             \
  X(function_get_init_data, void*, (Handle))                                 \
  X(function_get_local_init_data, void*, (Handle))                           \
  X(free, void, (void*))

// What only rows as Arrow need, from DuckDB 1.4 on. Older libraries have null here.
#define GPUPROF_DUCKDB_ARROW_FUNCTIONS(X)                                             \
  X(connection_get_arrow_options, void, (Handle, Handle*))                            \
  X(destroy_arrow_options, void, (Handle*))                                           \
  X(column_logical_type, Handle, (Result*, uint64_t))                                 \
  X(to_arrow_schema, Handle, (Handle, Handle*, const char**, uint64_t, ArrowSchema*)) \
  X(data_chunk_to_arrow, Handle, (Handle, Handle, ArrowArray*))                       \
  X(error_data_has_error, bool, (Handle))                                             \
  X(error_data_message, const char*, (Handle))                                        \
  X(destroy_error_data, void, (Handle*))

struct Api {
#define GPUPROF_DECLARE(name, result, arguments) result(*name) arguments = nullptr;
  GPUPROF_DUCKDB_FUNCTIONS(GPUPROF_DECLARE)
  GPUPROF_DUCKDB_ARROW_FUNCTIONS(GPUPROF_DECLARE)
#undef GPUPROF_DECLARE
};

// Returns the library that Open() opened. DuckDB calls back without telling whose library it is.
const Api& Opened();

// Finds and opens libduckdb.so: `path`, or, if it is empty, next to the command, then where the
// system keeps libraries. An error says where to get the library. It stays open to the end of the
// process, and the next call returns the same.
Error Open(const std::string& path, const Api** api);

}  // namespace gpuprof::analysis::duckdb
