// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The only way to make a Trace: the reader of bundles, importers and tests add finished processes
// (analysis/model/builder.h) and faults. Finish() puts timelines in order and finds out which
// process made which. One thread.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string path) { trace_.path = std::move(path); }

  // Gives access to facts of the whole: manifest, origin, importer, notes, tables.
  Trace& trace() { return trace_; }

  void AddFault(InputFault fault) { trace_.faults.push_back(std::move(fault)); }
  void AddFaults(const std::vector<InputFault>& faults);
  // Adds a process. They come by their start, children after parents. A sampler of hardware
  // counters is kept apart.
  void AddProcess(Process process);
  // Gives the host of a process another name if an earlier process has its pid and host. For files
  // of several ranks, which may not name their host.
  void TellProcessesApart();

  // Makes the trace. Call it once.
  Trace Finish();

 private:
  Trace trace_;
};

}  // namespace gpuprof::analysis
