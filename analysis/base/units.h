// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people read them, three significant digits: "1.50 s", "12.3 MiB", "4.83 M". Any
// thread.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

std::string FormatDuration(int64_t ns);
std::string FormatBytes(uint64_t bytes);
std::string FormatCount(uint64_t count);

}  // namespace gpuprof::analysis
