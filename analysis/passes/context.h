// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What every pass works with: the trace, the options, what the session keeps of the trace, and the
// names of program counters. Made by Run() for one call, used on one thread.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/regular_expression.h"
#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "analysis/passes/session.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_summary.h"
#include "analysis/symbols/symbolizer.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

class HostActivity;
class KernelClasses;
class KernelFamilies;
class LaunchedWork;
class Origin;
class ProcessDevices;
class RowDetails;

class PassContext {
 public:
  // Keeps both, which outlive the context.
  PassContext(Session* session, const PassOptions& options);

  // Checks the options: a bad expression, a pid that is not there, a grouping the pass does not
  // have.
  Error Prepare();

  // Sets what results say about the part of the trace that they are of. Empty: they say nothing.
  void SetSelectionNote(std::string words) { selection_note_ = std::move(words); }

  const Trace& trace() const { return *trace_; }
  const PassOptions& options() const { return *options_; }
  // Returns the key that rows are grouped by: the option --by, or `usual` without this option.
  std::string By(const char* usual) const { return options_->by.empty() ? usual : options_->by; }

  // Returns the indices of the selected processes.
  const std::vector<size_t>& selected() const { return selected_; }
  const Process& process(size_t index) const { return trace_->processes[index]; }
  // Returns the process with all rows, also if a part of the trace is selected.
  const Process& whole_process(size_t index) const { return session_->whole().processes[index]; }

  // Returns the first process with the same pid and host: an earlier image before an exec, or the
  // process itself. Threads of both belong to one program. Processes of two hosts may have the same
  // pid but are different.
  size_t Owner(size_t index) const;

  ProcessOps& ops(size_t index);
  // Returns the calls of the process by correlation. Any thread.
  const CallIndex& calls(size_t index);
  // Returns the timelines of the process's devices. Those of the last process are kept.
  std::shared_ptr<const ProcessDevices> devices(size_t index);
  // Forgets the kept timelines: they take much memory.
  void ForgetDevices() { choice_->devices = {}; }
  // Returns the steps of the process's leading thread.
  const StepAnalysis& steps(size_t index) { return all_steps(index).front(); }
  // Returns the steps of each thread that has some, the leading one first. Never empty.
  const std::vector<StepAnalysis>& all_steps(size_t index);
  // Returns the details of imported rows. They are found on first use and kept for all questions.
  // So are the families and categories of kernels, the operations of device work, and the activity
  // of threads. The last is the work of kernels by the shapes of operations.
  RowDetails& details(size_t index);
  KernelFamilies& families(size_t index);
  KernelClasses& classes(size_t index);
  Origin& origin(size_t index);
  HostActivity& host(size_t index);
  const LaunchedWork& launched(size_t index);
  // Returns what else was derived of the process, for all questions. The next one is for questions
  // of the same processes and steps.
  Kept& kept(size_t index) { return session_->OfProcess(index).kept; }
  Kept& kept_of_steps(size_t index) { return choice_->of_processes[index].kept; }
  // Returns what was derived of all selected processes, for questions of the same ones.
  Kept& kept_of_all() { return choice_->kept; }
  // Returns what the process is in the run.
  results::ProcessRole role(size_t index);
  // Returns the selected process with the most time in steps. None: no steps.
  std::optional<size_t> Leading();
  std::string NoStepsAdvice() const;

  // Adds the frame of a return address, or of an exact one.
  void Resolve(size_t index, uint64_t pc, PcKind kind, results::Frame* frame);
  // Returns the return addresses of a stack, innermost first; empty if no stack was taken.
  std::vector<uint64_t> StackPcs(size_t index, uint32_t stack) const;

  // Fills everything except the confidence. Call it last: it also lists the names that could not be
  // resolved.
  void FillMeta(std::string_view pass, results::Meta* meta);
  // Calls FillMeta and FillCountConfidence, for passes that have nothing to add between the two
  // calls.
  void FillCountMeta(std::string_view pass, results::Meta* meta);
  // Sets the confidence to high, or lower if records were lost or files were damaged.
  void FillCountConfidence(const results::Meta& meta, results::Confidence* confidence) const;
  // Lowers the confidence of figures that are made from the gaps between events. The time of an
  // event that was lost looks like time without an event.
  void LimitToEvents(results::Confidence* confidence) const;
  // Returns whether a flight recorder discarded the older part of a selected process.
  bool IsWindow() const;
  // Lowers the confidence of figures that need the older part, if a flight recorder discarded it.
  void LimitToWindow(results::Confidence* confidence) const;

 private:
  // Says why names are missing. With `of_all_files`, looks for the files of all modules, not only
  // of those that the pass met.
  void AddNameNotes(bool of_all_files, results::Meta* meta);
  bool AnyLacksEnd() const;
  bool AnyLostThread() const;
  bool AnyLacksActivity() const;
  bool AnyLostClock() const;

  const Trace* trace_;
  const PassOptions* options_;
  std::shared_ptr<const RegularExpression> marker_;  // null: none was given
  std::vector<size_t> selected_;
  Session* session_;
  DerivedOfChoice* choice_;
  // By process, null until a name is asked for. Each pass says which files it missed.
  std::vector<std::unique_ptr<Symbolizer>> symbolizers_;
  std::string selection_note_;
};

// Returns the process that a row belongs to. Pids of two hosts may be the same.
template <typename Row>
void SetProcess(const Process& process, Row* row) {
  row->set_pid(process.pid);
  row->set_host(process.host);
}

// Returns whether two rows of any kinds belong to the same process.
template <typename Row, typename Other>
bool AreOfOneProcess(const Row& row, const Other& other) {
  return row.pid() == other.pid() && row.host() == other.host();
}

// 2: rows name a call stack by its number in the table `call_stacks`.
inline constexpr uint32_t kResultSchema = 2;

// Returns the advice for a loss. `waits` is WaitsForRoom of the processes that lost.
std::string_view LossFix(proto::LossKind kind, bool waits = false);
// Returns whether the process's threads wait for room in their rings: to ask for it would not help.
bool WaitsForRoom(const Process& process);
// Records lost by a process, by kind; ring losses of tracks count where health does not tell them.
std::vector<std::pair<proto::LossKind, uint64_t>> LossesOf(const Process& process);

// Returns whether a loss is of events. Otherwise events lack a part, for example their stack.
bool IsLossOfEvents(proto::LossKind kind);

// Returns the number of records that were written to a process's trace. This includes records that
// a flight recorder discarded later. Losses are a share of this number.
uint64_t WrittenRecords(const Process& process);
// Returns the number of threads whose last records were lost with the process, in damaged rings or
// in memory only.
uint32_t LostThreads(const Process& process);
// Describes the part that a flight recorder discarded: "the older part was discarded (--ring)".
std::string WhatWasLetGo(const Process& process);

// Returns the number of observed operations. If a process was killed, its health is up to a second
// old, so the rows count too.
uint64_t OpEventsOf(const Process& process);

// Returns the name of the innermost frame of the program itself: not of an allocator, nor of the
// standard library. "" without frames.
std::string AllocationSite(const std::vector<const results::Frame*>& frames);

}  // namespace gpuprof::analysis
