// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See database.h.

#include "analysis/query/database.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <thread>
#include <utility>

#include "analysis/query/deadline.h"

namespace gpuprof::analysis {
namespace {

int TypeNumber(ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      return duckdb::kBoolean;
    case ValueType::kSigned:
      return duckdb::kBigInt;
    case ValueType::kUnsigned:
      return duckdb::kUBigInt;
    case ValueType::kId:
      return duckdb::kUInteger;
    case ValueType::kReal:
      return duckdb::kDouble;
    case ValueType::kText:
      return duckdb::kVarchar;
  }
  return duckdb::kVarchar;
}

// A chunk of DuckDB's, which a table fills.
class DuckChunk : public QueryChunk {
 public:
  DuckChunk(const duckdb::Api& api, duckdb::Handle chunk) : api_(api), chunk_(chunk) {}

  void SetNull(size_t place, size_t row) override {
    const duckdb::Handle vector = api_.data_chunk_get_vector(chunk_, place);
    api_.vector_ensure_validity_writable(vector);
    api_.vector_get_validity(vector)[row / 64] &= ~(uint64_t{1} << row % 64);
  }

 protected:
  void* Data(size_t place) override {
    return api_.vector_get_data(api_.data_chunk_get_vector(chunk_, place));
  }

 private:
  const duckdb::Api& api_;
  duckdb::Handle chunk_;
};

void Bind(duckdb::Handle info) {
  const duckdb::Api& duck = duckdb::Opened();
  const auto& table = *static_cast<const QueryTable*>(duck.bind_get_extra_info(info));
  for (const QueryColumn& column : table.columns()) {
    duckdb::Handle type = duck.create_logical_type(TypeNumber(column.type));
    duck.bind_add_result_column(info, column.name.c_str(), type);
    duck.destroy_logical_type(&type);
  }
  if (const uint64_t rows = table.rows(); rows != 0) duck.bind_set_cardinality(info, rows, true);
}

void Init(duckdb::Handle info) {
  const duckdb::Api& duck = duckdb::Opened();
  auto* const table = static_cast<QueryTable*>(duck.init_get_extra_info(info));
  std::vector<size_t> columns(duck.init_get_column_count(info));
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = duck.init_get_column_index(info, i);
  std::unique_ptr<TableScan> scan;
  if (Error error = table->Begin(columns, &scan))
    return duck.init_set_error(info, error.message.c_str());
  duck.init_set_max_threads(info, scan->threads());
  duck.init_set_init_data(info, scan.release(),
                          [](void* data) { delete static_cast<TableScan*>(data); });
}

void InitThread(duckdb::Handle info) {
  duckdb::Opened().init_set_init_data(
      info, new TableScan::Share, [](void* data) { delete static_cast<TableScan::Share*>(data); });
}

void Read(duckdb::Handle info, duckdb::Handle chunk) {
  const duckdb::Api& duck = duckdb::Opened();
  auto* const scan = static_cast<TableScan*>(duck.function_get_init_data(info));
  auto* const share = static_cast<TableScan::Share*>(duck.function_get_local_init_data(info));
  DuckChunk rows(duck, chunk);
  duck.data_chunk_set_size(chunk, scan->Next(share, &rows));
}

std::string HugeText(const duckdb::HugeInt& value) {
  auto bits =
      static_cast<unsigned __int128>(static_cast<uint64_t>(value.upper)) << 64 | value.lower;
  const bool is_negative = value.upper < 0;
  if (is_negative) bits = ~bits + 1;
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(bits % 10));
    bits /= 10;
  } while (bits != 0);
  if (is_negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

template <typename T>
std::string NumberText(T value) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

// Returns whether values of this type can be read as they are. Others are made texts by DuckDB.
bool IsPlain(int type) {
  return (type >= duckdb::kBoolean && type <= duckdb::kDouble) || type == duckdb::kHugeInt ||
         type == duckdb::kVarchar;
}

QueryValue ValueOf(int type, const void* data, size_t row) {
  using Kind = QueryValue::Kind;
  const auto number = [&]<typename T>(const T*) {
    const T value = static_cast<const T*>(data)[row];
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) return QueryValue{Kind::kText, NumberText(value)};
    }
    return QueryValue{Kind::kNumber, NumberText(value)};
  };
  switch (type) {
    case duckdb::kBoolean:
      return {Kind::kBoolean, static_cast<const bool*>(data)[row] ? "true" : "false"};
    case duckdb::kTinyInt:
      return number(static_cast<const int8_t*>(data));
    case duckdb::kSmallInt:
      return number(static_cast<const int16_t*>(data));
    case duckdb::kInteger:
      return number(static_cast<const int32_t*>(data));
    case duckdb::kBigInt:
      return number(static_cast<const int64_t*>(data));
    case duckdb::kUTinyInt:
      return number(static_cast<const uint8_t*>(data));
    case duckdb::kUSmallInt:
      return number(static_cast<const uint16_t*>(data));
    case duckdb::kUInteger:
      return number(static_cast<const uint32_t*>(data));
    case duckdb::kUBigInt:
      return number(static_cast<const uint64_t*>(data));
    case duckdb::kFloat:
      return number(static_cast<const float*>(data));
    case duckdb::kDouble:
      return number(static_cast<const double*>(data));
    case duckdb::kHugeInt:
      return {Kind::kNumber, HugeText(static_cast<const duckdb::HugeInt*>(data)[row])};
    default:
      break;
  }
  const auto& text = static_cast<const duckdb::Text*>(data)[row];
  constexpr size_t kInlined = sizeof text.prefix + sizeof text.rest;
  return {Kind::kText,
          std::string(text.length <= kInlined ? text.prefix : text.bytes, text.length)};
}

// Returns DuckDB's words in one line, without the line that points into the statement.
Error ErrorOf(std::string_view said) {
  std::string words;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(std::min(line.size() + 1, said.size()));
    if (line.starts_with("LINE ")) break;
    // What DuckDB proposes are settings, which nobody can change here.
    if (line.starts_with("Possible solutions")) break;
    if (!line.empty()) words += (words.empty() ? "" : " ") + std::string(line);
  }
  return {ErrorKind::kUsage, std::move(words)};
}

std::string SecondsText(double seconds) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), seconds);
  return std::string(text.data(), end.ptr) + " s";
}

Error UsageError(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }

std::string Quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Returns a name whose quotes stand twice, for Quoted().
std::string Doubled(std::string_view name) {
  std::string doubled;
  for (const char c : name) doubled.append(c == '"' ? 2 : 1, c);
  return doubled;
}

// Returns the statement that makes the view of a table: ids of texts become texts, too.
std::string ViewOf(std::string_view schema, const QueryTable& table, const std::string& function) {
  std::string columns, joins;
  int number = 0;
  for (const QueryColumn& column : table.columns()) {
    if (column.names.empty()) {
      columns += (columns.empty() ? "t." : ", t.") + Quoted(column.name);
      continue;
    }
    const std::string alias = "n" + std::to_string(number++);
    const std::string plain = TextOfId(column.name);
    columns += (columns.empty() ? "" : ", ") + alias + ".name as " + Quoted(plain) + ", t." +
               Quoted(column.name);
    joins += " left join " + std::string(column.names) + " " + alias + " on " + alias + ".id = t." +
             Quoted(column.name);
  }
  return "create view " + Quoted(schema) + "." + Quoted(table.name()) + " as select " + columns +
         " from " + function + "() t" + joins;
}

}  // namespace

Error QueryDatabase::Open(const DatabaseOptions& options,
                          std::unique_ptr<QueryDatabase>* database) {
  const duckdb::Api* api = nullptr;
  if (Error error = duckdb::Open(options.library, &api)) return error;
  if (api->vector_size() != QueryChunk::kRows)
    return UsageError("this DuckDB has vectors of " + std::to_string(api->vector_size()) +
                      " rows; take a library that DuckDB published");
  std::unique_ptr<QueryDatabase> made(new QueryDatabase(api, options.seconds));
  const duckdb::Api& duck = *made->api_;
  int threads = options.threads;
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  duckdb::Handle config = nullptr;
  duck.create_config(&config);
  // The folder of temporary files comes before access to files is taken away.
  std::vector<std::pair<const char*, std::string>> settings = {
      {"temp_directory", ""},
      {"threads", std::to_string(threads)},
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"allow_community_extensions", "false"},
      {"enable_external_access", options.writes ? "true" : "false"}};
  if (options.memory_bytes != 0)
    settings.emplace_back("memory_limit", std::to_string(options.memory_bytes) + "B");
  for (const auto& [name, value] : settings) duck.set_config(config, name, value.c_str());
  char* said = nullptr;
  const duckdb::State opened = duck.open_ext(nullptr, &made->database_, config, &said);
  duck.destroy_config(&config);
  if (opened != 0 || duck.connect(made->database_, &made->connection_) != 0) {
    const std::string reason = said != nullptr ? said : "no reason was given";
    if (said != nullptr) duck.free(said);
    return UsageError("DuckDB cannot start: " + reason);
  }
  *database = std::move(made);
  return {};
}

QueryDatabase::~QueryDatabase() {
  if (connection_ != nullptr) api_->disconnect(&connection_);
  if (database_ != nullptr) api_->close(&database_);
}

Error QueryDatabase::Execute(const std::string& sql) {
  duckdb::Result result;
  Error error;
  if (api_->query(connection_, sql.c_str(), &result) != 0)
    error = UsageError(std::string("DuckDB: ") + api_->result_error(&result));
  api_->destroy_result(&result);
  return error;
}

Error QueryDatabase::Register(const std::string& name, QueryTable* table) {
  duckdb::Handle function = api_->create_table_function();
  api_->table_function_set_name(function, name.c_str());
  api_->table_function_set_extra_info(function, table, [](void*) {});
  api_->table_function_set_bind(function, Bind);
  api_->table_function_set_init(function, Init);
  api_->table_function_set_local_init(function, InitThread);
  api_->table_function_set_function(function, Read);
  api_->table_function_supports_projection_pushdown(function, true);
  const duckdb::State state = api_->register_table_function(connection_, function);
  api_->destroy_table_function(&function);
  return state == 0 ? Error() : UsageError("DuckDB does not take the table " + table->name());
}

Error QueryDatabase::Add(std::string_view schema, const QueryTables& tables) {
  if (Error error = Execute("create schema if not exists " + Quoted(schema))) return error;
  for (const std::unique_ptr<QueryTable>& table : tables) {
    const std::string function = "gpuprof_" + std::string(schema) + "_" + table->name();
    if (Error error = Register(function, table.get())) return error;
    if (Error error = Execute(ViewOf(schema, *table, function))) return error;
  }
  return {};
}

Error QueryDatabase::Lock() { return Execute("set lock_configuration = true"); }

Error QueryDatabase::Select(const std::string& sql, duckdb::Result* result) {
  duckdb::Handle statements = nullptr, prepared = nullptr;
  const uint64_t count = api_->extract_statements(connection_, sql.c_str(), &statements);
  Error error;
  *result = {};
  if (count == 0) {
    const char* const said = api_->extract_statements_error(statements);
    error = ErrorOf(said != nullptr ? said : "there is no statement; give one SELECT");
  } else if (count > 1) {
    error = UsageError("there are " + std::to_string(count) + " statements; give one SELECT");
  } else if (api_->prepare_extracted_statement(connection_, statements, 0, &prepared) != 0) {
    error = ErrorOf(api_->prepare_error(prepared));
  } else if (const int type = api_->prepared_statement_type(prepared);
             type != duckdb::kSelect && type != duckdb::kExplain) {
    error = UsageError("only SELECT and EXPLAIN are run: tables cannot be changed");
  } else if (api_->execute_prepared_streaming(prepared, result) != 0) {
    error = ErrorOf(api_->result_error(result));
  }
  if (prepared != nullptr) api_->destroy_prepare(&prepared);
  if (statements != nullptr) api_->destroy_extracted(&statements);
  return error;
}

Error QueryDatabase::AddViews(std::span<const QueryView> views) {
  for (const QueryView& view : views)
    if (Error error = Execute(StatementOf(view))) return error;
  return {};
}

Error QueryDatabase::Keep(const std::string& select, const std::string& name) {
  return Execute("create temp table \"" + name + "\" as " + select);
}

Error QueryDatabase::Copy(const std::string& select, const std::string& path, uint64_t* rows) {
  std::string quoted;
  for (const char c : path) quoted.append(c == '\'' ? 2 : 1, c);
  const std::string sql = "copy (" + select + ") to '" + quoted +
                          "' (format parquet, parquet_version v2, compression zstd, "
                          "use_tmp_file false)";
  duckdb::Result result;
  Error error;
  if (api_->query(connection_, sql.c_str(), &result) != 0) {
    error = ErrorOf(api_->result_error(&result));
    error.kind = ErrorKind::kUnreadable;
  } else {
    *rows = api_->rows_changed(&result);
  }
  api_->destroy_result(&result);
  return error;
}

Error QueryDatabase::Run(const std::string& sql, QuerySink* sink) {
  Error error = RunAnyTime(sql, sink);
  if (error.message.starts_with("Out of Memory Error"))
    error.message =
        "the query needs more memory than it may have; ask for fewer rows, or allow more";
  return error;
}

Error QueryDatabase::RunAnyTime(const std::string& sql, QuerySink* sink) {
  if (seconds_ <= 0) return RunInTime(sql, sink);
  const Deadline deadline(seconds_, [this] { api_->interrupt(connection_); });
  Error error = RunInTime(sql, sink);
  if (error && deadline.is_over())
    error.message = "the query took longer than " + SecondsText(seconds_) +
                    "; ask for fewer rows, or allow more time";
  return error;
}

Error QueryDatabase::RunInTime(const std::string& sql, QuerySink* sink) {
  duckdb::Result result;
  // Learns the types first: what this program cannot read, DuckDB makes a text.
  std::string inner = sql.substr(0, sql.find_last_not_of("; \t\r\n") + 1);
  std::vector<int> types;
  std::string casts;
  bool is_plain = true;
  if (!Select("select * from (" + inner + "\n) limit 0", &result)) {
    for (uint64_t i = 0; i < api_->column_count(&result); ++i) {
      types.push_back(api_->column_type(&result, i));
      is_plain &= IsPlain(types.back());
      casts += (i == 0 ? "#" : ", #") + std::to_string(i + 1);
      if (!IsPlain(types.back()))
        casts += "::varchar as " + Quoted(Doubled(api_->column_name(&result, i)));
    }
  }
  api_->destroy_result(&result);
  // A statement that is no part of another one (EXPLAIN), or that is wrong, runs as it is: then the
  // error is about the user's own words.
  const bool has_casts = !types.empty() && !is_plain;
  Error error = Select(has_casts ? "select " + casts + " from (" + inner + "\n)" : sql, &result);
  if (!error) error = Fetch(types, &result, sink);
  api_->destroy_result(&result);
  return error;
}

Error QueryDatabase::Fetch(const std::vector<int>& types, duckdb::Result* result, QuerySink* sink) {
  std::vector<std::string> names;
  std::vector<int> read_as;
  for (uint64_t i = 0; i < api_->column_count(result); ++i) {
    names.emplace_back(api_->column_name(result, i));
    read_as.push_back(api_->column_type(result, i));
  }
  sink->Begin(names);
  std::vector<QueryValue> values(names.size());
  bool goes_on = true, is_over = false;
  while (goes_on) {
    duckdb::Handle chunk = api_->fetch_chunk(*result);
    is_over = chunk == nullptr;
    if (is_over) break;
    const uint64_t rows = api_->data_chunk_get_size(chunk);
    for (uint64_t row = 0; row < rows && goes_on; ++row) {
      for (size_t column = 0; column < names.size(); ++column) {
        const duckdb::Handle vector = api_->data_chunk_get_vector(chunk, column);
        const uint64_t* const valid = api_->vector_get_validity(vector);
        const bool is_null = valid != nullptr && (valid[row / 64] >> row % 64 & 1) == 0;
        QueryValue& value = values[column];
        value =
            is_null ? QueryValue() : ValueOf(read_as[column], api_->vector_get_data(vector), row);
        const bool is_decimal = column < types.size() && types[column] == duckdb::kDecimal;
        if (is_decimal && !is_null) value.kind = QueryValue::Kind::kNumber;
      }
      goes_on = sink->Row(values);
      if (!goes_on) sink->Rest(rows - row - 1);
    }
    api_->destroy_data_chunk(&chunk);
  }
  while (!is_over && sink->CountsRest()) {
    duckdb::Handle chunk = api_->fetch_chunk(*result);
    if (chunk == nullptr) break;
    sink->Rest(api_->data_chunk_get_size(chunk));
    api_->destroy_data_chunk(&chunk);
  }
  // Rows come while the query runs, and so do its errors.
  const char* const said = api_->result_error(result);
  return said != nullptr && *said != '\0' ? ErrorOf(said) : Error();
}

}  // namespace gpuprof::analysis
