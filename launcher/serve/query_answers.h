// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Answers SQL that a page asks of its recording. A process with limits runs each query
// (reading/limited_query.h), one at a time for a page. Any thread.

#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "launcher/reading/limited_query.h"
#include "launcher/serve/http_server.h"

namespace gpuprof::launcher {

// Sets the limits of queries of all servers of this process. One thread, before the first one.
void SetServedQueryLimits(const QueryLimits& limits);

class QueryAnswers {
 public:
  // Takes what outlives it.
  explicit QueryAnswers(const analysis::InputPath& input) : input_(input) {}

  // Answers a SELECT; an empty one with the columns of all tables. Waits for the query before it.
  HttpAnswer Get(const std::string& sql, const HttpRequest& request);
  // Ends the queries. Returns whether none runs any more.
  bool Stop();

 private:
  const analysis::InputPath& input_;
  std::mutex turn_;
  std::atomic<int> waiting_{0};
  std::atomic<bool> is_stopping_{false};
};

}  // namespace gpuprof::launcher
