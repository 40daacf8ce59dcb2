// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names as folded stacks can hold them. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// One frame of a line `frame;frame;frame COUNT`: colons for semicolons, blanks for control
// characters, U+FFFD for bytes that are not UTF-8, "?" for nothing. A number behind the last blank
// is tied to the name, or flamegraph.pl would take it for a first count of two.
std::string FoldedName(std::string_view name);

}  // namespace gpuprof::analysis
