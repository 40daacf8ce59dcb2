// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// API calls that a thread made inside its NVTX ranges of one name. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Whether a row is a range that `name` means: its message, or "domain:message".
bool IsRangeNamed(const Process& process, const RangeTable& table, size_t row,
                  const std::string& name);

// Adds the correlations of the calls to `inside`. False: no such range was recorded.
bool CallsInRanges(const Process& process, const std::string& name,
                   std::unordered_set<uint32_t>* inside);

}  // namespace gpuprof::analysis
