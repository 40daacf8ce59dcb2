// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names as folded stacks can hold them. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns one frame of a line `frame;frame;frame COUNT`. Semicolons become colons, control
// characters become blanks, bytes that are not UTF-8 become U+FFFD, and an empty name becomes "?".
// A number after the last blank is tied to the name: flamegraph.pl would take it for the first of
// two counts.
std::string FoldedName(std::string_view name);

}  // namespace gpuprof::analysis
