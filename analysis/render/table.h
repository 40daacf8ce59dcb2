// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plain text tables: columns aligned, the wide one cut so that a row fits the terminal. For the
// text of results; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::analysis {

// Columns that a terminal shows for UTF-8 text: one a code point.
size_t DisplayWidth(std::string_view text);
// At most `width` columns, "..." in the middle where something was cut: names differ at their ends.
std::string CutTo(std::string_view text, size_t width);

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // One column may give way when a row is too wide: `flexible`.
  void AddColumn(std::string header, Align align, bool flexible = false);
  // Missing cells are empty; each becomes one line (OneLine).
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  size_t rows() const { return rows_.size(); }

  // Lines indented by two, each ending in a newline; at most `width` columns (0: any).
  std::string Render(int width) const;

 private:
  struct Column {
    std::string header;
    Align align;
    bool flexible;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Breaks words into lines of at most `width` columns (0: one line); the first begins with `first`,
// the others with `rest`. Line feeds in `words` break none: programs name things.
std::string WrapText(std::string_view words, std::string_view first, std::string_view rest,
                     int width);

}  // namespace gpuprof::analysis
