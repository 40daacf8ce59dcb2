// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Functions of the program that streams ran on the host. The work behind a function in its stream
// waits for the function. This may explain why a device had no work. Nanoseconds; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {

// Returns when a stream of the device ran a function on the host, sorted and disjoint.
std::vector<Interval> HostFunctionTimes(const Process& process, uint32_t device);

// Appends one row for each stream that ran functions on the host. `idle`: the gaps of each device
// that had work, sorted and disjoint.
void AddHostFunctions(const Process& process, const std::map<uint32_t, std::vector<Interval>>& idle,
                      results::Streams* out);

}  // namespace gpuprof::analysis
