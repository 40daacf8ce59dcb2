// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decodes the event blocks of all files into their tracks' columns, in parallel: each block knows
// beforehand which segment it fills, so that no order between blocks is needed and none is lost. A
// block that cannot be decoded is a fault and leaves no row.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/model/table_set.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

class LazyRows;

// Loads the wanted tables. All files must have been placed. `memory_limit_bytes` bounds the columns
// of all files together. Tables become lazy if `lazy` is there and they are not in `eager`.
void LoadEvents(const std::vector<std::unique_ptr<TraceFile>>& files, const TableSet& wanted,
                int threads, uint64_t memory_limit_bytes, LazyRows* lazy = nullptr,
                const TableSet& eager = {});

}  // namespace gpuprof::analysis
