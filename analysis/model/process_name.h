// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The name of a process, as its owner would call it. Any thread.

#pragma once

#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns "train.py", "train.py rank 3", "python3 -c 'import torch'", "postgres: checkpointer", or
// the pid. A title that the process gave itself comes first.
std::string ProcessName(const Process& process);

// Returns the rank that a launcher gave to the process: "3"; "" if none.
std::string RankOf(const Process& process);

}  // namespace gpuprof::analysis
