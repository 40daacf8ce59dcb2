// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_collectives.h.

#include "analysis/passes/job/rank_collectives.h"

#include <algorithm>

#include "analysis/derived/arrivals.h"

namespace gpuprof::analysis {

RankCollectives::RankCollectives(PassContext& context) {
  std::vector<const Process*> processes;
  for (const size_t index : context.selected()) processes.push_back(&context.process(index));
  const Arrivals arrivals = FindArrivals(processes);
  is_matched_ = arrivals.match == ArrivalMatch::kMatched;
  if (!is_matched_) return;
  clock_error_ns_ = arrivals.clock_error_ns;
  for (const RankArrivals& rank : arrivals.ranks) {
    OfRank& found = ranks_[{context.selected()[rank.process], rank.device}];
    found.offset_ns = rank.clock_offset_ns;
    has_clocks_ |= rank.clock_offset_ns != 0;
    for (const MatchedEntry& entry : rank.entries)
      found.collectives.push_back({{entry.start_ns, entry.done_ns}, entry.last_ns});
    std::stable_sort(found.collectives.begin(), found.collectives.end(),
                     [](const auto& a, const auto& b) { return a.span.start < b.span.start; });
  }
}

const RankCollectives::OfRank& RankCollectives::Find(size_t process,
                                                     std::optional<uint32_t> device) const {
  static const OfRank none;
  const auto found = ranks_.find({process, device});
  return found == ranks_.end() ? none : found->second;
}

const std::vector<RankCollective>& RankCollectives::Of(size_t process,
                                                       std::optional<uint32_t> device) const {
  return Find(process, device).collectives;
}

int64_t RankCollectives::Offset(size_t process, std::optional<uint32_t> device) const {
  return Find(process, device).offset_ns;
}

}  // namespace gpuprof::analysis
