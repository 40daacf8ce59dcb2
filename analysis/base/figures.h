// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counts, parts and addresses for people; durations and sizes are in analysis/base/units.h. For
// text tables and the words of findings; JSON and CSV hold exact figures. Any thread.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/units.h"

namespace gpuprof::analysis {

std::string FormatNumber(uint64_t count);     // "12,345"
std::string FormatReal(double value);         // "3.50"
std::string FormatPercent(double ratio);      // 0.123 as "12.3 %"
std::string FormatFinePercent(double ratio);  // 0.00012 as "0.01 %"
std::string FormatAddress(uint64_t address);
// Returns "2026-11-26 17:40 UTC", and "-" for 0 or a moment that no calendar has.
std::string FormatMoment(int64_t realtime_ns);

}  // namespace gpuprof::analysis
