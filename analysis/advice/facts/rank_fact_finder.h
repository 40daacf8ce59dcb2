// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compares the ranks of one recording. For the pass `advise`; one thread.

#pragma once

#include "analysis/advice/facts/rank_facts.h"
#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// Fills the facts about the ranks that have steps, within the steps of one of them. Ranks of other
// machines are left out: their clocks differ.
void FillRankFacts(PassContext& context, const results::Overview& overview,
                   const results::DeviceSeries& series, RankFacts* facts);

}  // namespace gpuprof::analysis
