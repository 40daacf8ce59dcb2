// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Figures for people: three significant digits and a unit. For text tables and the words of
// findings; JSON and CSV hold exact figures. Any thread.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

std::string FormatDuration(int64_t ns);   // "1.23 ms"
std::string FormatBytes(uint64_t bytes);  // "4.50 MiB"
std::string FormatCount(uint64_t count);  // "12,345"
std::string FormatReal(double value);     // "3.50"
std::string FormatPercent(double ratio);  // 0.123 as "12.3 %"
std::string FormatAddress(uint64_t address);

}  // namespace gpuprof::analysis
