// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See model_builder.h.

#include "analysis/model/model_builder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace gpuprof::analysis {
namespace {

void SortTimelines(Process* process) {
  // Threads without events come last.
  std::stable_sort(process->tracks.begin(), process->tracks.end(),
                   [](const Track& x, const Track& y) {
                     const bool x_empty = x.id == 0;
                     const bool y_empty = y.id == 0;
                     return std::tie(x_empty, x.id, x.tid) < std::tie(y_empty, y.id, y.tid);
                   });
}

// A process's parent is the last process with the parent's pid that began before it. Several images
// of a process share a pid.
void FindParents(std::vector<Process>* processes) {
  std::map<std::pair<std::string, int32_t>, std::vector<size_t>> by_pid;
  for (size_t i = 0; i < processes->size(); ++i)
    by_pid[{(*processes)[i].host, (*processes)[i].pid}].push_back(i);
  for (size_t i = 0; i < processes->size(); ++i) {
    Process& process = (*processes)[i];
    const auto found = by_pid.find({process.host, process.ppid});
    if (found == by_pid.end()) continue;
    for (const size_t other : found->second) {
      if (other != i && (*processes)[other].first_ns <= process.first_ns) process.parent = other;
    }
  }
}

}  // namespace

void ModelBuilder::AddFaults(const std::vector<InputFault>& faults) {
  trace_.faults.insert(trace_.faults.end(), faults.begin(), faults.end());
}

void ModelBuilder::AddProcess(Process process) {
  SortTimelines(&process);
  std::vector<Process>& all = process.is_sampler ? trace_.samplers : trace_.processes;
  all.push_back(std::move(process));
}

void ModelBuilder::TellProcessesApart() {
  std::set<std::pair<int32_t, std::string>> seen;
  for (Process& process : trace_.processes) {
    if (seen.emplace(process.pid, process.host).second) continue;
    process.host += (process.host.empty() ? "" : " ") + process.file;
    seen.emplace(process.pid, process.host);
  }
}

Trace ModelBuilder::Finish() {
  FindParents(&trace_.processes);
  return std::move(trace_);
}

}  // namespace gpuprof::analysis
