// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the processes of a bundle belong together: which one made which, and what that says about
// their clocks. For Open, on one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

// Sorts by start; a parent, and the program that a process ran before it called exec, come before.
void OrderProcesses(std::vector<std::unique_ptr<TraceFile>>* files);

// Fills in what a recorder did not note that noted no more than its rings. The manifest of the rank
// or run has the host, the rank, and the command line of the command's own process.
void FillFromManifest(const std::vector<std::unique_ptr<TraceFile>>& files,
                      const proto::Bundle& manifest);

// Gives a forked process that noted none of its own the modules and the command line of its parent.
// Ordered files only.
void InheritFromParents(const std::vector<std::unique_ptr<TraceFile>>& files);

// What makes each process's CLOCK_MONOTONIC the common CLOCK_REALTIME. Ordered files only. A
// process takes its parent's, as both ran under one kernel: a wall clock that was set between their
// starts then does not tear them apart.
std::vector<int64_t> RealtimeOffsets(const std::vector<std::unique_ptr<TraceFile>>& files);

// The same of samplers: one takes that of the first process of its host, as both ran under one
// kernel.
std::vector<int64_t> SamplerOffsets(const std::vector<std::unique_ptr<TraceFile>>& samplers,
                                    const std::vector<std::unique_ptr<TraceFile>>& files,
                                    const std::vector<int64_t>& offsets);

}  // namespace gpuprof::analysis
