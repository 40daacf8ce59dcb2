// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See job.h.

#include "analysis/model/job.h"

#include <cstddef>
#include <cstdint>
#include <set>

namespace gpuprof::analysis {
namespace {

// Counts the ranks that the bundle holds. A rank may have run several commands.
size_t CountRanks(const proto::Bundle& whole) {
  std::set<uint32_t> ranks;
  for (const proto::Part& part : whole.part())
    if (part.bundle().has_rank()) ranks.insert(part.bundle().rank());
  if (whole.has_rank()) ranks.insert(whole.rank());
  return ranks.size();
}

}  // namespace

std::string JobWords(const proto::Bundle& whole) {
  if (!whole.has_job()) return "";
  std::string words = whole.job().launcher();
  if (!whole.job().id().empty()) words += " " + whole.job().id();
  const size_t ranks = CountRanks(whole);
  if (ranks == 0) return words;
  const bool is_part = ranks < whole.job().size();
  words += ", " + std::to_string(ranks);
  if (is_part) words += " of its " + std::to_string(whole.job().size());
  return words + (ranks == 1 && !is_part ? " rank" : " ranks");
}

std::string MissingRanksNote(const proto::Bundle& whole) {
  const size_t ranks = CountRanks(whole);
  if (!whole.has_job() || ranks == 0 || ranks >= whole.job().size()) return "";
  return "the bundle is of the job " + JobWords(whole) + ": the other ranks are not in the figures";
}

}  // namespace gpuprof::analysis
