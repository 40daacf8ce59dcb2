// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps over the values of JSON, one at a time, without a call for each bracket.

#pragma once

#include <cstddef>
#include <string_view>

namespace gpuprof::analysis::import {

// No trace nests its arguments deeper. Readers behind us may call themselves for each bracket.
inline constexpr size_t kMostDepth = 256;

enum class Reading {
  kWhole,   // a value, up to its end
  kMore,    // the text ends within the value
  kBroken,  // something else stands there, or the value is nested too deep
};

// Returns the place of the first byte at or behind `at` that is not blank.
size_t SkipBlanks(std::string_view text, size_t at);

// Returns the place of the quote that ends a string; `at` is behind the quote that begins it.
// npos: the text ends first.
size_t StringEnd(std::string_view text, size_t at);

// Returns the place behind a word without quotes, as a number. It is `at` itself if another byte
// stands there.
size_t WordEnd(std::string_view text, size_t at);

// Returns the place behind the bracket that closes the one at `at`, whatever stands between them.
// npos: the text ends first.
size_t BracketEnd(std::string_view text, size_t at);

// Steps over the value at `*at`: a string, a word, an array or an object. `*at` becomes the place
// behind the value, or the place of the fault. A comma behind the last element is not a fault.
Reading SkipValue(std::string_view text, size_t* at);

}  // namespace gpuprof::analysis::import
