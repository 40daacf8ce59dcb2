// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plain text tables: columns aligned, wide names cut and columns left out so that a row fits the
// terminal. For the text of results; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/display_width.h"

namespace gpuprof::analysis {

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // Columns that may be cut when a row is too wide: `flexible`.
  void AddColumn(std::string header, Align align, bool flexible = false);
  // Missing cells are empty; each becomes one line (OneLine).
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  size_t rows() const { return rows_.size(); }

  // Lines indented by two, each ending in a newline; at most `width` columns (0: any). Flexible
  // columns are cut first, so that different cells stay different. When that is not enough, columns
  // are left out, and a last line names them.
  std::string Render(int width) const;

 private:
  struct Column {
    std::string header;
    Align align;
    bool flexible;
  };
  // How a table is drawn: which columns, and how wide.
  struct Layout {
    std::vector<size_t> shown;
    std::vector<size_t> left_out;
    std::vector<size_t> widths;  // of all columns
  };
  Layout LayOut(size_t width) const;
  std::vector<std::string> CutCells(size_t column, size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Breaks words into lines of at most `width` columns (0: one line); the first begins with `first`,
// the others with `rest`. Line feeds in `words` break none: programs name things.
std::string WrapText(std::string_view words, std::string_view first, std::string_view rest,
                     int width);

}  // namespace gpuprof::analysis
