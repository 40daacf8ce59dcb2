// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is wrong in the groups of joined dumps: the first collective that ranks did not enter, did
// not leave, or entered with other arguments. Messages without their other end, too. Any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/passes/host/flight_groups.h"
#include "analysis/passes/host/flight_moments.h"
#include "proto/results/flight_recorder.pb.h"

namespace gpuprof::analysis {

struct FlightProblems {
  std::vector<results::FlightProblem> problems;   // causes come first
  std::vector<results::FlightProblem> undecided;  // dumps of different moments may explain them
};

// Finds the problems of all groups.
FlightProblems FindFlightProblems(const std::vector<JoinedGroup>& groups,
                                  const FlightMoments& moments);

// Returns the newest collective that all ranks with a dump have entered; kNotInDump: none.
int64_t LastEnteredByAll(const JoinedGroup& group);

// Returns a set of ranks that do the same, without its ranks. `step` null: the ranks have nothing.
results::FlightSide SideOf(const FlightMember& member, const FlightStep* step);
// Returns the word of a state; "": not known.
const char* FlightStateWord(FlightState state);

}  // namespace gpuprof::analysis
