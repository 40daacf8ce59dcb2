// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See utf8.h.

#include "analysis/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace gpuprof::analysis {
namespace {

bool IsAscii(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080u;
  size_t at = 0;
  for (uint64_t bytes = 0; at + sizeof bytes <= text.size(); at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    if ((bytes & kHigh) != 0) return false;
  }
  for (; at < text.size(); ++at)
    if (static_cast<unsigned char>(text[at]) >= 0x80) return false;
  return true;
}

}  // namespace
namespace {

// The second byte of overlong forms, of surrogates, and of what lies beyond the last code point.
bool IsForbiddenSecond(unsigned char first, unsigned char second) {
  return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
         (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

}  // namespace

size_t CodePointBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first < 0x80                    ? 1
                       : first >= 0xc2 && first < 0xe0 ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!Continues(text[i])) return 0;
  }
  if (bytes > 2 && IsForbiddenSecond(first, static_cast<unsigned char>(text[1]))) return 0;
  return bytes;
}

char32_t CodePointOf(std::string_view text) {
  const size_t bytes = CodePointBytes(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (bytes < 2) return first;
  char32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return code;
}

std::string Utf8Of(std::string_view text, bool* is_repaired) {
  std::string out;
  if (IsAscii(text)) return std::string(text);
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text.substr(at));
    if (bytes == 0) {
      out += kReplacement;
      if (is_repaired != nullptr) *is_repaired = true;
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes == 0 ? 1 : bytes;
  }
  return out;
}

std::string_view Utf8In(std::string_view text, std::string* room) {
  if (IsAscii(text)) return text;
  *room = Utf8Of(text);
  return *room;
}

}  // namespace gpuprof::analysis
