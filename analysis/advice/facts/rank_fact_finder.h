// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compares the ranks of one recording. For the pass `advise`; one thread.

#pragma once

#include <optional>

#include "analysis/advice/facts/rank_facts.h"
#include "analysis/advice/thresholds.h"
#include "analysis/derived/arrivals.h"
#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// Fills the facts about the ranks that have steps, within the steps of one of them.
void FillRankFacts(PassContext& context, const results::Overview& overview,
                   const results::DeviceSeries& series, RankFacts* facts);

// Finds the rank that is late at collectives, in these windows. None: no rank is late, or the ranks
// cannot be compared.
std::optional<LateRank> FindLateRank(PassContext& context, const ArrivalWindows& windows,
                                     const Thresholds& limits);

}  // namespace gpuprof::analysis
