// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Suggests the known name that a mistyped one was meant to be. Called by everything that refuses a
// name: verbs, options, variables, keys, choices. Pure; never prints.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

// Counts the fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into
// `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns the closest of `known`. Empty: no name is close enough to be meant (a third of its
// length, at least one edit). Capital letters count as small ones.
std::string Nearest(std::string_view name, const std::vector<std::string>& known);

// Returns " Did you mean 'X'?", or empty.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

}  // namespace gpuprof::launcher
