// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches at the end of a capture whose work on the GPU is not in the trace: a capture's end waits
// for a moment only, and what runs on has no record then, or one without its end.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

// Launches near a capture's end that have no work in the recording.
struct OpenLaunch {
  size_t capture = 0;    // index
  int64_t start_ns = 0;  // of the first
  uint64_t weight = 0;
  bool is_of_graph = false;  // or one of several is
};

// Of each capture that has such.
std::vector<OpenLaunch> OpenLaunchesOf(const Process& process);

// A note for each capture of the process that has such, of its last second: more than a capture's
// end waits. Where the process's health tells already that activity is missing, none.
void AddOpenLaunchNotes(const Process& process, results::Meta* meta);

}  // namespace gpuprof::analysis
