// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/communication_words.h"

#include <array>

namespace gpuprof::analysis {

results::CollectiveMatch MatchWord(ArrivalMatch match) {
  switch (match) {
    case ArrivalMatch::kNoCollectives:
      return results::COLLECTIVE_MATCH_NONE;
    case ArrivalMatch::kOneRank:
      return results::COLLECTIVE_MATCH_ONE_RANK;
    case ArrivalMatch::kDifferentOrder:
      return results::COLLECTIVE_MATCH_DIFFERENT_ORDER;
    case ArrivalMatch::kUnplaced:
      return results::COLLECTIVE_MATCH_UNPLACED;
    case ArrivalMatch::kClocks:
      return results::COLLECTIVE_MATCH_CLOCKS;
    case ArrivalMatch::kSeveralGroups:
      return results::COLLECTIVE_MATCH_SEVERAL_GROUPS;
    case ArrivalMatch::kMatched:
      return results::COLLECTIVE_MATCH_MATCHED;
  }
  return results::COLLECTIVE_MATCH_UNKNOWN;
}

results::CollectiveMatch GroupMatchWord(GroupMatch match) {
  switch (match) {
    case GroupMatch::kMatched:
      return results::COLLECTIVE_MATCH_MATCHED;
    case GroupMatch::kOneRank:
      return results::COLLECTIVE_MATCH_ONE_RANK;
    case GroupMatch::kDifferentOrder:
      return results::COLLECTIVE_MATCH_DIFFERENT_ORDER;
    case GroupMatch::kUnplaced:
      return results::COLLECTIVE_MATCH_UNPLACED;
    case GroupMatch::kClocks:
      return results::COLLECTIVE_MATCH_CLOCKS;
    case GroupMatch::kSeveralGroups:
      return results::COLLECTIVE_MATCH_SEVERAL_GROUPS;
  }
  return results::COLLECTIVE_MATCH_UNKNOWN;
}

results::Lateness LatenessWord(Lateness lateness) {
  switch (lateness) {
    case Lateness::kNone:
      return results::LATENESS_NONE;
    case Lateness::kOnce:
      return results::LATENESS_ONCE;
    case Lateness::kTooFew:
      return results::LATENESS_TOO_FEW;
    case Lateness::kInTurns:
      return results::LATENESS_IN_TURNS;
    case Lateness::kLate:
      return results::LATENESS_LATE;
  }
  return results::LATENESS_UNKNOWN;
}

// Both lists have one order.
results::ParallelKind KindWord(ParallelKind kind) {
  return static_cast<results::ParallelKind>(kind);
}
results::KindSource SourceWord(KindSource source) {
  return static_cast<results::KindSource>(source);
}
results::Operation OperationWord(CollectiveKind kind) {
  return static_cast<results::Operation>(kind);
}

std::string_view ParallelWord(ParallelKind kind) {
  constexpr std::array<std::string_view, 9> kWords = {"",
                                                      "all ranks",
                                                      "data parallel",
                                                      "tensor parallel",
                                                      "pipeline parallel",
                                                      "expert parallel",
                                                      "context parallel",
                                                      "embedding",
                                                      "several dimensions"};
  return kWords[static_cast<size_t>(kind)];
}

results::Confidence ConfidenceOf(const ParallelGuess& guess) {
  results::Confidence confidence;
  switch (guess.source) {
    case KindSource::kName:
      confidence.set_level(results::LEVEL_HIGH);
      break;
    case KindSource::kOperations:
      confidence.set_level(results::LEVEL_MEDIUM);
      confidence.set_reason("its operations tell the kind, not its name");
      break;
    case KindSource::kRanks:
      confidence.set_level(results::LEVEL_LOW);
      confidence.set_reason("its ranks tell the kind, not its name");
      break;
    case KindSource::kNone:
      confidence.set_level(results::LEVEL_LOW);
      confidence.set_reason("nothing tells the kind");
      break;
  }
  return confidence;
}

}  // namespace gpuprof::analysis
