// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What calls of CUDA are named, in passes and in the timeline. Pure.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns the name of a proto::ApiFunction, without the release that CUPTI adds to the runtime's
// names.
std::string ApiFunctionName(const Process& process, uint32_t function);

}  // namespace gpuprof::analysis
