// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the program calls its devices and streams, and what stands for those that it gave no name.
// For all passes with rows of them. Any thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// "stream 7", "no stream", with the name that its track has: "stream 7 (copies)".
std::string StreamName(const Process& process, uint32_t device, uint32_t context, uint32_t stream);
std::string StreamName(const Track& track);

// By the device's number: its last name of those that were given through NVTX. Those of streams are
// their tracks' (analysis/read/stream_names.h). Names of contexts are not to be had: NVTX knows
// them by their handles, CUPTI by numbers of its own, and nothing that is recorded joins the two.
std::map<uint32_t, std::string> DeviceNames(const Process& process);

}  // namespace gpuprof::analysis
