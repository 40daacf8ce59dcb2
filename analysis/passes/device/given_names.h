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

// Returns "stream 7" or "no stream", with the name of its track: "stream 7 (copies)".
std::string StreamName(const Process& process, uint32_t device, uint32_t context, uint32_t stream);
std::string StreamName(const Track& track);

// Returns the last name that NVTX gave to each device, by the device's number. Names of streams are
// on their tracks (analysis/read/stream_names.h). Names of contexts are not available. NVTX knows
// contexts by their handles and CUPTI by its own numbers, and no recorded row joins the two.
std::map<uint32_t, std::string> DeviceNames(const Process& process);

}  // namespace gpuprof::analysis
