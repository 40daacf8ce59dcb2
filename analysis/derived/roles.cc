// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See roles.h.

#include "analysis/derived/roles.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kWorkerThreadName = "pt_data_worker";
constexpr int kMostGenerations = 8;  // also ends a cycle of parents, which damaged files can make

bool HasArgument(const Process& process, std::string_view part) {
  return std::any_of(process.argv.begin(), process.argv.end(), [&](const std::string& argument) {
    return argument.find(part) != std::string::npos;
  });
}

bool HasChildren(const Trace& trace, size_t index) {
  return std::any_of(trace.processes.begin(), trace.processes.end(),
                     [&](const Process& process) { return process.parent == index; });
}

bool IsNamedWorker(const Process& process) {
  return std::any_of(process.tracks.begin(), process.tracks.end(), [](const Track& track) {
    return !track.is_stream && track.name == kWorkerThreadName;
  });
}

bool HasOperations(const Process& process) {
  return std::any_of(process.tracks.begin(), process.tracks.end(),
                     [](const Track& track) { return track.Rows(proto::ChunkKind::kOp) != 0; });
}

bool HasLoaderAbove(const Trace& trace, size_t index, const RoleFacts& facts) {
  size_t up = trace.processes[index].parent;
  for (int i = 0; i < kMostGenerations && up < trace.processes.size(); ++i) {
    if (facts.takes_batches(up)) return true;
    up = trace.processes[up].parent;
  }
  return false;
}

}  // namespace

results::ProcessRole RoleOf(const Trace& trace, size_t index, const RoleFacts& facts) {
  const Process& process = trace.processes[index];
  if (HasArgument(process, "resource_tracker")) return results::PROCESS_ROLE_HELPER;
  if (facts.has_steps && facts.trains) return results::PROCESS_ROLE_TRAINING;
  // Ranges may mark the steps of a program without a framework.
  if (facts.has_steps && HasOperations(process)) return results::PROCESS_ROLE_INFERENCE;
  if (IsNamedWorker(process)) return results::PROCESS_ROLE_LOADER_WORKER;
  if (!HasLoaderAbove(trace, index, facts)) return results::PROCESS_ROLE_PROGRAM;
  // A loader names all of its workers, or none.
  const bool others_are_named = std::any_of(
      trace.processes.begin(), trace.processes.end(),
      [&](const Process& other) { return other.parent == process.parent && IsNamedWorker(other); });
  if (others_are_named) return results::PROCESS_ROLE_PROGRAM;
  return HasChildren(trace, index) ? results::PROCESS_ROLE_HELPER
                                   : results::PROCESS_ROLE_LOADER_WORKER;
}

}  // namespace gpuprof::analysis
