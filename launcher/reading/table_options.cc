// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table_options.h.

#include "launcher/reading/table_options.h"

#include "analysis/analysis.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {

std::string CheckRegex(std::string_view text) {
  const std::string fault = analysis::RegularExpressionFault(text);
  return fault.empty() ? "" : "'" + std::string(text) + "' is not a regular expression: " + fault;
}

void DeclareTables(Options* options, analysis::PassOptions* pass, uint32_t* limit,
                   uint32_t* width) {
  *width = static_cast<uint32_t>(TerminalWidth());
  options->Value("--step-marker", &pass->step_marker, "REGEX",
                 "Operations and ranges whose name matches begin a step; default: detected",
                 CheckRegex);
  options->Number("--limit", limit, "N", "Largest number of rows in a table (default: 20); 0: all");
  options->Flag("--wide", &pass->wide, "Full names, and tables of any width");
  options->Number("--width", width, "COLUMNS",
                  "Width of text, 0: unlimited; default: the terminal's");
}

}  // namespace gpuprof::launcher
