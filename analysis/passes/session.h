// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A trace, and what passes derive from it. That is made on first use and kept for all passes: op
// trees, steps, calls by correlation, roles, timelines of devices. The rows of the latest part are
// kept too. A pass is a question to a session. One thread at a time.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/kept.h"
#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_summary.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

class ProcessDevices;

// What does not depend on the options of a question, of one process.
struct DerivedOfProcess {
  std::unique_ptr<ProcessOps> ops;
  std::once_flag calls_once;
  std::unique_ptr<CallIndex> calls;
  Kept kept;
};

// What depends on the options that choose processes and steps.
struct DerivedOfChoice {
  struct OfProcess {
    std::vector<StepAnalysis> steps;  // empty: not asked for yet
    std::optional<results::ProcessRole> role;
    Kept kept;
  };
  explicit DerivedOfChoice(size_t processes) : of_processes(processes) {}

  std::vector<OfProcess> of_processes;
  // Timelines of the process with this index. They take much memory, so one process has some.
  std::pair<size_t, std::shared_ptr<const ProcessDevices>> devices;
  Kept kept;
};

class Session {
 public:
  // What is derived of a trace with more rows is not kept.
  static constexpr uint64_t kMostRows = 20'000'000;
  // Rows of lazy tables that stay in memory between questions.
  static constexpr uint64_t kMostRowBytes = 200'000'000;

  // Rows of a trace that the options of a question select.
  struct Part {
    std::unique_ptr<Session> session;
    std::string words;  // what the part is
  };

  // Keeps at most `most_row_bytes` of lazy rows between questions.
  explicit Session(std::shared_ptr<const Trace> trace, uint64_t most_row_bytes = kMostRowBytes);
  // Makes a session of a trace that outlives it.
  explicit Session(const Trace& trace);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Trace& trace() const { return *trace_; }
  // Returns the trace that this one is a part of, or this one. Both have the same processes.
  const Trace& whole() const { return whole_ != nullptr ? *whole_ : *trace_; }
  // Releases what was derived of a trace with many rows: it may need more memory than the rows.
  // Releases rows of lazy tables, too, if they are many. Called after each question.
  void ForgetMuch();
  DerivedOfProcess& OfProcess(size_t index) { return processes_[index]; }
  // Returns what was derived for questions with the same pid and step marker.
  DerivedOfChoice& OfChoice(const PassOptions& options);
  // Sets `part` to what the options of a pass select, or to null if they select everything. It
  // stays until another part is selected. An error names the option that cannot be met.
  Error Select(std::string_view pass, const PassOptions& options, Part** part);

 private:
  // What decides which rows a part has.
  using Choice = std::tuple<std::optional<std::pair<int64_t, int64_t>>,
                            std::optional<std::pair<uint64_t, uint64_t>>, std::vector<uint32_t>,
                            int32_t, std::string>;

  std::shared_ptr<const Trace> trace_;
  const uint64_t most_row_bytes_;
  const Trace* whole_ = nullptr;
  std::vector<DerivedOfProcess> processes_;
  std::map<std::pair<int32_t, std::string>, DerivedOfChoice> choices_;
  Choice chosen_;
  Part part_;
};

}  // namespace gpuprof::analysis
