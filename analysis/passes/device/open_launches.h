// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches at the end of a capture whose work on the GPU is not in the trace. The end of a capture
// waits only for a moment. Work that runs on has no record then, or a record without its end.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/passes/context.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

// Launches near a capture's end that have no work in the recording.
struct OpenLaunch {
  size_t capture = 0;    // index
  int64_t start_ns = 0;  // of the first
  uint64_t weight = 0;
  bool is_of_graph = false;  // or one of several is
};

// Returns the open launches of each capture that has open launches.
std::vector<OpenLaunch> FindOpenLaunches(const Process& process);
// Returns the same of a process, found once.
const std::vector<OpenLaunch>& OpenLaunchesOf(PassContext& context, size_t index);

// Adds a note for each capture of the process that has open launches in its last second. The end of
// a capture waits less than a second. Adds no note if the process's health already reports missing
// activity.
void AddOpenLaunchNotes(PassContext& context, size_t index, results::Meta* meta);

}  // namespace gpuprof::analysis
