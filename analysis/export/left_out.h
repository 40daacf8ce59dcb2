// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counts the rows that a format has no place for, and rows whose weight it cannot tell. Pure.

#pragma once

#include <cstdint>
#include <span>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Counts the rows of all tables but these, by the names of tables that `gpuprof dump` uses. Ranges
// without a place are counted, too.
void CountLeftOut(const Track& track, std::span<const proto::ChunkKind> written,
                  ExportReport* report);

// Returns how many rows stand for several, where only a part was recorded.
uint64_t SampledRows(const Track& track);

}  // namespace gpuprof::analysis
