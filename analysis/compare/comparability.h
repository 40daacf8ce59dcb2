// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether two recordings are of the same work in the same place. Pure; any thread.

#pragma once

#include "proto/results/baseline.pb.h"
#include "proto/results/diff.pb.h"

namespace gpuprof::analysis {

// Fewer steps on a side tell too little.
inline constexpr uint64_t kFewSteps = 5;

// Fills the score, which is the product of a factor for each thing that differs, and the reasons.
void FillComparability(const results::Baseline& before, const results::Baseline& after,
                       results::Comparability* out);

}  // namespace gpuprof::analysis
