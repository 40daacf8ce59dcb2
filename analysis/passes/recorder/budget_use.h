// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recordings with a limit on their cost (GPUPROF_BUDGET): the limit, the measured cost, and sums of
// the whole run. The recorded windows are a sample of the steps. The ratio of a window's
// sum to its steps gives sums of the run. Their error is that of a ratio estimator (Cochran,
// Sampling Techniques, 1977, section 6.4).

#pragma once

#include <string>

#include "analysis/model/trace.h"
#include "proto/results/health.pb.h"

namespace gpuprof::analysis {

// Returns whether the cost of the process's recording had a limit.
bool HasBudget(const Process& process);

// Fills the fields that are known. Needs the tables of kernels, memcpys and memsets.
void FillBudgetUse(const Process& process, results::BudgetUse* use);

// Returns a sentence or two for every result that is of windows; "": it is of the whole run.
std::string BudgetNote(const Process& process);

}  // namespace gpuprof::analysis
