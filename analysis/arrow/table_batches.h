// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chosen columns of one table as batches of Arrow. Only these columns are decoded. Batches of
// events have about a million rows, of any number of tracks. What is the same in all rows of a
// batch is in memory once. Several threads make one batch; one thread at a time asks for batches.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/arrow/arrays.h"
#include "analysis/arrow/dictionary.h"
#include "analysis/query/query_table.h"

namespace gpuprof::analysis::arrow {

// What the batches of a recording's tables share.
struct Reading {
  std::shared_ptr<const void> owner;  // of the tables
  std::function<Error()> check;       // says why rows that were read are wrong
  int threads = 0;                    // 0: as many as cores
  // Returns the dictionary of a column of events.
  std::function<Error(size_t column, std::shared_ptr<const Dictionary>*)> dictionary;
};

// Returns a table's columns as Arrow names them: an id of a text is called as its text.
std::string ArrowName(const QueryColumn& column);
// Returns the fields of these columns. `is_of_events`: texts are numbers of a dictionary.
Field FieldOf(const QueryTable& table, bool is_of_events, const std::vector<size_t>& columns);

std::unique_ptr<ArraySource> MakeTableBatches(QueryTable* table, bool is_of_events,
                                              std::vector<size_t> columns, Reading reading);

}  // namespace gpuprof::analysis::arrow
