// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/command_line.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analysis/base/plain_text.h"
#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

size_t Shown(std::string_view text) { return std::max<size_t>(CodePointBytes(text), 1); }

bool NeedsEscapes(std::string_view word) {
  for (size_t at = 0; at < word.size(); at += Shown(word.substr(at))) {
    if (HarmfulBytes(word, at) != 0) return true;
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
  for (size_t at = 0; at < word.size();) {
    const char c = word[at];
    const size_t harmful = HarmfulBytes(word, at);
    const size_t bytes = harmful != 0 ? harmful : Shown(word.substr(at));
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (harmful != 0) {
      AddOctal(word.substr(at, bytes), &text);
    } else {
      if (c == '\'' || c == '\\') text += '\\';
      text += word.substr(at, bytes);
    }
    at += bytes;
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
