// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The text of each result: what the terminal shows. One function a result, and pieces that they
// share. Called by Render(); any thread.

#pragma once

#include <google/protobuf/repeated_field.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/units.h"
#include "analysis/render/output.h"
#include "analysis/render/table.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::results {
class Advice;
class ApiCalls;
class Baseline;
class Baselines;
class Communication;
class Counters;
class CriticalPaths;
class DeviceMemory;
class Files;
class FlightRecorder;
class Diff;
class Finding;
class GraphViewer;
class Graphs;
class Health;
class Heap;
class Idle;
class Kernels;
class Lock;
class Locks;
class Memcpy;
class Pods;
class Python;
class Ranges;
class Rules;
class Op;
class Ops;
class Overheads;
class Overlap;
class Overview;
class OverviewFunctions;
class OverviewGpu;
class Stacks;
class StepSeries;
class Steps;
class Stragglers;
class Streams;
class Syncs;
class MemoryProfile;
class MemoryViewer;
class OpProfile;
class Roofline;
class Serving;
class InputPipeline;
class TfData;
class Threads;
class Trials;
class UnifiedMemory;
class Verdict;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

struct TextOptions {
  uint32_t limit = kTextRows;  // rows a table; 0: all
  int width = 0;               // of sentences; 0: any
  int table_width = 0;         // of tables; 0: any
  bool wide = false;           // full names
};

// Returns the name of a row as a table shows it.
template <typename Row>
const std::string& ShownName(const Row& row, const TextOptions& options) {
  return options.wide || row.short_name().empty() ? row.name() : row.short_name();
}

// Returns the threads' waits for room in their rings as the end of a list; "" if none waited.
template <typename Cost>
std::string RoomWaitText(const Cost& cost) {
  if (cost.room_wait_count() == 0) return "";
  return ", " + FormatNumber(cost.room_wait_count()) + " waits for the recorder in " +
         FormatDuration(cost.room_wait_ns());
}

// Returns what the recorder's begin and end took, as the end of a list; "" if it was not measured.
template <typename Cost>
std::string BeginEndText(const Cost& cost) {
  if (!cost.has_begin_end_ns()) return "";
  return ", begin and end of recording in " + FormatDuration(cost.begin_end_ns());
}

// Returns the table of the phases of a run.
std::string PhasesText(const results::Overview& result, const TextOptions& options);
std::string OverviewText(const results::Overview& result, const TextOptions& options);
std::string KernelsText(const results::Kernels& result, const TextOptions& options);
std::string MemcpyText(const results::Memcpy& result, const TextOptions& options);
std::string DeviceMemoryText(const results::DeviceMemory& result, const TextOptions& options);
std::string ApiText(const results::ApiCalls& result, const TextOptions& options);
std::string SyncText(const results::Syncs& result, const TextOptions& options);
std::string GraphViewerText(const results::GraphViewer& result, const TextOptions& options);
std::string GraphsText(const results::Graphs& result, const TextOptions& options);
std::string OverheadText(const results::Overheads& result, const TextOptions& options);
std::string UnifiedMemoryText(const results::UnifiedMemory& result, const TextOptions& options);
std::string RulesText(const results::Rules& result, const TextOptions& options);
std::string AdviceText(const results::Advice& result, const TextOptions& options);
std::string BaselineText(const results::Baseline& baseline, const TextOptions& options);
std::string BaselinesText(const results::Baselines& list, const TextOptions& options);
std::string TrialsText(const results::Trials& trials, const TextOptions& options);
std::string DiffText(const results::Diff& diff, const TextOptions& options);
// Returns tables for a pull request.
std::string DiffMarkdown(const results::Diff& diff, const TextOptions& options);
std::string CriticalPathText(const results::CriticalPaths& result, const TextOptions& options);
std::string OverlapText(const results::Overlap& result, const TextOptions& options);
std::string IdleText(const results::Idle& result, const TextOptions& options);
std::string StreamsText(const results::Streams& result, const TextOptions& options);
std::string PodsText(const results::Pods& result, const TextOptions& options);
std::string PythonText(const results::Python& result, const TextOptions& options);
// Returns the functions that used most processor time. Empty: there are no samples.
std::string TopFunctionsText(const results::OverviewFunctions& functions,
                             const results::Overview& result, const TextOptions& options);
std::string RangesText(const results::Ranges& result, const TextOptions& options);
std::string CommunicationText(const results::Communication& result, const TextOptions& options);
std::string StragglersText(const results::Stragglers& result, const TextOptions& options);
std::string CountersText(const results::Counters& result, const TextOptions& options);
std::string StepsText(const results::Steps& result, const TextOptions& options);
std::string OpsText(const results::Ops& result, const TextOptions& options);
std::string FilesText(const results::Files& result, const TextOptions& options);
std::string FlightRecorderText(const results::FlightRecorder& result, const TextOptions& options);
std::string OpProfileText(const results::OpProfile& result, const TextOptions& options);
std::string ServingText(const results::Serving& result, const TextOptions& options);
std::string RooflineText(const results::Roofline& result, const TextOptions& options);
std::string MemoryProfileText(const results::MemoryProfile& result, const TextOptions& options);
std::string MemoryViewerText(const results::MemoryViewer& result, const TextOptions& options);
std::string InputPipelineText(const results::InputPipeline& result, const TextOptions& options);
std::string TfDataText(const results::TfData& result, const TextOptions& options);
std::string HeapText(const results::Heap& result, const TextOptions& options);
std::string LocksText(const results::Locks& result, const TextOptions& options);
std::string HealthText(const results::Health& result, const TextOptions& options);
std::string ThreadsText(const results::Threads& result, const TextOptions& options);

// Writes folded stacks, a line each.
void WriteStacks(const results::Stacks& result, const TextOptions& options, Output* out);
// What WriteStacks leaves out, in one line; empty when there is nothing to say.
std::string StacksRemarks(const results::Stacks& result, const TextOptions& options);

// What tells the processes of rows apart: "12", or "12 on node2" where the rows are of several
// hosts.
class Pids {
 public:
  template <typename Rows>
  explicit Pids(const Rows& rows) {
    for (const auto& row : rows) with_host_ = with_host_ || row.host() != rows[0].host();
  }
  template <typename Row>
  std::string operator()(const Row& row) const {
    return std::to_string(row.pid()) + (with_host_ ? " on " + row.host() : "");
  }

 private:
  bool with_host_ = false;
};

// Columns that tell the rows of one table apart where their names may not: whose they are where
// that is several processes, the thread of rows by thread, the context where a process has several.
class Whose {
 public:
  template <typename Rows>
  explicit Whose(const Rows& rows) : pids_(rows) {
    std::map<std::pair<std::string, int32_t>, uint32_t> contexts;
    for (const auto& row : rows) {
      with_pid_ = with_pid_ || row.pid() != rows[0].pid() || row.host() != rows[0].host();
      if constexpr (requires { row.has_tid(); }) with_tid_ = with_tid_ || row.has_tid();
      if constexpr (requires { row.has_context(); }) {
        if (!row.has_context()) continue;
        const auto of = contexts.try_emplace({row.host(), row.pid()}, row.context()).first;
        with_context_ = with_context_ || of->second != row.context();
      }
    }
  }
  void AddColumns(TextTable* table) const {
    if (with_pid_) table->AddColumn("pid", TextTable::Align::kRight);
    if (with_tid_) table->AddColumn("tid", TextTable::Align::kRight);
    if (with_context_) table->AddColumn("context", TextTable::Align::kRight);
  }
  template <typename Row>
  void AddCells(const Row& row, std::vector<std::string>* cells) const {
    if (with_pid_) cells->push_back(pids_(row));
    if constexpr (requires { row.has_tid(); }) {
      if (with_tid_) cells->push_back(row.has_tid() ? std::to_string(row.tid()) : "");
    }
    if constexpr (requires { row.has_context(); }) {
      if (with_context_) cells->push_back(row.has_context() ? std::to_string(row.context()) : "");
    }
  }

 private:
  Pids pids_;
  bool with_pid_ = false, with_tid_ = false, with_context_ = false;
};

// How many of `rows` a table shows.
int Shown(int rows, const TextOptions& options);
// "... and 12 more (--limit 0 shows all)", or nothing.
std::string MoreLine(int rows, const TextOptions& options);
// A table under a heading, an empty line behind; nothing when it has no rows.
std::string Section(const std::string& heading, const TextTable& table, const TextOptions& options,
                    int rows);
// Behind times of GPUs that are sums: ", summed over 2 devices"; nothing of one with one process.
std::string DevicesText(const results::OverviewGpu& gpu);

// Returns what the devices of the run are called: "TPU" if all are TPUs by their names, else "GPU".
std::string DeviceWord(const results::Overview& overview);
// What was lost, damaged or in the way; empty when all is well.
std::string MetaText(const results::Meta& meta, const TextOptions& options);
// "80 steps of train.py (pid 12): ..." and the table of categories.
std::string SeriesText(const results::StepSeries& series, const TextOptions& options);
// Call stack, innermost first, allocator's own frames left out; at most `most` lines.
std::string StackText(const std::vector<const results::Frame*>& frames, size_t most,
                      const std::string& indent, const TextOptions& options);
std::string LevelWord(results::Level level);
// Behind the name of spans of which so many were cut by the end of a capture, or of the process.
std::string Unfinished(uint64_t count);
// "mutex at main+0x12 of 0x1234"
TextTable LockRows(const google::protobuf::RepeatedPtrField<results::Lock>& locks, int most,
                   const TextOptions& options);
TextTable OpRows(const google::protobuf::RepeatedPtrField<results::Op>& ops, int most,
                 const TextOptions& options);

// Says what bounds a program, in one sentence.
std::string VerdictText(const results::Verdict& verdict, const TextOptions& options);
// Lists findings with their evidence and what to try: the first ones in full, if there is a limit.
// `verdict`: null, or whose window the gains of devices are of.
std::string FindingsText(const google::protobuf::RepeatedPtrField<results::Finding>& findings,
                         const results::Verdict* verdict, const TextOptions& options);

}  // namespace gpuprof::analysis
