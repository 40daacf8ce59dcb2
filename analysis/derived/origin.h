// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which framework operation caused a piece of the GPU's work. The correlation id leads from the
// work to the call that launched it. Some sources give each call the id of
// its operation, which leads on. Otherwise the operation is the innermost one that the thread was
// in.
//
// Made for one process, then read only. The process, its operations and its calls must outlive it.

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

struct OpRef {
  uint32_t track = 0;  // index in Process::tracks
  uint32_t row = 0;    // in its table of operations
};

class Origin {
 public:
  Origin(ProcessOps* ops, const CallIndex& calls);

  // Finds the operation of a row of device work. `external`: the row's own id of its operation; 0:
  // none. None: the work was launched outside of all operations, or by a call that was not
  // recorded.
  std::optional<OpRef> Find(uint32_t correlation, uint64_t external);

  // Finds the innermost operation that a thread was in at a moment.
  std::optional<OpRef> Innermost(uint32_t track, int64_t time_ns);

 private:
  ProcessOps* ops_;
  const CallIndex* calls_;
  std::unordered_map<uint64_t, OpRef> by_external_;
  std::vector<std::vector<uint32_t>> by_start_;  // rows of a track, by their start
};

}  // namespace gpuprof::analysis
