// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which ranks came late to the collectives of a group, by the times at which hosts entered them.
// Any thread.

#pragma once

#include <vector>

#include "analysis/passes/host/flight_groups.h"
#include "proto/results/flight_recorder.pb.h"

namespace gpuprof::analysis {

// Finds ranks that came last again and again, the most time first. A rank's lateness is that behind
// the last of the others. The clocks of hosts may differ: what a rank is late at every collective
// does not count.
std::vector<results::FlightLateRank> FindLateRanks(const JoinedGroup& group);

}  // namespace gpuprof::analysis
