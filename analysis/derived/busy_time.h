// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How long at least one kernel of several streams ran. The streams are walked together, in windows
// of time that threads share. So no list of all spans is needed.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns the length of the union of all kernels' spans. In each table neither the starts nor the
// ends may fall from row to row. `threads`: how many may work on it; 0: as many as cores.
int64_t BusyTime(const std::vector<const KernelTable*>& streams, int threads);

}  // namespace gpuprof::analysis
