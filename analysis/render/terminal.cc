// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OneLine, PlainLines and PlainJson of analysis.h: what others wrote, so that a terminal shows it
// and does nothing else. Any thread.

#include <algorithm>
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
  // DEL, and what every C1 character begins with.
  constexpr std::string_view kSuspects = "\x7f\xc2";
  std::string out;
  size_t done = 0;
  for (size_t at = json.find_first_of(kSuspects); at != std::string::npos;
       at = json.find_first_of(kSuspects, at + 1)) {
    const bool is_delete = json[at] == '\x7f';
    if (!is_delete && !IsC1(std::string_view(json).substr(at))) continue;
    out.append(json, done, at - done);
    AddCode(&out, "\\u00", is_delete ? json[at] : json[at + 1]);
    done = at + (is_delete ? 1 : 2);
  }
  if (done == 0) return json;
  return out.append(json, done);
}

}  // namespace gpuprof::analysis
