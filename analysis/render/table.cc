// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table.h.

#include "analysis/render/table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kNarrowest = 12;
// Names are cut to this width before a column is left out; on a narrow terminal to a third of it.
constexpr size_t kReadable = 32;
// Columns that say least, the first to be left out; behind them the rightmost go.
constexpr std::string_view kLeastNeeded[] = {
    "min",   "median", "p10",        "block",           "grid",
    "waves", "limit",  "first call", "several kernels", "unknown"};

// Cells that became the same although they were different: each shows the place where it differs
// from the others, and where that is not enough ends in a number.
void TellApart(const std::vector<std::string>& whole, size_t width, std::vector<std::string>* cut) {
  std::map<std::string, std::set<std::string>> by_cut;
  for (size_t i = 0; i < whole.size(); ++i) by_cut[(*cut)[i]].insert(whole[i]);
  std::set<std::string> taken;
  for (const auto& [text, of_it] : by_cut) taken.insert(text);
  std::map<std::string, std::string> better;
  for (const auto& [text, of_it] : by_cut) {
    if (of_it.size() == 1) continue;
    // They are sorted: what the first and the last have in common, all have.
    const std::string &first = *of_it.begin(), &last = *of_it.rbegin();
    size_t same = 0;
    while (same < std::min(first.size(), last.size()) && first[same] == last[same]) ++same;
    while (same > 0 && same < first.size() && Continues(first[same])) --same;
    const size_t head = width / 3;
    size_t number = 0;
    for (const std::string& cell : of_it) {
      std::string told = cell.substr(0, BytesWithin(cell, head)) + "...";
      const std::string_view rest = std::string_view(cell).substr(same);
      told += rest.substr(0, BytesWithin(rest, width - DisplayWidth(told)));
      while (!taken.insert(told).second) {
        const std::string mark = "~" + std::to_string(++number);
        told = cell.substr(0, BytesWithin(cell, width - std::min(width, mark.size()))) + mark;
      }
      better[cell] = told;
    }
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto found = better.find(whole[i]);
    if (found != better.end()) (*cut)[i] = found->second;
  }
}

}  // namespace

void TextTable::AddColumn(std::string header, Align align, bool flexible) {
  columns_.push_back({std::move(header), align, flexible});
}

void TextTable::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

TextTable::Layout TextTable::LayOut(size_t width) const {
  Layout layout;
  size_t total = 0, least = 0;
  std::vector<size_t> floors;
  const size_t readable = std::clamp(width / 3, kNarrowest, kReadable);
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = DisplayWidth(columns_[i].header);
    for (const auto& row : rows_) widest = std::max(widest, DisplayWidth(row[i]));
    layout.widths.push_back(widest);
    floors.push_back(columns_[i].flexible ? std::min(widest, readable) : widest);
    total += kGap.size() + widest;
    least += kGap.size() + floors[i];
    layout.shown.push_back(i);
  }
  while (least > width && layout.shown.size() > 1) {
    // The first column says what a row is.
    auto which = layout.shown.end();
    for (const std::string_view header : kLeastNeeded) {
      which = std::find_if(layout.shown.begin() + 1, layout.shown.end(),
                           [&](size_t i) { return columns_[i].header == header; });
      if (which != layout.shown.end()) break;
    }
    if (which == layout.shown.end()) --which;
    least -= kGap.size() + floors[*which];
    total -= kGap.size() + layout.widths[*which];
    layout.left_out.push_back(*which);
    layout.shown.erase(which);
  }
  // The widest give way, and the first column is the last resort.
  while (total > width) {
    size_t widest = layout.shown[0];
    for (const size_t i : layout.shown) {
      const bool may_give = columns_[i].flexible && layout.widths[i] > kNarrowest;
      if (may_give && (layout.widths[i] > layout.widths[widest] || !columns_[widest].flexible))
        widest = i;
    }
    if (layout.widths[widest] <= 1) break;
    --layout.widths[widest];
    --total;
  }
  std::sort(layout.left_out.begin(), layout.left_out.end());
  return layout;
}

std::vector<std::string> TextTable::CutCells(size_t column, size_t width) const {
  std::vector<std::string> whole, cut;
  bool any_cut = false;
  for (const auto& row : rows_) {
    whole.push_back(row[column]);
    cut.push_back(CutTo(row[column], width));
    any_cut |= cut.back() != whole.back();
  }
  if (any_cut && width >= kNarrowest) TellApart(whole, width, &cut);
  return cut;
}

std::string TextTable::Render(int width) const {
  const Layout layout = LayOut(width > 0 ? static_cast<size_t>(width) : SIZE_MAX);
  std::vector<std::string> lines(rows_.size() + 1);
  for (const size_t i : layout.shown) {
    const size_t wide = layout.widths[i];
    std::vector<std::string> cells = CutCells(i, wide);
    cells.insert(cells.begin(), CutTo(columns_[i].header, wide));
    for (size_t row = 0; row < lines.size(); ++row) {
      const std::string padding(wide - DisplayWidth(cells[row]), ' ');
      lines[row] += kGap;
      lines[row] += columns_[i].align == Align::kLeft ? cells[row] + padding : padding + cells[row];
    }
  }
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (layout.left_out.empty()) return out;
  std::string names;
  for (const size_t i : layout.left_out)
    names +=
        (names.empty() ? "" : ", ") + (columns_[i].header.empty() ? "notes" : columns_[i].header);
  return out + WrapText("(no room for: " + names + "; --wide shows all)", "  ", "  ", width);
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
