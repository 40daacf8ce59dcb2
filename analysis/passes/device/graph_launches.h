// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches of CUDA graphs, put together from their recorded rows. These are its nodes, which share
// the launch's correlation id, or one row for the whole launch.

#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

struct GraphLaunch {
  uint32_t graph = 0;  // executable
  uint32_t correlation = 0;
  uint32_t device = 0;
  // From the begin of the first node to the end of the last.
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t weight = 1;    // how many it stands for
  bool is_whole = false;  // its nodes were not recorded
  uint64_t kernels = 0, copies = 0, sets = 0;
  std::vector<Interval> nodes;
};

// Returns the launches, sorted by graph, then by start.
std::vector<GraphLaunch> GraphLaunchesOf(const Process& process);

// What a graph holds by the record of its making: of kinds that leave rows. False: not known.
struct GraphContents {
  uint64_t kernels = 0, copies = 0, sets = 0;
};
bool FindContents(const Process& process, uint32_t graph, GraphContents* contents);

// Counts the launches that were recorded as wholes. `only`: the correlations that count; null: all.
uint64_t WholeGraphLaunches(const Process& process, const std::unordered_set<uint32_t>* only);

// Says so, where a result leaves out what is in them.
void AddWholeGraphNote(const Process& process, uint64_t launches, const char* what,
                       results::Meta* meta);

// Calls that launch graphs, each once.
struct GraphCalls {
  uint64_t count = 0;
  uint64_t empty_count = 0;  // of them, those without any work in the recording
};
GraphCalls GraphCallsOf(const Process& process);

}  // namespace gpuprof::analysis
