// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The lanes of a job's ranks (analysis/stragglers/job_lanes.h): their steps, work and collectives.
// Steps are the periods of step_periods.h. Phases of the host are those of the pass `steps`. A
// kernel has the phase of the moment in which it was launched. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/passes/context.h"
#include "analysis/stragglers/job_lanes.h"

namespace gpuprof::analysis {

struct RankLanes {
  JobLanes job;
  std::vector<size_t> processes;  // by lane: index in the trace
  std::vector<std::optional<uint32_t>> devices;
  std::vector<int64_t> offsets;  // what was added to the times of each lane
};

// Makes the lanes of the ranks whose arrivals are matched. `processes`: those that FindArrivals()
// got, as indices in the trace.
RankLanes MakeRankLanes(PassContext& context, const Arrivals& arrivals,
                        const std::vector<size_t>& processes);

}  // namespace gpuprof::analysis
