// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Options that verbs with tables share.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "launcher/base/options.h"

namespace gpuprof::launcher {

// Checks the value of an option that is a regular expression. Returns what is wrong, or "".
std::string CheckRegex(std::string_view text);

// Declares --step-marker, --limit, --wide and --width, and sets `width` to that of the terminal.
void DeclareTables(Options* options, analysis::PassOptions* pass, uint32_t* limit, uint32_t* width);

}  // namespace gpuprof::launcher
