// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The folders that compilers ran in. Programs of .debug_line older than version 5 do not say them,
// but the units of .debug_info do. For module_lines.cc; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analysis/symbols/dwarf_forms.h"

namespace gpuprof::analysis {

// Returns the folder of each program, by the program's offset in .debug_line. A unit that makes no
// sense is left out. `format` has the sections of texts.
std::map<uint64_t, std::string> UnitFolders(std::string_view info, std::string_view abbreviations,
                                            DwarfFormat format);

}  // namespace gpuprof::analysis
