// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a process is in a run, and how it ended. See passes.h.

#include <algorithm>

#include "analysis/base/units.h"
#include "analysis/passes/passes.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kWorkerThreadName = "pt_data_worker";

bool HasArgument(const Process& process, std::string_view part) {
  return std::any_of(process.argv.begin(), process.argv.end(), [&](const std::string& argument) {
    return argument.find(part) != std::string::npos;
  });
}

// Index of the parent among the trace's processes; processes.size(): not there.
size_t ParentOf(const Trace& trace, size_t index) {
  const Process& process = trace.processes[index];
  for (size_t i = trace.processes.size(); i-- > 0;) {
    const Process& other = trace.processes[i];
    if (i != index && other.pid == process.ppid && other.host == process.host &&
        other.first_ns <= process.first_ns) {
      return i;
    }
  }
  return trace.processes.size();
}

bool HasChildren(const Trace& trace, size_t index) {
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    if (i != index && ParentOf(trace, i) == index) return true;
  }
  return false;
}

bool HasOperations(const Process& process) {
  return std::any_of(process.tracks.begin(), process.tracks.end(),
                     [](const Track& track) { return track.Rows(proto::ChunkKind::kOp) != 0; });
}

// Whether an ancestor takes batches from a loader.
bool LoaderAbove(PassContext& context, size_t index) {
  const Trace& trace = context.trace();
  size_t up = ParentOf(trace, index);
  for (int i = 0; i < 8 && up < trace.processes.size(); ++i) {
    if (context.ops(up).has(NameKind::kLoaderNext)) return true;
    up = ParentOf(trace, up);
  }
  return false;
}

}  // namespace

std::string RoleOf(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  if (HasArgument(process, "resource_tracker")) return "helper";
  const StepAnalysis& steps = context.steps(index);
  if (steps.found() && steps.detected.trains) return "training";
  // Ranges may mark the steps of a program without a framework.
  if (steps.found() && HasOperations(process)) return "inference";
  const bool named = std::any_of(
      process.tracks.begin(), process.tracks.end(),
      [](const Track& track) { return !track.is_stream && track.name == kWorkerThreadName; });
  if (named) return "loader_worker";
  if (!LoaderAbove(context, index)) return "program";
  return HasChildren(context.trace(), index) ? "helper" : "loader_worker";
}

std::string EndOf(const Process& process) {
  if (process.alive) return "still running";
  if (!process.has_end) return kNoEndRecorded;
  const std::string status = std::to_string(process.exit_status);
  switch (static_cast<proto::ExitWay>(process.exit_way)) {
    case proto::ExitWay::kReturn:
      return "exit " + status;
    case proto::ExitWay::kUnderscore:
      return "_exit " + status;
    case proto::ExitWay::kQuick:
      return "quick_exit " + status;
    case proto::ExitWay::kAbort:
      return "abort";
    case proto::ExitWay::kExec:
      return "became another program";
    case proto::ExitWay::kSnapshot:
      return "snapshot";
    case proto::ExitWay::kFiltered:
      return "went on unrecorded in a sandbox (seccomp)";
    case proto::ExitWay::kAlone:
      return "went on unrecorded: it needs a single thread";
    case proto::ExitWay::kRights:
      return "went on unrecorded after it gave rights up";
    case proto::ExitWay::kUnknown:
      break;
  }
  constexpr int32_t kBySignal = 128;
  // By the system call alone, as libc's own daemon() ends the parent.
  if (process.exit_status >= 0 && process.exit_status <= kBySignal) return "_exit " + status;
  const std::string how =
      process.exit_status > kBySignal
          ? "killed by signal " + std::to_string(process.exit_status - kBySignal)
          : "killed, or a raw exit";
  return process.recovered ? how + "; trace recovered" : how;
}

}  // namespace gpuprof::analysis
