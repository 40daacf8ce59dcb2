// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums over the kernels of each track by signature, and the medians of groups of them. Both walk
// the columns in pieces that threads share, and keep nothing for each row: a bundle may have a
// hundred million kernels.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/derived/call_ids.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// The kernels of one signature on one track. Counts are of kernels, which rows may stand for
// several of.
struct SignatureSums {
  uint32_t signature = 0;
  size_t first_row = 0;
  uint64_t rows = 0;
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  uint64_t in_graphs = 0;
  uint64_t launched = 0;  // whose call was recorded
  size_t group = 0;       // for FindMedians
};

struct TrackSums {
  const Track* track = nullptr;
  std::vector<SignatureSums> signatures;  // by first_row
  // Neither starts nor ends fall from row to row.
  bool is_in_order = true;
};

// Sums the kernels of the tracks that have some, in the order of the tracks. `only`: correlations
// of the launches that count; null: all do. `threads`: how many may work on it; 0: as many as
// cores.
std::vector<TrackSums> SumKernels(const Process& process, const CallIds& calls,
                                  const std::unordered_set<uint32_t>* only, int threads);

// The kernels of one process that SumKernels summed.
struct SummedKernels {
  std::vector<TrackSums> tracks;
  const std::unordered_set<uint32_t>* only = nullptr;
};

// Returns the median duration of each group. The groups are numbered from 0 to `groups` - 1.
std::vector<int64_t> FindMedians(const std::vector<SummedKernels>& processes, size_t groups,
                                 int threads);

}  // namespace gpuprof::analysis
