// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/command_line.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

// How many bytes in front are nothing that a terminal can just show: one of a control character or
// of what is no UTF-8, two of a C1 character.
size_t Unshowable(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x20 || byte == 0x7f || CodePointBytes(text) == 0) return 1;
  return IsC1(text) ? 2 : 0;
}

size_t Shown(std::string_view text) { return std::max<size_t>(CodePointBytes(text), 1); }

bool NeedsEscapes(std::string_view word) {
  for (; !word.empty(); word.remove_prefix(Shown(word))) {
    if (Unshowable(word) != 0) return true;
  }
  return false;
}

bool IsPlain(char c) {
  constexpr std::string_view kPlain = "-_./:,=+@%^";
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos;
}

void AddOctal(std::string_view bytes, std::string* text) {
  constexpr char kOctal[] = "01234567";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *text += {'\\', kOctal[byte >> 6], kOctal[byte >> 3 & 7], kOctal[byte & 7]};
  }
}

// $'...': the only quotes in which control characters can be written.
std::string Escaped(std::string_view word) {
  std::string text = "$'";
  while (!word.empty()) {
    const char c = word[0];
    const size_t unshowable = Unshowable(word);
    const size_t bytes = unshowable != 0 ? unshowable : Shown(word);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (unshowable != 0) {
      AddOctal(word.substr(0, bytes), &text);
    } else {
      if (c == '\'' || c == '\\') text += '\\';
      text += word.substr(0, bytes);
    }
    word.remove_prefix(bytes);
  }
  return text + "'";
}

}  // namespace

std::string ShellWord(std::string_view word) {
  if (NeedsEscapes(word)) return Escaped(word);
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return std::string(word);
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
