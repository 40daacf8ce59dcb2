// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Arrows from operations of the forward pass to those of the backward pass. Both have the number
// that autograd gave to the operation. Built once a process, then read only.
//
// The rules are torch.profiler's. If several forward operations have a number, the arrow begins at
// the one that began last. It ends at the backward operation that ended first.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/derived/origin.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class BackwardLinks {
 public:
  explicit BackwardLinks(const Process& process);

  // Returns the number of the operation's arrow, from 1. 0: none. `track`: index in
  // Process::tracks.
  uint32_t Of(size_t track, size_t row) const {
    return links_[track].empty() ? 0 : links_[track][row];
  }

  // Returns the forward operation of a backward one. None: it is not known.
  std::optional<OpRef> ForwardOf(OpRef backward) const {
    const uint32_t arrow = Of(backward.track, backward.row);
    if (arrow == 0 || forward_[arrow - 1] == backward) return std::nullopt;
    return forward_[arrow - 1];
  }

 private:
  std::vector<std::vector<uint32_t>> links_;  // by track; empty: no operation has a number
  std::vector<OpRef> forward_;                // by arrow
};

}  // namespace gpuprof::analysis
