// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Some calls are needed whole even if the ids of calls are enough. These are the calls near the
// ends of captures, whose work may be missing in the recording (passes/open_launches.h). Blocks
// tell by their headers whether they can hold calls of that time.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

class LateCalls {
 public:
  // Keeps a reference to the process, whose captures must have been placed.
  explicit LateCalls(const Process& process);

  // Returns whether all calls are needed whole. When a thread captured a stream into a CUDA graph,
  // only its calls tell.
  bool NeedsAll() const { return needs_all_; }

  // Takes note of a block of calls. All blocks must be noted before the first question.
  void Note(const PlannedBlock& block);
  // Returns whether a block may hold calls of the last second before a capture's last call.
  bool MayHold(const PlannedBlock& block) const;

 private:
  const std::vector<CaptureWindow>& captures_;
  bool needs_all_ = false;
  std::vector<int64_t> surely_called_;  // by capture: its last call does not end before this time
};

}  // namespace gpuprof::analysis
