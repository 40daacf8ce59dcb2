// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// GPU activity that was recorded only in part (GPUPROF_GPU_RATE). A row then stands for several, so
// counts and sums are estimates.

#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the number of activities that the rows of a table with weights stand for.
template <typename Table>
uint64_t CountOf(const Table& table) {
  uint64_t count = 0;
  for (const uint32_t weight : table.weight) count += weight;
  return count;
}

// Returns whether some activity was left out.
bool IsSampled(const PassContext& context);

// Says where no GPU activity was to be recorded; and where a part was left out, which lowers the
// confidence. `part`: what the result has that cannot be estimated, and is of the recorded part
// alone; "": nothing.
void AddSampledNote(const PassContext& context, std::string_view part, results::Meta* meta);

// Adds a note if the recording has kernels without the stacks that launched them.
void AddLaunchesNote(const PassContext& context, results::Meta* meta);

}  // namespace gpuprof::analysis
