// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// GPU activity of which only a part was recorded (GPUPROF_GPU_RATE): rows then stand for several,
// and what is counted or summed of them is an estimate.

#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// How many there were for the rows of one of the tables that have a weight.
template <typename Table>
uint64_t CountOf(const Table& table) {
  uint64_t count = 0;
  for (const uint32_t weight : table.weight) count += weight;
  return count;
}

// Whether any of it was left out.
bool IsSampled(const PassContext& context);

// Says where no GPU activity was to be recorded; and where a part was left out, which lowers the
// confidence. `part`: what the result has that cannot be estimated, and is of the recorded part
// alone; "": nothing.
void AddSampledNote(const PassContext& context, std::string_view part, results::Meta* meta);

// Where the recording was to have kernels without the stacks that launched them.
void AddLaunchesNote(const PassContext& context, results::Meta* meta);

}  // namespace gpuprof::analysis
