// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See parquet.h.

#include "analysis/export/parquet.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/process_name.h"
#include "analysis/query/trace_tables.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

// What Hive, Spark and DuckDB read as null.
constexpr char kNullPart[] = "__HIVE_DEFAULT_PARTITION__";
// Results that are no rows of figures, or that need a choice.
// The rows of `steps` are in the folders of ranks.
constexpr std::string_view kNoResults[] = {"advise",        "overview", "health",
                                           "critical_path", "programs", "memory_viewer",
                                           "graph_viewer",  "stacks",   "steps"};

// Returns a text as a part of a path: other bytes than these become %XX.
std::string PathPart(std::string_view key, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string part = std::string(key) + "=";
  if (text.empty()) return part + kNullPart;
  for (const char c : text.substr(0, 64)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain)
      part += c;
    else
      part += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return part;
}

std::string QuotedName(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::string QuotedText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

// The file through which rows go: it has no name, and ends with its descriptor.
class PassingFile {
 public:
  Error Open() {
    const char* const named = std::getenv("TMPDIR");
    const std::string folder = named != nullptr && *named != '\0' ? named : "/tmp";
    int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
      std::string path = folder + "/gpuprof-parquet-XXXXXX";
      fd = mkostemp(path.data(), O_CLOEXEC);
      if (fd >= 0) unlink(path.c_str());
    }
    if (fd < 0)
      return {ErrorKind::kUsage, "a temporary file cannot be made in " + folder + ": " +
                                     std::strerror(errno) + "; name another folder in TMPDIR"};
    file_ = codec::OwnedFile(fd);
    return {};
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.fd()); }

  // Hands on what was written.
  Error HandOn(const std::string& path, FileSink sink, void* context) const {
    std::vector<char> room(1 << 20);
    uint64_t offset = 0;
    for (;;) {
      const ssize_t got = pread(file_.fd(), room.data(), room.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        return {ErrorKind::kUnreadable,
                std::string("a temporary file cannot be read: ") + std::strerror(errno)};
      if (got == 0) return {};
      // The folder itself says what is wrong with it.
      if (!sink(context, path, {room.data(), static_cast<size_t>(got)})) return {};
      offset += static_cast<uint64_t>(got);
    }
  }

 private:
  codec::OwnedFile file_;
};

// Processes whose rows are in one folder.
struct RankFolder {
  std::string path;
  std::vector<size_t> processes;
  std::vector<size_t> places;  // of rows, as TraceNames counts: samplers of counters, too
};

class ParquetExport {
 public:
  ParquetExport(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                ExportReport* report)
      : trace_(trace), options_(options), sink_(sink), context_(context), report_(report) {}

  Error Write() {
    if (Error error = Prepare()) return error;
    for (const RankFolder& folder : FoldersOf()) {
      if (Error error = WriteEvents(folder)) return error;
      if (Error error = WriteSteps(folder)) return error;
      if (Error error = WriteLookups(folder)) return error;
    }
    // Results are of the whole recording.
    return options_.pid == 0 && !options_.window ? WriteResults() : Error();
  }

 private:
  Error Prepare() {
    const auto is_chosen = [this](const Process& process) {
      return options_.pid == 0 || process.pid == options_.pid;
    };
    if (std::none_of(trace_.processes.begin(), trace_.processes.end(), is_chosen))
      return {ErrorKind::kUsage, options_.pid == 0
                                     ? "The recording has no process to export."
                                     : "The bundle has no process " + std::to_string(options_.pid) +
                                           "; see 'gpuprof info'."};
    DatabaseOptions how;
    how.writes = true;
    if (Error error = QueryDatabase::Open(how, &database_)) {
      error.message = "Parquet is written by DuckDB's library: " + error.message +
                      ". Without it, Python writes the rows of a query: gpuprof query BUNDLE "
                      "\"select * from kernels\" --csv, then "
                      "pyarrow.parquet.write_table(pyarrow.csv.read_csv(FILE), OUT)";
      return error;
    }
    PassOptions pass;
    // The trace outlives the tables.
    const std::shared_ptr<const Trace> trace(std::shared_ptr<const Trace>(), &trace_);
    tables_ = std::make_unique<TraceTables>(trace, pass);
    if (Error error = tables_->AddTo(database_.get())) return error;
    return file_.Open();
  }

  std::string JobFolder() const {
    std::string_view name = trace_.manifest.has_job() && !trace_.manifest.job().id().empty()
                                ? std::string_view(trace_.manifest.job().id())
                                : std::string_view(trace_.path);
    while (name.ends_with('/')) name.remove_suffix(1);
    return PathPart("job", name.substr(name.rfind('/') + 1));
  }

  std::vector<RankFolder> FoldersOf() {
    std::map<std::tuple<std::string, bool, uint32_t>, RankFolder> groups;
    for (size_t index = 0; index < trace_.processes.size(); ++index) {
      const Process& process = trace_.processes[index];
      if (options_.pid != 0 && process.pid != options_.pid) continue;
      const std::optional<Rank> rank = RankOf(process);
      if (rank) report_->ranks.insert(rank->number);
      RankFolder& folder = groups[{process.host, rank.has_value(), rank ? rank->number : 0}];
      folder.processes.push_back(index);
      folder.places.push_back(index);
    }
    // A sampler reads the devices of a host, for all its ranks.
    for (size_t i = 0; options_.pid == 0 && i < trace_.samplers.size(); ++i)
      groups[{trace_.samplers[i].host, false, 0}].places.push_back(trace_.processes.size() + i);
    std::vector<RankFolder> folders;
    for (auto& [key, folder] : groups) {
      const auto& [host, has_rank, rank] = key;
      folder.path = JobFolder() + "/" + PathPart("host", host) + "/" +
                    PathPart("rank", has_rank ? std::to_string(rank) : "");
      folders.push_back(std::move(folder));
    }
    return folders;
  }

  Error WriteFile(const std::string& select, const std::string& path) {
    uint64_t rows = 0;
    if (Error error = database_->Copy(select, file_.path(), &rows)) return error;
    if (rows == 0) return {};
    report_->events += rows;
    return file_.HandOn(path + ".parquet", sink_, context_);
  }

  // Returns a column as it is written. Spark has no 64 bits without sign: these are taken as signed
  // ones, as they are.
  static std::string Written(std::string_view name, ValueType type, std::string_view as) {
    const std::string quoted = QuotedName(name);
    if (type != ValueType::kUnsigned) return quoted + " as " + QuotedName(as);
    return "case when " + quoted + " > 9223372036854775807 then (" + quoted +
           "::hugeint - 18446744073709551616)::bigint else " + quoted + "::bigint end as " +
           QuotedName(as);
  }

  // Returns all columns of a table but these: texts in place of their numbers.
  static std::string ColumnsBut(const QueryTable& table,
                                const std::vector<std::string_view>& left_out) {
    std::string columns;
    for (const QueryColumn& column : table.columns()) {
      const bool is_id = !column.names.empty();
      const std::string name = is_id ? TextOfId(column.name) : column.name;
      if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
      columns += (columns.empty() ? "" : ", ") +
                 Written(name, is_id ? ValueType::kText : column.type, name);
    }
    return columns;
  }

  // Returns the columns of a table that say something outside the recording.
  static std::string ColumnsOf(const QueryTable& table) {
    return ColumnsBut(
        table, {"host", "rank", "track", "process", "id", "stack", "globalPid", "function_id"});
  }

  static bool HasColumn(const QueryTable& table, std::string_view name) {
    return std::any_of(table.columns().begin(), table.columns().end(),
                       [&](const QueryColumn& column) { return column.name == name; });
  }

  // Returns the rows that begin in the window, for a where clause.
  std::string InWindow(const std::string& time) const {
    if (!options_.window) return "";
    const int64_t origin = options_.is_clock_window ? trace_.origin_realtime_ns : 0;
    return " where " + time + " >= " + std::to_string(options_.window->first - origin) + " and " +
           time + " < " + std::to_string(options_.window->second - origin);
  }

  Error WriteEvents(const RankFolder& folder) {
    for (const std::unique_ptr<QueryTable>& table : tables_->main()) {
      if (!HasColumn(*table, "step")) continue;
      table->Choose(folder.places);
      if (table->rows() == 0) continue;
      const std::string time = HasColumn(*table, "start_ns") ? "start_ns" : "time_ns";
      const std::string select = "select " + ColumnsOf(*table) + " from main." +
                                 QuotedName(table->name()) + InWindow(time) +
                                 " order by step nulls last, " + time;
      if (Error error = WriteFile(select, folder.path + "/" + table->name())) return error;
    }
    return {};
  }

  Error WriteSteps(const RankFolder& folder) {
    if (Error error = tables_->steps().Find()) return error;
    uint64_t steps = 0;
    std::string pids;
    for (const size_t process : folder.processes) {
      steps += tables_->steps().Of(process).size();
      pids += (pids.empty() ? "" : ", ") + std::to_string(trace_.processes[process].pid);
    }
    if (steps == 0) return {};
    report_->steps += steps;
    // DuckDB leaves out what a condition cannot meet in rows of its own. The rows of a result would
    // all be made again for each rank.
    if (!has_steps_)
      if (Error error = database_->Keep("select * from stats.steps order by pid", kKeptSteps))
        return error;
    has_steps_ = true;
    const std::string window = InWindow("start_ns");
    const auto table = std::find_if(tables_->stats().begin(), tables_->stats().end(),
                                    [](const auto& each) { return each->name() == "steps"; });
    if (table == tables_->stats().end()) return {};
    const std::string select =
        "select " + Written("number", ValueType::kUnsigned, "step") +
        ", start_ns, start_ns + duration_ns as end_ns, " +
        ColumnsBut(**table, {"number", "start_ns", "host"}) + " from " + kKeptSteps +
        (window.empty() ? " where " : window + " and ") +
        "host = " + QuotedText(trace_.processes[folder.processes.front()].host) + " and pid in (" +
        pids + ") order by step, start_ns";
    return WriteFile(select, folder.path + "/steps");
  }

  Error WriteLookups(const RankFolder& folder) {
    if (folder.processes.empty()) return {};
    std::string processes;
    for (const size_t process : folder.processes)
      processes += (processes.empty() ? "" : ", ") + std::to_string(process);
    for (const std::unique_ptr<QueryTable>& table : tables_->main()) {
      if (table->name() != "processes" && table->name() != "tracks") continue;
      const std::string select = "select " + ColumnsOf(*table) + " from main." +
                                 QuotedName(table->name()) + " where process in (" + processes +
                                 ")";
      if (Error error = WriteFile(select, folder.path + "/" + table->name())) return error;
    }
    return {};
  }

  Error WriteResults() {
    for (const std::unique_ptr<QueryTable>& table : tables_->stats()) {
      const std::string_view pass = std::string_view(table->name());
      // The main table of a pass has its name.
      const bool is_main = table->meaning().ends_with("stats " + table->name() + "'");
      if (!is_main ||
          std::find(std::begin(kNoResults), std::end(kNoResults), pass) != std::end(kNoResults))
        continue;
      // A pass that cannot be asked of this recording has no rows.
      std::unique_ptr<TableScan> scan;
      if (table->Begin({}, &scan)) continue;
      const std::string select =
          "select " + ColumnsBut(*table, {}) + " from stats." + QuotedName(table->name());
      if (Error error = WriteFile(select, JobFolder() + "/stats." + table->name())) return error;
    }
    return {};
  }

  const Trace& trace_;
  const ExportOptions& options_;
  FileSink sink_;
  void* context_;
  ExportReport* report_;
  std::unique_ptr<TraceTables> tables_;  // outlives the database
  std::unique_ptr<QueryDatabase> database_;
  PassingFile file_;
  bool has_steps_ = false;  // in the table of this name
  static constexpr char kKeptSteps[] = "steps_by_process";
};

}  // namespace

Error ExportParquet(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                    ExportReport* report) {
  return ParquetExport(trace, options, sink, context, report).Write();
}

}  // namespace gpuprof::analysis
