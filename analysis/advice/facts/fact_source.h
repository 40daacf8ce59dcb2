// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the facts for rules are found in: a process, the graph of its work, and the counted steps of
// one device. For the pass `advise`; one thread. All that it is made of must outlive it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/advice/facts/device_facts.h"
#include "analysis/advice/thresholds.h"
#include "analysis/passes/context.h"
#include "analysis/passes/device/step_graph.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

class FactSource {
 public:
  // Takes the steps of all devices of the process, and the series of one device.
  FactSource(PassContext& context, size_t index, const StepGraph& graph,
             const results::Steps& steps, const results::DeviceSeries& series,
             const Thresholds& limits);

  PassContext& context() const { return context_; }
  size_t index() const { return index_; }
  const Process& process() const { return context_.process(index_); }
  const StepGraph& graph() const { return graph_; }
  const std::vector<DependencyNode>& nodes() const { return graph_.graph().nodes(); }
  const Thresholds& limits() const { return limits_; }
  // Returns the time from the first counted step of the device to the end of the last.
  Interval window() const { return {series_.start_ns(), series_.end_ns()}; }
  // Returns whether a moment lies in the host's counted steps.
  bool InHostSteps(int64_t time_ns) const {
    return time_ns >= host_window_.start && time_ns < host_window_.end;
  }
  // Returns the counted steps of the device by time, as spans.
  const std::vector<Interval>& steps() const { return spans_; }

  // Returns whether work of the device begins in the window, or a call in the host's steps.
  bool Counts(const DependencyNode& node) const;
  // Returns whether so much time is enough to ask the graph what could be saved.
  bool IsWorthAsking(int64_t total_ns) const;
  // Returns the number of the device's step, or of the host's, at a moment. None: in no counted
  // step.
  std::optional<uint64_t> StepAt(int64_t time_ns) const;
  std::optional<uint64_t> HostStepAt(int64_t time_ns) const;
  // Returns the function of a call. "": not known.
  const std::string& FunctionOf(uint32_t track, uint32_t row);
  // Returns the call that launched a piece of work. None: not recorded.
  std::optional<Call> LaunchOf(const DependencyNode& work) const;
  // Returns the demangled name of a kernel.
  std::string KernelName(const DependencyNode& kernel) const;

  Instance InstanceOf(const DependencyNode& node, std::string name) const;
  // Returns the longest of some nodes: in the typical step, if one begins there. Without nodes it
  // has no duration.
  Instance LongestOf(const std::vector<uint32_t>& nodes, const std::string& name) const;

 private:
  PassContext& context_;
  const size_t index_;
  const StepGraph& graph_;
  const results::DeviceSeries& series_;
  const Thresholds& limits_;
  std::vector<Interval> spans_, host_spans_;
  std::vector<uint64_t> numbers_, host_numbers_;  // of the same steps
  Interval host_window_;
  Interval typical_;  // the typical step
  std::unordered_map<uint32_t, std::string> functions_;
};

// Fills its part of the facts each: in copy_facts.cc, call_facts.cc, detail_facts.cc,
// kernel_facts.cc and launch_facts.cc.
void FillCopyFacts(FactSource& source, DeviceFacts* facts);
void FillCallFacts(FactSource& source, DeviceFacts* facts);
void FillDetailFacts(FactSource& source, DeviceFacts* facts);
void FillKernelFacts(FactSource& source, DeviceFacts* facts);
void FillLaunchFacts(FactSource& source, DeviceFacts* facts);

// Fills the facts of the gaps, in idle_facts.cc. The series is of a device of the process.
void FillIdleFacts(PassContext& context, size_t index, const results::DeviceSeries& series,
                   IdleFacts* facts);

}  // namespace gpuprof::analysis
