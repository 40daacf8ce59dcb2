// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/command_line.h"

#include <cctype>

namespace gpuprof::analysis {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool IsPlain(char c) {
  constexpr std::string_view kPlain = "-_./:,=+@%^";
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos;
}

// $'...': the only quotes in which control characters can be written.
std::string Escaped(std::string_view word) {
  constexpr char kOctal[] = "01234567";
  std::string text = "$'";
  for (const char c : word) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (IsControl(c)) {
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', kOctal[byte >> 6], kOctal[byte >> 3 & 7], kOctal[byte & 7]};
    } else {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

std::string ShellWord(std::string_view word) {
  bool plain = !word.empty();
  for (const char c : word) {
    if (IsControl(c)) return Escaped(word);
    plain = plain && IsPlain(c);
  }
  if (plain) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace gpuprof::analysis
