// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sqlite_file.h.

#include "analysis/import/sqlite_file.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

using std::string_view_literals::operator""sv;

// The longest row. Texts of programs are far shorter.
constexpr int kMostRowBytes = 256 << 20;
constexpr size_t kMostTables = 4096;
constexpr int kStepsAtOnce = 100'000;

// The bytes of a database as SQLite sees them: a file on a medium that cannot be written.
struct ReadOnlyFile {
  sqlite3_file base;
  const RandomBytes* bytes;
};

int Close(sqlite3_file*) { return SQLITE_OK; }

int Read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  const RandomBytes& from = *reinterpret_cast<ReadOnlyFile*>(file)->bytes;
  const auto most = static_cast<size_t>(bytes);
  const Result<size_t> got = from.ReadAt(static_cast<uint64_t>(at), static_cast<char*>(to), most);
  if (!got.ok()) return SQLITE_IOERR_READ;
  if (*got == most) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + *got, 0, most - *got);
  return SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
int Truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
int Sync(sqlite3_file*, int) { return SQLITE_OK; }

int FileSize(sqlite3_file* file, sqlite3_int64* bytes) {
  *bytes = static_cast<sqlite3_int64>(reinterpret_cast<ReadOnlyFile*>(file)->bytes->size());
  return SQLITE_OK;
}

int Lock(sqlite3_file*, int) { return SQLITE_OK; }
int IsReserved(sqlite3_file*, int* is_reserved) {
  *is_reserved = 0;
  return SQLITE_OK;
}
int Control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorBytes(sqlite3_file*) { return 4096; }
int Kind(sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; }

constexpr sqlite3_io_methods kMethods = {
    1,       Close,       Read, Write,   Truncate, Sync,    FileSize, Lock,    Lock,   IsReserved,
    Control, SectorBytes, Kind, nullptr, nullptr,  nullptr, nullptr,  nullptr, nullptr};

// There is no file but the database: no journal, and none for parts of large answers.
int OpenMain(sqlite3_vfs* vfs, const char*, sqlite3_file* file, int flags, int* opened) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  auto* const own = new (file) ReadOnlyFile;
  own->base.pMethods = &kMethods;
  own->bytes = static_cast<const RandomBytes*>(vfs->pAppData);
  if (opened != nullptr) *opened = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; }
int Exists(sqlite3_vfs*, const char*, int, int* exists) {
  *exists = 0;
  return SQLITE_OK;
}
int FullName(sqlite3_vfs*, const char* name, int room, char* to) {
  sqlite3_snprintf(room, to, "%s", name);
  return SQLITE_OK;
}
int Random(sqlite3_vfs*, int bytes, char* to) {
  std::memset(to, 0, static_cast<size_t>(bytes));
  return bytes;
}
int Sleep(sqlite3_vfs*, int) { return 0; }
int Now(sqlite3_vfs*, double* day) {
  *day = 0;
  return SQLITE_OK;
}
int LastError(sqlite3_vfs*, int, char*) { return 0; }

std::string Quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

}  // namespace

bool BeginsAsSqlite(std::string_view bytes) { return bytes.starts_with("SQLite format 3\0"sv); }

bool SqliteRows::Next() {
  if (table_) {
    if (table_->Next()) return true;
    if (!table_->error().empty() && !error_) error_ = Unreadable(name_ + ": " + table_->error());
    return false;
  }
  if (statement_ == nullptr) return false;
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) {
    error_ = Unreadable(name_ + ": " +
                        (status == SQLITE_INTERRUPT
                             ? "its pages lead in circles"
                             : sqlite3_errmsg(sqlite3_db_handle(statement_.get()))));
  }
  statement_.reset();
  return false;
}

std::optional<int64_t> SqliteRows::WholeOf(double value) {
  constexpr double kLimit = 9.2e18;
  if (!(value > -kLimit && value < kLimit)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<std::string_view> SqliteRows::Text(size_t column) const {
  if (!Has(column)) return std::nullopt;
  const int at = place_[column];
  if (table_) {
    const auto place = static_cast<size_t>(at);
    if (table_->TypeOf(place) != SqliteTable::Type::kText) return std::nullopt;
    return table_->Text(place);
  }
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_TEXT) return std::nullopt;
  const auto* const text = sqlite3_column_text(statement_.get(), at);
  if (text == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(text),
                          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), at)));
}

SqliteFile::SqliteFile(std::unique_ptr<RandomBytes> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  // Names of file systems are the process's: the address tells this object's from others.
  char text[64];
  sqlite3_snprintf(sizeof text, text, "gpuprof-%p", static_cast<void*>(this));
  vfs_name_ = text;
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(ReadOnlyFile);
  vfs_.mxPathname = 64;
  vfs_.zName = vfs_name_.c_str();
  vfs_.pAppData = bytes_.get();
  vfs_.xOpen = OpenMain;
  vfs_.xDelete = Delete;
  vfs_.xAccess = Exists;
  vfs_.xFullPathname = FullName;
  vfs_.xRandomness = Random;
  vfs_.xSleep = Sleep;
  vfs_.xCurrentTime = Now;
  vfs_.xGetLastError = LastError;
}

SqliteFile::~SqliteFile() {
  sqlite3_close(database_);
  sqlite3_vfs_unregister(&vfs_);
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::Open(std::unique_ptr<RandomBytes> bytes,
                                                     std::string name) {
  std::unique_ptr<SqliteFile> file(new SqliteFile(std::move(bytes), std::move(name)));
  if (Error error = file->Start()) return error;
  file->pages_ = SqlitePages::Of(*file->bytes_);
  if (Error error = file->ListTables()) return error;
  return file;
}

Error SqliteFile::Failure() const {
  return Unreadable(name_ + ": the SQLite database cannot be read: " +
                    (database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_)));
}

// Counts what SQLite's machine does. Pages that lead in circles would keep it busy for ever.
int SqliteFile::CountSteps(void* file) {
  uint64_t& left = static_cast<SqliteFile*>(file)->steps_left_;
  if (left < kStepsAtOnce) return 1;
  left -= kStepsAtOnce;
  return 0;
}

Error SqliteFile::Start() {
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK ||
      sqlite3_open_v2("database", &database_, kFlags, vfs_name_.c_str()) != SQLITE_OK)
    return Failure();
  constexpr int kOff[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                          SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_TRUSTED_SCHEMA};
  for (const int option : kOff) sqlite3_db_config(database_, option, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kMostRowBytes);
  sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database_, SQLITE_LIMIT_WORKER_THREADS, 0);
  // A row takes about as many steps as it has columns, and no column takes less than a byte.
  constexpr uint64_t kStepsOfByte = 8, kStepsAtLeast = 10'000'000;
  steps_left_ = bytes_->size() * kStepsOfByte + kStepsAtLeast;
  sqlite3_progress_handler(database_, kStepsAtOnce, CountSteps, this);
  constexpr char kSettings[] =
      "PRAGMA cell_size_check=ON; PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY;";
  if (sqlite3_exec(database_, kSettings, nullptr, nullptr, nullptr) != SQLITE_OK) return Failure();
  return {};
}

Error SqliteFile::ListTables() {
  constexpr char kList[] =
      "SELECT name FROM pragma_table_list WHERE schema='main' AND type='table'";
  SqliteRows rows;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, kList, -1, &statement, nullptr) != SQLITE_OK) return Failure();
  rows.statement_.reset(statement);
  rows.name_ = name_;
  while (rows.Next() && tables_.size() < kMostTables)
    if (const auto name = rows.Text(0)) tables_.emplace(*name);
  return rows.error();
}

// Leaves out columns that the database computes.
SqliteFile::Columns SqliteFile::ColumnsOf(std::string_view table) const {
  enum Column { kName, kHidden, kDefault, kKey, kType };
  constexpr char kList[] =
      "SELECT name, hidden, dflt_value, pk, lower(type) FROM pragma_table_xinfo(?1)";
  constexpr int64_t kShown = 0;
  Columns columns;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, kList, -1, &statement, nullptr) != SQLITE_OK) return columns;
  SqliteRows rows;
  rows.statement_.reset(statement);
  for (int8_t i = 0; i <= kType; ++i) rows.place_[static_cast<size_t>(i)] = i;
  sqlite3_bind_text(statement, 1, table.data(), static_cast<int>(table.size()), SQLITE_STATIC);
  int place = 0, keys = 0;
  while (rows.Next()) {
    const std::optional<std::string_view> name = rows.Text(kName);
    const bool is_shown = rows.NumberOr(kHidden, kShown) == kShown;
    // A row that is older than its column has the column's default.
    if (!is_shown || rows.Text(kDefault)) columns.is_plain = false;
    if (name && is_shown) columns.places.emplace(*name, place);
    if (rows.NumberOr(kKey, 0) != 0) {
      ++keys;
      columns.row_id = rows.Text(kType) == "integer" ? place : -1;
    }
    ++place;
  }
  if (keys > 1) columns.row_id = -1;
  return columns;
}

uint32_t SqliteFile::RootOf(std::string_view table) const {
  if (!pages_) return 0;
  constexpr char kList[] =
      "SELECT s.rootpage FROM sqlite_schema s, pragma_table_list l WHERE s.type='table' AND "
      "s.name=?1 AND l.schema='main' AND l.name=s.name AND l.type='table' AND l.wr=0";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, kList, -1, &statement, nullptr) != SQLITE_OK) return 0;
  SqliteRows rows;
  rows.statement_.reset(statement);
  sqlite3_bind_text(statement, 1, table.data(), static_cast<int>(table.size()), SQLITE_STATIC);
  const int64_t root = rows.Next() ? rows.NumberOr(0, 0) : 0;
  return root > 0 && root <= UINT32_MAX ? static_cast<uint32_t>(root) : 0;
}

bool SqliteFile::HasColumn(std::string_view table, std::string_view column) const {
  if (!HasTable(table)) return false;
  const Columns columns = ColumnsOf(table);
  return columns.places.find(column) != columns.places.end();
}

SqliteRows SqliteFile::Read(std::string_view table,
                            std::span<const std::string_view> columns) const {
  SqliteRows rows;
  rows.name_ = name_ + ", table " + std::string(table);
  if (!HasTable(table)) return rows;
  const Columns known = ColumnsOf(table);
  rows.place_.fill(-1);
  std::string query = "SELECT ";
  int8_t asked = 0;
  int last = 0;
  std::array<int8_t, SqliteRows::kMostColumns> stored{};
  stored.fill(-1);
  for (size_t i = 0; i < std::min(columns.size(), SqliteRows::kMostColumns); ++i) {
    const auto place = known.places.find(columns[i]);
    if (place == known.places.end()) continue;
    query += (asked == 0 ? "" : ",") + Quoted(columns[i]);
    rows.place_[i] = asked++;
    stored[i] = static_cast<int8_t>(std::min<int>(place->second, INT8_MAX));
    last = std::max(last, place->second);
  }
  if (asked == 0) return rows;
  const uint32_t root = known.is_plain && last < INT8_MAX ? RootOf(table) : 0;
  if (root != 0) {
    rows.place_ = stored;
    rows.row_id_place_ = known.row_id;
    rows.table_.emplace(bytes_.get(), *pages_, root, static_cast<size_t>(last));
    return rows;
  }
  // No index is used: an index may say other things than its table.
  query += " FROM " + Quoted(table) + " NOT INDEXED";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    rows.error_ = Unreadable(rows.name_ + ": " + sqlite3_errmsg(database_));
  rows.statement_.reset(statement);
  return rows;
}

}  // namespace gpuprof::analysis::import
