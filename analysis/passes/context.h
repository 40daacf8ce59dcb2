// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What every pass works with: the trace, the options, and what several passes need computed once
// (op trees, steps, names of program counters). Made by Run() for one call, used on one thread.

#pragma once

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_summary.h"
#include "analysis/symbols/symbolizer.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

class PassContext {
 public:
  PassContext(const Trace& trace, const PassOptions& options);

  // Checks the options: a bad expression, a pid that is not there, a grouping the pass does not
  // have.
  Error Prepare();

  const Trace& trace() const { return *trace_; }
  const PassOptions& options() const { return *options_; }
  // What the rows are to stand for; `usual` where nothing was asked for.
  std::string By(const char* usual) const { return options_->by.empty() ? usual : options_->by; }

  // Indices of the processes asked for.
  const std::vector<size_t>& selected() const { return selected_; }
  const Process& process(size_t index) const { return trace_->processes[index]; }

  // The first process with this one's pid and host: an image before an exec, or itself. Threads of
  // both are one program's, and pids of two hosts are not.
  size_t Owner(size_t index) const;

  ProcessOps& ops(size_t index);
  const StepAnalysis& steps(size_t index);
  // The selected process with most time in steps; none: no steps.
  std::optional<size_t> Leading();
  std::string NoStepsAdvice() const;

  // Adds the frame of a return address, or of an exact one.
  void Resolve(size_t index, uint64_t pc, PcKind kind, results::Frame* frame);
  // The return addresses of a stack, innermost first; none where no stack was taken.
  std::vector<uint64_t> StackPcs(size_t index, uint32_t stack) const;
  // Adds all frames of a stack, innermost first.
  void ResolveStack(size_t index, uint32_t stack,
                    google::protobuf::RepeatedPtrField<results::Frame>* frames);

  // Everything but the confidence. Call it last: it tells which names could not be resolved.
  void FillMeta(std::string_view pass, results::Meta* meta);
  // FillMeta and FillCountConfidence, where nothing is to be said between them.
  void FillCountMeta(std::string_view pass, results::Meta* meta);
  // High; lowered where records were lost or files were damaged.
  void FillCountConfidence(const results::Meta& meta, results::Confidence* confidence) const;
  // A flight recorder let go what came before, of a process that was asked for.
  bool IsWindow() const;
  // For figures that need all that came before: low, where a flight recorder let it go.
  void LimitToWindow(results::Confidence* confidence) const;

 private:
  struct PerProcess {
    std::unique_ptr<ProcessOps> ops;
    std::unique_ptr<StepAnalysis> steps;
    std::unique_ptr<Symbolizer> symbolizer;
  };

  bool AnyLacksEnd() const;
  bool AnyLostThread() const;
  bool AnyLacksActivity() const;
  bool AnyLostClock() const;

  const Trace* trace_;
  const PassOptions* options_;
  std::optional<std::regex> marker_;
  std::vector<size_t> selected_;
  std::vector<PerProcess> parts_;
};

// Whose row it is. Pids of two hosts may be the same.
template <typename Row>
void SetProcess(const Process& process, Row* row) {
  row->set_pid(process.pid);
  row->set_host(process.host);
}

// Whether two such rows, of whatever kinds, are of one process.
template <typename Row, typename Other>
bool AreOfOneProcess(const Row& row, const Other& other) {
  return row.pid() == other.pid() && row.host() == other.host();
}

inline constexpr uint32_t kResultSchema = 1;

// What to do about a loss.
std::string_view LossFix(proto::LossKind kind);
// Records lost by a process, by kind; ring losses of tracks count where health does not tell them.
std::vector<std::pair<proto::LossKind, uint64_t>> LossesOf(const Process& process);

// Records of a process that found their way into its trace, those included that a flight recorder
// let go since: what its losses are a share of.
uint64_t WrittenRecords(const Process& process);
// Threads of which the last records went with the process: in damaged rings, or in memory only.
uint32_t LostThreads(const Process& process);
// Of a process of which a flight recorder kept the newest part, in words: "what came before ...".
std::string WhatWasLetGo(const Process& process);

// Operations observed: of a process that was killed, health is up to a second old and the rows are
// what there is.
uint64_t OpEventsOf(const Process& process);

// The name of the innermost frame that is not an allocator's, "" without frames.
std::string AllocationSite(const google::protobuf::RepeatedPtrField<results::Frame>& frames);

}  // namespace gpuprof::analysis
