// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table.h.

#include "analysis/render/table.h"

#include <algorithm>

#include "analysis/analysis.h"
#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kNarrowest = 12;
// Where the other columns alone are too wide, lines break anyway: names can be told apart then.
constexpr size_t kReadable = 40;

}  // namespace

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

std::string CutTo(std::string_view text, size_t width) {
  const size_t whole = DisplayWidth(text);
  if (whole <= width) return std::string(text);
  const std::string_view mark = width > 6 ? "..." : "";
  const size_t kept = width - mark.size();
  const size_t tail = mark.empty() ? 0 : kept / 2;
  // Byte offset of the code point with that number.
  auto offset = [&](size_t number) {
    size_t at = 0;
    for (size_t seen = 0; at < text.size(); ++at) {
      if (!Continues(text[at]) && seen++ == number) break;
    }
    return at;
  };
  return std::string(text.substr(0, offset(kept - tail)))
      .append(mark)
      .append(text.substr(offset(whole - tail)));
}

void TextTable::AddColumn(std::string header, Align align, bool flexible) {
  columns_.push_back({std::move(header), align, flexible});
}

void TextTable::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render(int width) const {
  std::vector<size_t> widths;
  size_t total = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = DisplayWidth(columns_[i].header);
    for (const auto& row : rows_) widest = std::max(widest, DisplayWidth(row[i]));
    widths.push_back(widest);
    total += kGap.size() + widest;
  }
  const std::vector<size_t> whole = widths;
  for (size_t i = 0; i < columns_.size() && width > 0; ++i) {
    const auto limit = static_cast<size_t>(width);
    if (!columns_[i].flexible || total <= limit) continue;
    const size_t less = std::min(total - limit, widths[i] - std::min(widths[i], kNarrowest));
    widths[i] -= less;
    total -= less;
  }
  for (size_t i = 0; i < columns_.size() && width > 0 && total > static_cast<size_t>(width); ++i) {
    if (columns_[i].flexible) widths[i] = std::max(widths[i], std::min(whole[i], kReadable));
  }
  std::string out;
  auto add = [&](auto&& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = CutTo(cell_of(i), widths[i]);
      const std::string padding(widths[i] - DisplayWidth(cell), ' ');
      line += kGap;
      line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add([&](size_t i) -> const std::string& { return columns_[i].header; });
  for (const auto& row : rows_) add([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

std::string WrapText(std::string_view words, std::string_view first, std::string_view rest,
                     int width) {
  const std::string line = OneLine(words);
  std::string_view text = line;
  std::string out(first);
  size_t column = DisplayWidth(first);
  bool fresh = true;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    const size_t length = DisplayWidth(word);
    if (!fresh && width > 0 && column + 1 + length > static_cast<size_t>(width)) {
      out += "\n";
      out += rest;
      column = DisplayWidth(rest);
      fresh = true;
    }
    if (!fresh) out += ' ';
    out += word;
    column += length + (fresh ? 0 : 1);
    fresh = false;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out + "\n";
}

}  // namespace gpuprof::analysis
