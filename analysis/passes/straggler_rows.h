// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The result of the pass `stragglers`, of a schedule: of a recording, or of a table of operations.
// Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stragglers/findings.h"
#include "analysis/stragglers/schedule.h"
#include "proto/results/stragglers.pb.h"

namespace gpuprof::analysis {

struct StragglerPlace {
  int32_t pid = 0;
  std::string host, name;
  std::optional<uint32_t> device;
  std::optional<int64_t> rank;
};

struct StragglerAnswer {
  bool is_possible = true;  // else operations wait for each other in a circle
  StragglerFindings findings;
};
// Fills all that follows from the schedule. `places`: by worker. Returns what was found.
StragglerAnswer FillStragglers(const Schedule& schedule, const std::vector<StragglerPlace>& places,
                               results::Stragglers* out);

// Fills what every result says of itself, for a result that no pass made.
void FillStragglerMeta(const std::string& path, uint64_t rows, results::Meta* meta);

}  // namespace gpuprof::analysis
