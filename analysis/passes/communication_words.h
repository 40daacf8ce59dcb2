// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of the pass `communication` for what analysis/derived finds. Pure, any thread.

#pragma once

#include <string_view>

#include "analysis/derived/arrivals.h"
#include "analysis/derived/parallel_kind.h"
#include "proto/results/communication.pb.h"

namespace gpuprof::analysis {

results::CollectiveMatch MatchWord(ArrivalMatch match);
results::CollectiveMatch GroupMatchWord(GroupMatch match);
results::Lateness LatenessWord(Lateness lateness);
results::ParallelKind KindWord(ParallelKind kind);
results::KindSource SourceWord(KindSource source);
results::Operation OperationWord(CollectiveKind kind);
// Returns "tensor parallel"; empty: the kind is not known.
std::string_view ParallelWord(ParallelKind kind);
// Returns how sure the kind is.
results::Confidence ConfidenceOf(const ParallelGuess& guess);

}  // namespace gpuprof::analysis
