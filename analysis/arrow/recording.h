// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording for programs of other languages: its tables as Arrow, the results of passes as JSON,
// and SQL. Any thread may call; what runs a pass or SQL waits for its turn. A recording
// may go before its tables and their batches.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arrow/arrays.h"
#include "analysis/arrow/query_rows.h"

namespace gpuprof::analysis::arrow {

class OpenTables;

struct RecordingOptions {
  int threads = 0;  // 0: as many as cores
  bool symbolize = true;
  std::string symfs;
};

class Recording {
 public:
  static Error Open(const std::string& path, const RecordingOptions& options,
                    std::unique_ptr<Recording>* recording);
  ~Recording();

  // Returns a JSON array: name, meaning of rows, and columns with name, type and unit.
  std::string TablesJson() const;
  // Returns what could not be read, a JSON array of sentences.
  std::string FaultsJson() const;
  // Counts the rows of a table. This runs the pass that a table of results needs.
  Error Count(std::string_view table, uint64_t* rows);
  // Begins to read a table. `columns` empty: all.
  Error Read(std::string_view table, const std::vector<std::string>& columns,
             std::unique_ptr<BatchSource>* batches);
  // Runs a pass, as `gpuprof stats` does. `options_json`: an object with names of the command's
  // options, "" for none.
  Error Result(std::string_view pass, std::string_view options_json, std::string* json);
  // Runs one SELECT. `library`: libduckdb.so, "": it is looked for.
  Error Query(const std::string& sql, const std::string& library,
              std::shared_ptr<const QueryRows>* rows);

 private:
  Recording(std::string path, RecordingOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Returns the tables whose rows a pass may read: not those that come from the files piecewise.
  Error Whole(std::shared_ptr<OpenTables>* tables);
  Error Find(std::string_view table, std::shared_ptr<OpenTables>* tables, size_t* place,
             bool* is_result);
  // Returns the database of these tables, which stays open for the next statement.
  Error DatabaseOf(const OpenTables& tables, const std::string& library, QueryDatabase** database);

  std::string path_;
  RecordingOptions options_;
  std::shared_ptr<OpenTables> tables_;
  std::mutex mutex_;                   // of what follows, of passes and of SQL
  std::shared_ptr<OpenTables> whole_;  // null: not needed yet
  // They read the tables, so they go first.
  std::map<const OpenTables*, std::unique_ptr<QueryDatabase>> databases_;
};

}  // namespace gpuprof::analysis::arrow
