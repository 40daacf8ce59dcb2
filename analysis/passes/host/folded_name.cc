// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See folded_name.h.

#include "analysis/passes/host/folded_name.h"

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string FoldedName(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t length = CodePointBytes(name.substr(at));
    const char c = name[at];
    if (length == 0) {
      out += kReplacement;
    } else if (c == ';') {
      out += ':';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
    } else {
      out.append(name, at, length);
    }
    at += length == 0 ? 1 : length;
  }
  // Blanks at the ends would be lost to readers that trim.
  out.erase(0, out.find_first_not_of(' '));
  out.erase(out.find_last_not_of(' ') + 1);
  if (out.empty()) return "?";
  size_t digits = out.size();
  while (digits > 0 && (IsDigit(out[digits - 1]) || out[digits - 1] == '.')) --digits;
  if (digits > 0 && digits < out.size() && out[digits - 1] == ' ') out[digits - 1] = '_';
  return out;
}

}  // namespace gpuprof::analysis
