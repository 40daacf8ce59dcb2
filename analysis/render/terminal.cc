// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OneLine, PlainLines and PlainJson of analysis.h: what others wrote, so that a terminal shows it
// and does nothing else. Any thread.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f;
}

void AddCode(std::string* out, std::string_view lead, char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  *out += lead;
  *out += kDigits[byte >> 4];
  *out += kDigits[byte & 15];
}

// The lead of every code point of IsUnseen.
constexpr std::string_view kUnseenLeads = "\xd8\xe2\xef\xf3";

bool BeginsUnseen(std::string_view text) {
  return kUnseenLeads.find(text[0]) != std::string_view::npos && IsUnseen(CodePointOf(text));
}

void AddUnit(std::string* out, uint32_t code, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  *out += digits == 4 ? "\\u" : "\\U";
  while (digits-- > 0) *out += kDigits[code >> (4 * digits) & 15];
}

// JSON writes a code point beyond 16 bits as two surrogates.
void AddJsonCode(std::string* out, char32_t code) {
  if (code < 0x10000) return AddUnit(out, code, 4);
  AddUnit(out, 0xd800 + ((code - 0x10000) >> 10), 4);
  AddUnit(out, 0xdc00 + (code & 0x3ff), 4);
}

std::string Plain(std::string_view text, bool keeps_line_feeds) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto run =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsPlain) - text.begin());
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const size_t bytes = CodePointBytes(text);
    if (bytes == 0) {
      out += kReplacement;
    } else if (text[0] == '\n') {
      out += keeps_line_feeds ? "\n" : "\\n";
    } else if (bytes == 1) {
      AddCode(&out, "\\x", text[0]);
    } else if (IsC1(text)) {
      AddCode(&out, "\\u00", text[1]);
    } else if (BeginsUnseen(text)) {
      AddUnit(&out, CodePointOf(text), bytes < 4 ? 4 : 8);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

}  // namespace

std::string OneLine(std::string_view text) { return Plain(text, false); }

std::string PlainLines(std::string_view text) { return Plain(text, true); }

std::string PlainJson(std::string json) {
  // DEL, and what C1 and unseen characters begin with.
  const std::string suspects = "\x7f\xc2" + std::string(kUnseenLeads);
  std::string out;
  size_t done = 0;
  for (size_t at = json.find_first_of(suspects); at != std::string::npos;
       at = json.find_first_of(suspects, at + 1)) {
    const std::string_view rest = std::string_view(json).substr(at);
    const size_t bytes = CodePointBytes(rest);
    if (bytes == 0) continue;
    const char32_t code = CodePointOf(rest);
    if (code != 0x7f && !IsC1(rest) && !IsUnseen(code)) continue;
    out.append(json, done, at - done);
    AddJsonCode(&out, code);
    done = at + bytes;
  }
  if (done == 0) return json;
  return out.append(json, done);
}

}  // namespace gpuprof::analysis
