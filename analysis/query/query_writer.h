// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints the rows of a query: a text table, an array of JSON objects, or CSV. One thread.

#pragma once

#include <memory>

#include "analysis/analysis.h"
#include "analysis/query/database.h"

namespace gpuprof::analysis {

class QueryWriter : public QuerySink {
 public:
  // Writes what is not written yet. Called once, behind the last row.
  virtual void Finish() = 0;
};

// Makes the writer of one JSON object: "columns", "rows" as arrays, and "truncated". The last is
// null, or tells how many rows are "shown" of the "total". At most `limit` rows are shown, of about
// `most_bytes`.
std::unique_ptr<QueryWriter> MakePageWriter(uint32_t limit, size_t most_bytes, Sink sink,
                                            void* context);

// Makes a writer. `limit`: rows of text; 0: all. `width`: of text; 0: any.
std::unique_ptr<QueryWriter> MakeQueryWriter(Format format, uint32_t limit, int width, Sink sink,
                                             void* context);

}  // namespace gpuprof::analysis
