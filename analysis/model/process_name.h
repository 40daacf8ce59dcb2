// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The name of a process, as its owner would call it. Any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns "train.py", "train.py rank 3", "python3 -c 'import torch'", "postgres: checkpointer", or
// the pid. A title that the process gave itself comes first.
std::string ProcessName(const Process& process);

// The place of a process among those that a launcher started together.
struct Rank {
  uint32_t number = 0;
  std::optional<uint32_t> of;  // how many there are; none: the launcher did not say
};

// Returns the rank that a launcher gave to the process (proto/ranks.h). None: no launcher did.
std::optional<Rank> RankOf(const Process& process);

}  // namespace gpuprof::analysis
