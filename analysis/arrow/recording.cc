// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See recording.h.

#include "analysis/arrow/recording.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/arrow/dictionary.h"
#include "analysis/arrow/table_batches.h"
#include "analysis/model/row_store.h"
#include "analysis/model/trace.h"
#include "analysis/query/trace_tables.h"

namespace gpuprof::analysis::arrow {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kStatsPrefix = "stats.";

Error UsageError(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }

// Returns whether a statement may read results of passes.
bool NamesResults(std::string sql) {
  for (char& c : sql) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return sql.find(kStatsSchema) != std::string::npos;
}

std::string TypeName(const Field& field) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {{"b", "bool"},    {"l", "int64"},
                                                                 {"L", "uint64"},  {"I", "uint32"},
                                                                 {"g", "float64"}, {"u", "utf8"}};
  if (field.has_dictionary) return "dictionary<int32, utf8>";
  for (const auto& [format, name] : kNames)
    if (field.format == format) return name;
  return field.format;
}

std::vector<size_t> AllOf(const QueryTable& table) {
  std::vector<size_t> all(table.columns().size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// Reads a pair of numbers, [first, last].
template <typename T>
bool ReadPair(const Json& value, std::optional<std::pair<T, T>>* to) {
  if (!value.is_array() || value.size() != 2) return false;
  *to = {value[0].get<T>(), value[1].get<T>()};
  return true;
}

// Sets one option of a pass. Returns false if its value is of another kind.
bool SetOption(const std::string& name, const Json& value, PassOptions* options, bool* is_known) {
  *is_known = true;
  const std::pair<const char*, std::string PassOptions::*> kTexts[] = {
      {"by", &PassOptions::by},           {"step_marker", &PassOptions::step_marker},
      {"symfs", &PassOptions::symfs},     {"under_range", &PassOptions::under_range},
      {"program", &PassOptions::program}, {"op", &PassOptions::op}};
  for (const auto& [key, member] : kTexts) {
    if (name != key) continue;
    options->*member = value.get<std::string>();
    return true;
  }
  if (name == "pid") {
    options->pid = value.get<int32_t>();
  } else if (name == "symbolize") {
    options->symbolize = value.get<bool>();
  } else if (name == "window") {
    return ReadPair(value, &options->window);
  } else if (name == "steps") {
    return ReadPair(value, &options->steps);
  } else if (name == "devices") {
    options->devices = value.get<std::vector<uint32_t>>();
  } else if (name == "memory_space") {
    options->memory_space = value.get<int64_t>();
  } else if (name == "depth") {
    options->depth = value.get<uint32_t>();
  } else {
    *is_known = false;
  }
  return true;
}

Error ReadOptions(std::string_view text, PassOptions* options) {
  if (text.empty()) return {};
  const Json given = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!given.is_object()) return UsageError("the options are not a JSON object");
  for (const auto& [name, value] : given.items()) {
    bool is_known = false, is_right = false;
    try {
      is_right = SetOption(name, value, options, &is_known);
    } catch (const Json::exception&) {
      is_right = false;
    }
    if (!is_known)
      return UsageError("no pass has the option '" + OneLine(name) +
                        "'; there are: by, pid, step_marker, window, steps, "
                        "devices, symbolize, symfs, under_range, program, op, depth, memory_space");
    if (!is_right)
      return UsageError("the option " + name + " cannot be " + OneLine(value.dump()) +
                        "; 'gpuprof help stats' lists its values");
  }
  return {};
}

}  // namespace

// A trace that is open, with its tables and what their reading keeps.
class OpenTables : public std::enable_shared_from_this<OpenTables> {
 public:
  OpenTables(const std::shared_ptr<const Trace>& trace, const PassOptions& options, int threads)
      : trace_(trace), tables_(trace, options), threads_(threads) {}

  const Trace& trace() const { return *trace_; }
  const TraceTables& tables() const { return tables_; }
  const QueryTables& list(bool is_result) const {
    return is_result ? tables_.stats() : tables_.main();
  }

  Reading ReadingOf(QueryTable* table) {
    Reading reading;
    reading.owner = shared_from_this();
    reading.threads = threads_;
    reading.check = [this] { return Check(); };
    reading.dictionary = [this, table](size_t column, std::shared_ptr<const Dictionary>* made) {
      return DictionaryOf(table, column, made);
    };
    return reading;
  }

 private:
  Error Check() const {
    if (trace_->row_store == nullptr || !trace_->row_store->IsDamaged()) return {};
    return {ErrorKind::kUnreadable, "rows of the recording cannot be read; 'gpuprof verify " +
                                        ShellWord(trace_->path) + "' says where it is damaged"};
  }
  Error DictionaryOf(QueryTable* table, size_t column, std::shared_ptr<const Dictionary>* made) {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard lock(mutex_);
      std::shared_ptr<Slot>& kept = dictionaries_[{table, column}];
      if (kept == nullptr) kept = std::make_shared<Slot>();
      slot = kept;
    }
    const std::lock_guard lock(slot->mutex);
    if (slot->dictionary == nullptr) {
      if (Error error =
              Dictionary::Make(table, column, tables_.names(), threads_, &slot->dictionary))
        return error;
    }
    *made = slot->dictionary;
    return {};
  }

  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Dictionary> dictionary;
  };

  std::shared_ptr<const Trace> trace_;
  TraceTables tables_;
  int threads_;
  std::mutex mutex_;
  std::map<std::pair<const QueryTable*, size_t>, std::shared_ptr<Slot>> dictionaries_;
};

namespace {

PassOptions PassOptionsOf(const RecordingOptions& options) {
  PassOptions pass;
  pass.symbolize = options.symbolize;
  pass.symfs = options.symfs;
  return pass;
}

Error OpenTrace(const std::string& path, const RecordingOptions& options, bool lazy,
                std::shared_ptr<OpenTables>* tables) {
  OpenOptions how;
  how.lazy = lazy;
  how.threads = options.threads;
  std::shared_ptr<const Trace> trace;
  if (Error error = analysis::Open(InputPath(path), how, &trace)) return error;
  *tables = std::make_shared<OpenTables>(trace, PassOptionsOf(options), options.threads);
  return {};
}

void DescribeTables(const QueryTables& tables, std::string_view prefix, Json* to) {
  for (const std::unique_ptr<QueryTable>& table : tables) {
    Json columns = Json::array();
    const Field field = FieldOf(*table, table->IsOfEvents(), AllOf(*table));
    for (const Field& child : field.children)
      columns.push_back({{"name", child.name},
                         {"type", TypeName(child)},
                         {"unit", child.metadata.empty() ? "" : child.metadata[0].second}});
    to->push_back({{"name", std::string(prefix) + table->name()},
                   {"rows", table->meaning()},
                   {"columns", std::move(columns)}});
  }
}

// Returns the places of columns by their names; all if none is named.
Error PlacesOf(const QueryTable& table, const std::vector<std::string>& names,
               std::vector<size_t>* places) {
  if (names.empty()) *places = AllOf(table);
  for (const std::string& name : names) {
    size_t place = 0;
    while (place < table.columns().size() && ArrowName(table.columns()[place]) != name) ++place;
    if (place == table.columns().size()) {
      std::string known;
      for (const QueryColumn& column : table.columns())
        known += (known.empty() ? "" : ", ") + ArrowName(column);
      return UsageError("the table " + table.name() + " has no column '" + OneLine(name) +
                        "'; there are: " + known);
    }
    places->push_back(place);
  }
  return {};
}

}  // namespace

Recording::~Recording() = default;

Error Recording::Open(const std::string& path, const RecordingOptions& options,
                      std::unique_ptr<Recording>* recording) {
  std::unique_ptr<Recording> made(new Recording(path, options));
  if (Error error = OpenTrace(path, options, /*lazy=*/true, &made->tables_)) return error;
  *recording = std::move(made);
  return {};
}

std::string Recording::TablesJson() const {
  Json tables = Json::array();
  DescribeTables(tables_->tables().main(), "", &tables);
  DescribeTables(tables_->tables().stats(), kStatsPrefix, &tables);
  return tables.dump();
}

std::string Recording::FaultsJson() const {
  Json faults = Json::array();
  for (const std::string& fault : FactsOf(tables_->trace()).faults) faults.push_back(fault);
  return faults.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error Recording::Whole(std::shared_ptr<OpenTables>* tables) {
  if (tables_->trace().row_store == nullptr) whole_ = tables_;
  if (whole_ == nullptr) {
    if (Error error = OpenTrace(path_, options_, /*lazy=*/false, &whole_)) return error;
  }
  *tables = whole_;
  return {};
}

Error Recording::Find(std::string_view table, std::shared_ptr<OpenTables>* tables, size_t* place,
                      bool* is_result) {
  *is_result = table.starts_with(kStatsPrefix);
  const std::string_view name = *is_result ? table.substr(kStatsPrefix.size()) : table;
  const QueryTables& list = tables_->list(*is_result);
  for (*place = 0; *place < list.size(); ++*place)
    if (list[*place]->name() == name) break;
  if (*place == list.size()) {
    std::string known;
    for (const std::unique_ptr<QueryTable>& each : tables_->list(false))
      known += (known.empty() ? "" : ", ") + each->name();
    return UsageError("there is no table '" + OneLine(table) + "'; there are: " + known +
                      ", and stats.PASS for each pass");
  }
  *tables = tables_;
  return *is_result ? Whole(tables) : Error();
}

Error Recording::Count(std::string_view table, uint64_t* rows) {
  std::shared_ptr<OpenTables> tables;
  size_t place = 0;
  bool is_result = false;
  const std::lock_guard lock(mutex_);
  if (Error error = Find(table, &tables, &place, &is_result)) return error;
  QueryTable& found = *tables->list(is_result)[place];
  if (!found.IsOfEvents()) {
    // The rows of a small table are made when they are first read.
    std::unique_ptr<TableScan> scan;
    if (Error error = found.Begin({}, &scan)) return error;
  }
  *rows = found.rows();
  return {};
}

Error Recording::Read(std::string_view table, const std::vector<std::string>& columns,
                      std::unique_ptr<BatchSource>* batches) {
  std::shared_ptr<OpenTables> tables;
  size_t place = 0;
  bool is_result = false;
  const std::lock_guard lock(mutex_);
  if (Error error = Find(table, &tables, &place, &is_result)) return error;
  QueryTable* const found = tables->list(is_result)[place].get();
  std::vector<size_t> places;
  if (Error error = PlacesOf(*found, columns, &places)) return error;
  *batches =
      MakeTableBatches(found, found->IsOfEvents(), std::move(places), tables->ReadingOf(found));
  return {};
}

Error Recording::Result(std::string_view pass, std::string_view options_json, std::string* json) {
  PassOptions options = PassOptionsOf(options_);
  if (Error error = ReadOptions(options_json, &options)) return error;
  OpenOptions how;
  how.threads = options_.threads;
  how.tables = TablesOf(pass, options);
  how.sums_above_rows = SumsAbove(pass, options);
  std::shared_ptr<const Trace> trace;
  const std::lock_guard lock(mutex_);
  if (Error error = analysis::Open(InputPath(path_), how, &trace)) return error;
  std::unique_ptr<google::protobuf::Message> result;
  if (Error error = analysis::Run(pass, *trace, options, &result)) return error;
  *json = Render(*result, Format::kJson, options, 0);
  return {};
}

Error Recording::Query(const std::string& sql, const std::string& library,
                       std::shared_ptr<const QueryRows>* rows) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<OpenTables> tables = tables_;
  if (NamesResults(sql)) {
    if (Error error = Whole(&tables)) return error;
  }
  QueryDatabase* database = nullptr;
  if (Error error = DatabaseOf(*tables, library, &database)) return error;
  return QueryRows::Run(database, sql, rows);
}

Error Recording::DatabaseOf(const OpenTables& tables, const std::string& library,
                            QueryDatabase** database) {
  std::unique_ptr<QueryDatabase>& kept = databases_[&tables];
  if (kept == nullptr) {
    std::unique_ptr<QueryDatabase> made;
    DatabaseOptions how;
    how.library = library;
    how.threads = options_.threads;
    if (Error error = QueryDatabase::Open(how, &made)) return error;
    if (Error error = tables.tables().AddTo(made.get())) return error;
    if (Error error = made->Lock()) return error;
    kept = std::move(made);
  }
  *database = kept.get();
  return {};
}

}  // namespace gpuprof::analysis::arrow
