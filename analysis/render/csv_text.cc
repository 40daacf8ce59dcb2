// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See csv_text.h.

#include "analysis/render/csv_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "analysis/analysis.h"

namespace gpuprof::analysis {
namespace {

// What formulas begin with, also as the wide characters that East Asian spreadsheets take for them.
constexpr std::string_view kFormulaSigns[] = {"=",      "+",      "-",      "@",
                                              "\uff1d", "\uff0b", "\uff0d", "\uff20"};

bool IsNumber(std::string_view text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

// Spreadsheets drop blanks before they look.
bool IsFormula(std::string_view part) {
  part.remove_prefix(std::min(part.find_first_not_of(" \u00a0\u3000"), part.size()));
  const auto begins = [part](std::string_view sign) { return part.starts_with(sign); };
  return std::any_of(std::begin(kFormulaSigns), std::end(kFormulaSigns), begins) && !IsNumber(part);
}

// Calls visit(part, is_first) for what semicolons divide.
template <typename Visit>
void ForEachPart(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    visit(text.substr(at, end - at), at == 0);
    at = end + 1;
  }
}

}  // namespace

std::string CsvText(std::string_view text) {
  // A tab or a carriage return would begin a formula, too. They are escapes from here on.
  const std::string line = OneLine(text);
  std::string out;
  ForEachPart(line, [&](std::string_view part, bool is_first) {
    if (!is_first) out += ';';
    if (IsFormula(part)) out += '\'';
    out += part;
  });
  return out;
}

std::string CsvJson(std::string_view json) {
  std::string out;
  ForEachPart(json, [&](std::string_view part, bool is_first) {
    if (!is_first) out += IsFormula(part) ? "\\u003b" : ";";
    out += part;
  });
  return out;
}

std::string CsvQuoted(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace gpuprof::analysis
