// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See plain_text.h. What a character is comes from utf8proc, which follows Unicode.

#include "analysis/base/plain_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

constexpr char32_t kNone = 0xffffffff;
constexpr char32_t kNonJoiner = 0x200c, kJoiner = 0x200d;

struct Range {
  char32_t first, last;
};

// Unicode's Default_Ignorable_Code_Point, the separators of lines and paragraphs, and the marks
// around annotations. utf8proc knows only those of the ignorable code points that are assigned.
constexpr Range kUnseen[] = {
    {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool IsUnseen(char32_t code) {
  const Range* const range =
      std::partition_point(std::begin(kUnseen), std::end(kUnseen),
                           [code](const Range& each) { return each.last < code; });
  return range != std::end(kUnseen) && code >= range->first;
}

const utf8proc_property_t& PropertyOf(char32_t code) {
  return *utf8proc_get_property(code == kNone ? 0 : static_cast<utf8proc_int32_t>(code));
}

bool IsEmoji(char32_t code) {
  // "#", "*" and the digits are none alone, and the copyright sign is no name's picture.
  return code > 0xff && code != kNone &&
         PropertyOf(code).boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool IsSelector(char32_t code) { return code == 0xfe0e || code == 0xfe0f; }
bool IsSkinTone(char32_t code) { return code >= 0x1f3fb && code <= 0x1f3ff; }

bool IsArabicLetter(char32_t code) {
  const bool is_arabic = (code >= 0x620 && code <= 0x6ff) || (code >= 0x750 && code <= 0x77f) ||
                         (code >= 0x8a0 && code <= 0x8ff);
  return is_arabic && PropertyOf(code).category == UTF8PROC_CATEGORY_LO;
}

bool IsVirama(char32_t code) {
  constexpr int kViramaClass = 9;
  return code != kNone && PropertyOf(code).combining_class == kViramaClass;
}

// Returns the code point before `*at`, and goes there. kNone: the text begins here, or no UTF-8 is
// there.
char32_t CodePointBefore(std::string_view text, size_t* at) {
  size_t begin = *at;
  while (begin > 0 && *at - begin < 4) {
    --begin;
    if (Continues(text[begin])) continue;
    const std::string_view last = text.substr(begin, *at - begin);
    if (CodePointBytes(last) != last.size()) return kNone;
    *at = begin;
    return CodePointOf(last);
  }
  return kNone;
}

// Returns whether an emoji stands before `at`, with its skin tone and its selector if it has any.
bool IsBehindEmoji(std::string_view text, size_t at) {
  char32_t before = CodePointBefore(text, &at);
  if (IsSelector(before)) before = CodePointBefore(text, &at);
  if (IsSkinTone(before)) before = CodePointBefore(text, &at);
  return IsEmoji(before);
}

// Returns whether an unseen character at `at` is a part of how the characters around it are spelt.
bool IsSpelling(std::string_view text, size_t at, size_t bytes, char32_t code) {
  size_t front = at;
  if (IsSelector(code)) return IsEmoji(CodePointBefore(text, &front));
  if (code != kJoiner && code != kNonJoiner) return false;
  const char32_t before = CodePointBefore(text, &front);
  const std::string_view rest = text.substr(at + bytes);
  const char32_t behind = rest.empty() || CodePointBytes(rest) == 0 ? kNone : CodePointOf(rest);
  if (IsVirama(before)) return true;
  if (code == kNonJoiner) return IsArabicLetter(before) && IsArabicLetter(behind);
  return IsEmoji(behind) && IsBehindEmoji(text, at);
}

bool IsPrintable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f;
}

// Returns whether the form itself has such control characters.
bool IsKept(char c, PlainForm form) {
  if (form == PlainForm::kJson) return c >= 0 && c < ' ';
  return form == PlainForm::kLines && c == '\n';
}

bool IsQuoted(char c, PlainForm form) {
  return form == PlainForm::kJsonString && (c == '"' || c == '\\');
}

void AppendDigits(uint32_t number, int digits, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (digits-- > 0) *out += kDigits[number >> (4 * digits) & 15];
}

void AppendUnit(uint32_t unit, std::string* out) {
  *out += "\\u";
  AppendDigits(unit, 4, out);
}

void AppendEscape(char32_t code, PlainForm form, std::string* out) {
  const bool is_json = form == PlainForm::kJson || form == PlainForm::kJsonString;
  if (is_json && (code == '"' || code == '\\')) {
    *out += '\\';
    *out += static_cast<char>(code);
  } else if (code < 0x80 && !is_json) {
    *out += code == '\n' ? "\\n" : "\\x";
    if (code != '\n') AppendDigits(code, 2, out);
  } else if (code < 0x10000) {
    AppendUnit(code, out);
  } else if (is_json) {
    AppendUnit(0xd800 + ((code - 0x10000) >> 10), out);
    AppendUnit(0xdc00 + (code & 0x3ff), out);
  } else {
    *out += "\\U";
    AppendDigits(code, 8, out);
  }
}

}  // namespace

size_t HarmfulBytes(std::string_view text, size_t at) {
  if (IsPrintable(text[at])) return 0;
  const std::string_view rest = text.substr(at);
  const size_t bytes = CodePointBytes(rest);
  if (bytes < 2) return 1;
  const char32_t code = CodePointOf(rest);
  if (code < 0xa0) return bytes;
  return IsUnseen(code) && !IsSpelling(text, at, bytes, code) ? bytes : 0;
}

void AppendPlain(std::string_view text, PlainForm form, std::string* out) {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const bool is_quoted = IsQuoted(text[at], form);
    const size_t bytes = is_quoted ? 1 : HarmfulBytes(text, at);
    if (bytes == 0 || (!is_quoted && IsKept(text[at], form))) {
      at += std::max<size_t>(CodePointBytes(text.substr(at)), 1);
      continue;
    }
    out->append(text.substr(done, at - done));
    const std::string_view rest = text.substr(at);
    if (CodePointBytes(rest) == 0) {
      *out += kReplacement;
    } else {
      AppendEscape(CodePointOf(rest), form, out);
    }
    at = done = at + bytes;
  }
  out->append(text.substr(done));
}

}  // namespace gpuprof::analysis
