// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How wide text is on a terminal, and text cut to a width. Pure; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns the number of columns that a terminal shows for UTF-8 text. A wide character (Chinese,
// Japanese, Korean, most emoji) takes two columns. A combining mark takes no column. A byte that is
// not UTF-8 takes one column.
size_t DisplayWidth(std::string_view text);

// Returns at most `width` columns, with "..." in the middle of a text that was cut: names differ at
// their ends. A character is never cut in two, so the result may be a column narrower.
std::string CutTo(std::string_view text, size_t width);

// Returns the bytes of the longest begin of `text` that is at most `width` columns wide, with its
// combining marks.
size_t BytesWithin(std::string_view text, size_t width);

}  // namespace gpuprof::analysis
