// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device may have had work that is not in the recording, because it was launched before a
// capture or had not ended when the capture did. Programs run ahead of the GPU: a capture that
// begins in the middle of one begins with work of which nothing is known. Nanoseconds; one thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/passes/launches.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Of a device of the process: sorted and disjoint. From a capture's start to where work of a stream
// begins that was launched in the capture and waited longer than a launch takes; and from the first
// launch without work to the capture's end. A capture that had CUDA from its beginning has nothing
// of the former.
std::vector<Interval> UnseenWork(const Process& process, const Launches& launches, uint32_t device);

// For notes: "<of whom>: ... of its idle time ...".
std::string UnseenNote(const std::string& whose, int64_t unseen_ns);

}  // namespace gpuprof::analysis
