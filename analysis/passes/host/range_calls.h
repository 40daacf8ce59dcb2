// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// API calls that a thread made inside its ranges of one name: of NVTX, of ITT or of a framework.
// One thread.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns whether `name` means the range of a row: its message, or "domain:message".
bool IsRangeNamed(const Process& process, const RangeTable& table, size_t row,
                  const std::string& name);

// Adds the correlations of the calls to `inside`. False: no range of this name was recorded.
bool CallsInRanges(const Process& process, const std::string& name,
                   std::unordered_set<uint32_t>* inside);

}  // namespace gpuprof::analysis
