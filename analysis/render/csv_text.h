// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Foreign text in a cell of CSV. Spreadsheets take a cell for a formula by its first character, and
// a formula can start programs and send what other cells hold. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns the text in one line, with ' before it if a spreadsheet could take it for a formula. The
// same is done behind each semicolon, because some spreadsheets begin a cell there. A number stays
// as it is.
std::string CsvText(std::string_view text);

// Returns a list of JSON, in which an escape stands for a semicolon that a spreadsheet could take a
// formula behind. Readers of JSON undo the escape.
std::string CsvJson(std::string_view json);

// Returns a cell in quotes, if it needs them.
std::string CsvQuoted(std::string_view cell);

}  // namespace gpuprof::analysis
