// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which values of NVTX's extended payloads belong to which range. Pure, any thread.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns for each range's row the first row and the last row plus 1 of its values. Equal: the
// range has no values. Values whose range is missing (a damaged file) belong to no range.
std::vector<std::pair<size_t, size_t>> ValuesOfRanges(const Track& track);

}  // namespace gpuprof::analysis
