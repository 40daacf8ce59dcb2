// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The collectives of each rank of a job, with the arrival of the last rank. For rank_times.h. One
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/passes/job/rank_times.h"

namespace gpuprof::analysis {

class RankCollectives {
 public:
  // Matches the collectives of the selected processes (derived/arrivals.h).
  explicit RankCollectives(PassContext& context);

  // Returns the collectives of a rank by their start. Empty: nothing tells when others arrived.
  const std::vector<RankCollective>& Of(size_t process, std::optional<uint32_t> device) const;
  // Returns what is added to the times of a rank. 0: nothing tells, or it has the common clock.
  int64_t Offset(size_t process, std::optional<uint32_t> device) const;
  bool is_matched() const { return is_matched_; }
  bool has_clocks() const { return has_clocks_; }
  int64_t clock_error_ns() const { return clock_error_ns_; }

 private:
  struct OfRank {
    std::vector<RankCollective> collectives;
    int64_t offset_ns = 0;
  };
  const OfRank& Find(size_t process, std::optional<uint32_t> device) const;

  bool is_matched_ = false, has_clocks_ = false;
  int64_t clock_error_ns_ = 0;
  std::map<std::pair<size_t, std::optional<uint32_t>>, OfRank> ranks_;
};

}  // namespace gpuprof::analysis
