// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportSqlite: the tables of `gpuprof query` as a database of SQLite. A table whose rows have ids
// of texts is stored as NAME_rows, and the view NAME adds the texts. Tables of results are called
// stats_NAME. SQLite has no unsigned numbers of 64 bits: those above 2^63 become real.
//
// SQLite writes a file that has no name, next to the one that the user named. Its bytes go to the
// sink. So nothing is left if the command is killed, and little memory is needed.

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "analysis/export/export_window.h"
#include "analysis/export/tool_formats.h"
#include "analysis/query/query_table.h"
#include "analysis/query/trace_tables.h"

namespace gpuprof::analysis {
namespace {

// One column of a chunk, in place of DuckDB's vectors.
struct Vector {
  alignas(16) std::array<char, QueryChunk::kRows * sizeof(duckdb::Text)> values;
  std::array<uint64_t, QueryChunk::kRows / 64> valid;
};

using Vectors = std::vector<std::unique_ptr<Vector>>;

// A chunk that tables fill without DuckDB.
class OwnChunk : public QueryChunk {
 public:
  explicit OwnChunk(Vectors* vectors) : vectors_(*vectors) {}

  void SetNull(size_t place, size_t row) override {
    vectors_[place]->valid[row / 64] &= ~(uint64_t{1} << row % 64);
  }

 protected:
  void* Data(size_t place) override { return vectors_[place]->values.data(); }

 private:
  Vectors& vectors_;
};

std::string SqlName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

const char* TypeWord(ValueType type) {
  switch (type) {
    case ValueType::kReal:
      return "REAL";
    case ValueType::kText:
      return "TEXT";
    default:
      return "INTEGER";
  }
}

std::string Failed(const std::string& path, const std::string& why) {
  return "A temporary file next to " + path + " cannot be written: " + why +
         "; name a file in another folder with -o FILE.";
}

// A database in a file without a name.
class Database {
 public:
  ~Database() {
    sqlite3_close(database_);
    if (fd_ >= 0) close(fd_);
  }

  Error Open(const std::string& near) {
    near_ = near;
    const size_t slash = near.rfind('/');
    std::string path =
        (slash == std::string::npos ? "./" : near.substr(0, slash + 1)) + ".gpuprof-XXXXXX";
    fd_ = mkostemp(path.data(), O_CLOEXEC);
    if (fd_ < 0) return {ErrorKind::kUnreadable, Failed(near, std::strerror(errno))};
    const int opened = sqlite3_open_v2(path.c_str(), &database_,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    unlink(path.c_str());
    if (opened != SQLITE_OK) return Failure();
    // A journal would be a file with a name.
    return Run(
        "pragma journal_mode=off; pragma synchronous=off; pragma locking_mode=exclusive; "
        "pragma page_size=8192; pragma cache_size=-65536; begin");
  }

  Error Run(const std::string& sql) {
    return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK ? Error{}
                                                                                        : Failure();
  }

  Error Prepare(const std::string& sql, sqlite3_stmt** statement) {
    return sqlite3_prepare_v2(database_, sql.c_str(), -1, statement, nullptr) == SQLITE_OK
               ? Error{}
               : Failure();
  }

  Error Failure() const {
    return {ErrorKind::kUnreadable, Failed(near_, sqlite3_errmsg(database_))};
  }

  // Hands on the bytes of the file. Called last.
  Error Send(Sink sink, void* context) {
    if (Error error = Run("commit")) return error;
    if (sqlite3_close(database_) != SQLITE_OK) return Failure();
    database_ = nullptr;
    std::vector<char> piece(1 << 20);
    for (off_t at = 0;;) {
      const ssize_t got = pread(fd_, piece.data(), piece.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return {ErrorKind::kUnreadable, Failed(near_, std::strerror(errno))};
      if (got == 0 || !sink(context, {piece.data(), static_cast<size_t>(got)})) return {};
      at += got;
    }
  }

 private:
  std::string near_;
  int fd_ = -1;
  sqlite3* database_ = nullptr;
};

class TableWriter {
 public:
  TableWriter(Database* database, ToolReport* report) : database_(*database), report_(*report) {}

  // Writes a table. A pass that has no result leaves its tables empty, and is counted.
  Error Write(const std::string& name, QueryTable* table) {
    if (table->columns().empty()) return {};
    bool has_ids = false;
    std::string columns, marks;
    std::vector<size_t> places;
    for (const QueryColumn& column : table->columns()) {
      has_ids = has_ids || !column.names.empty();
      columns += (columns.empty() ? "" : ", ") + SqlName(column.name) + " " + TypeWord(column.type);
      marks += marks.empty() ? "?" : ", ?";
      places.push_back(places.size());
    }
    const std::string stored = has_ids ? name + "_rows" : name;
    if (Error error = database_.Run("create table " + SqlName(stored) + " (" + columns + ")"))
      return error;
    sqlite3_stmt* statement = nullptr;
    if (Error error = database_.Prepare(
            "insert into " + SqlName(stored) + " values (" + marks + ")", &statement))
      return error;
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    std::unique_ptr<TableScan> scan;
    if (const Error error = table->Begin(places, &scan)) {
      ++failed_;
      why_ = error.message;
    } else if (Error stopped = Rows(*table, scan.get(), statement)) {
      return stopped;
    }
    if (Error error = Index(stored, *table)) return error;
    return has_ids ? View(name, stored, *table) : Error{};
  }

  void Finish() {
    if (failed_ == 0) return;
    report_.remark =
        std::to_string(failed_) + (failed_ == 1 ? " table is" : " tables are") + " empty: " + why_;
  }

 private:
  Error Rows(const QueryTable& table, TableScan* scan, sqlite3_stmt* statement) {
    const size_t width = table.columns().size();
    while (vectors_.size() < width) vectors_.push_back(std::make_unique<Vector>());
    TableScan::Share share;
    for (;;) {
      for (size_t i = 0; i < width; ++i) vectors_[i]->valid.fill(~uint64_t{0});
      OwnChunk chunk(&vectors_);
      const size_t rows = scan->Next(&share, &chunk);
      if (rows == 0) return {};
      for (size_t row = 0; row < rows; ++row) {
        for (size_t i = 0; i < width; ++i)
          Bind(table.columns()[i].type, *vectors_[i], row, static_cast<int>(i + 1), statement);
        if (sqlite3_step(statement) != SQLITE_DONE) return database_.Failure();
        sqlite3_reset(statement);
        ++report_.events;
      }
    }
  }

  static void Bind(ValueType type, const Vector& vector, size_t row, int place,
                   sqlite3_stmt* statement) {
    const char* const values = vector.values.data();
    if ((vector.valid[row / 64] >> row % 64 & 1) == 0) {
      sqlite3_bind_null(statement, place);
      return;
    }
    switch (type) {
      case ValueType::kBoolean:
        sqlite3_bind_int64(statement, place, reinterpret_cast<const bool*>(values)[row] ? 1 : 0);
        return;
      case ValueType::kSigned:
        sqlite3_bind_int64(statement, place, reinterpret_cast<const int64_t*>(values)[row]);
        return;
      case ValueType::kUnsigned: {
        const uint64_t value = reinterpret_cast<const uint64_t*>(values)[row];
        if (value > INT64_MAX) {
          sqlite3_bind_double(statement, place, static_cast<double>(value));
        } else {
          sqlite3_bind_int64(statement, place, static_cast<int64_t>(value));
        }
        return;
      }
      case ValueType::kId:
        sqlite3_bind_int64(statement, place, reinterpret_cast<const uint32_t*>(values)[row]);
        return;
      case ValueType::kReal:
        sqlite3_bind_double(statement, place, reinterpret_cast<const double*>(values)[row]);
        return;
      case ValueType::kText: {
        const auto& text = reinterpret_cast<const duckdb::Text*>(values)[row];
        constexpr size_t kInlined = sizeof text.prefix + sizeof text.rest;
        const char* const bytes = text.length <= kInlined ? text.prefix : text.bytes;
        sqlite3_bind_text64(statement, place, bytes, text.length, SQLITE_STATIC, SQLITE_UTF8);
      }
    }
  }

  // Tables are looked up by time, by the call, and by the number of a row.
  Error Index(const std::string& stored, const QueryTable& table) {
    for (const std::string_view wanted : {"start_ns", "time_ns", "correlation", "id"}) {
      for (const QueryColumn& column : table.columns()) {
        if (column.name != wanted) continue;
        if (Error error = database_.Run("create index " + SqlName(stored + "_by_" + column.name) +
                                        " on " + SqlName(stored) + " (" + SqlName(wanted) + ")"))
          return error;
      }
    }
    return {};
  }

  Error View(const std::string& name, const std::string& stored, const QueryTable& table) {
    std::string columns, joins;
    int number = 0;
    for (const QueryColumn& column : table.columns()) {
      if (!columns.empty()) columns += ", ";
      if (!column.names.empty()) {
        const std::string alias = "n" + std::to_string(number++);
        columns +=
            alias + ".name as " + SqlName(column.name.substr(0, column.name.size() - 3)) + ", ";
        joins += " left join " + SqlName(column.names) + " " + alias + " on " + alias + ".id = t." +
                 SqlName(column.name);
      }
      columns += "t." + SqlName(column.name);
    }
    return database_.Run("create view " + SqlName(name) + " as select " + columns + " from " +
                         SqlName(stored) + " t" + joins);
  }

  Database& database_;
  ToolReport& report_;
  Vectors vectors_;
  uint64_t failed_ = 0;
  std::string why_;
};

// Returns the part with the processes of a pid alone. Null: there is no such process.
std::shared_ptr<const Trace> OnlyPid(const Trace& trace, int32_t pid) {
  auto part = std::make_shared<Trace>(trace);
  std::erase_if(part->processes, [&](const Process& process) { return process.pid != pid; });
  for (Process& process : part->processes) process.parent = kNoProcess;
  part->samplers.clear();
  return part->processes.empty() ? nullptr : part;
}

}  // namespace

Error ExportSqlite(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                   ToolReport* report) {
  std::shared_ptr<const Trace> part = PartOf(whole, options);
  if (options.pid != 0) {
    part = OnlyPid(part == nullptr ? whole : *part, options.pid);
    if (part == nullptr)
      return {ErrorKind::kUsage, "The bundle has no process " + std::to_string(options.pid) +
                                     "; `gpuprof info` lists the processes."};
  }
  const Trace& trace = part == nullptr ? whole : *part;
  PassOptions pass_options;
  pass_options.symfs = options.symfs;
  // The caller keeps the trace, or `part` does.
  const TraceTables tables(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace),
                           pass_options);
  Database database;
  if (Error error = database.Open(options.name == "-" ? "" : options.name)) return error;
  TableWriter writer(&database, report);
  for (const std::unique_ptr<QueryTable>& table : tables.main()) {
    if (Error error = writer.Write(table->name(), table.get())) return error;
  }
  for (const std::unique_ptr<QueryTable>& table : tables.stats()) {
    if (Error error = writer.Write("stats_" + table->name(), table.get())) return error;
  }
  writer.Finish();
  return database.Send(sink, context);
}

}  // namespace gpuprof::analysis
