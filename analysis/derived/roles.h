// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a process is in a run. Pure, any thread.

#pragma once

#include <cstddef>
#include <functional>

#include "analysis/model/trace.h"
#include "proto/kinds/run.pb.h"

namespace gpuprof::analysis {

// What other derived data says about a process.
struct RoleFacts {
  bool has_steps = false;
  bool trains = false;  // its steps are of a training
  // Returns whether the process with this index takes batches from a loader.
  std::function<bool(size_t)> takes_batches;
};

results::ProcessRole RoleOf(const Trace& trace, size_t index, const RoleFacts& facts);

}  // namespace gpuprof::analysis
