// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See folded_name.h.

#include "analysis/passes/folded_name.h"

namespace gpuprof::analysis {
namespace {

bool Continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// The second byte of overlong forms, of surrogates, and of what lies beyond the last character.
bool IsForbiddenSecond(unsigned char first, unsigned char second) {
  return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
         (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

// Bytes of the UTF-8 character at `at`; 0: there is none.
size_t CharacterAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  for (size_t i = 1; i < length; ++i) {
    if (!Continues(text, at + i)) return 0;
  }
  if (length > 2 && IsForbiddenSecond(first, static_cast<unsigned char>(text[at + 1]))) return 0;
  return length;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string FoldedName(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t length = CharacterAt(name, at);
    const char c = name[at];
    if (length == 0) {
      out += "\xef\xbf\xbd";
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
