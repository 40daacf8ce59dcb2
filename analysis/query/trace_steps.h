// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The steps of each process of a trace, for the column `step` of events. They are found when a
// query first asks for them. Any thread.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct NumberedSpan {
  int64_t start_ns = 0, end_ns = 0;
  uint64_t number = 0;
};

class TraceSteps {
 public:
  // Takes what outlives it. `mutex`: of the session.
  TraceSteps(Session* session, const PassOptions& options, std::mutex* mutex)
      : session_(session), options_(options), mutex_(mutex) {}

  // Finds the steps of all processes, the first time.
  Error Find();
  // Returns the steps of the thread that leads a process, in order of time. `place`: as TraceNames
  // counts. Called behind Find().
  const std::vector<NumberedSpan>& Of(size_t place) const { return steps_[place]; }

 private:
  Session* session_;
  const PassOptions& options_;
  std::mutex* mutex_;
  bool is_found_ = false;
  Error error_;
  std::vector<std::vector<NumberedSpan>> steps_;
};

}  // namespace gpuprof::analysis
