// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See display_width.h. The widths are utf8proc's, which follows Unicode.

#include "analysis/base/display_width.h"

#include <utf8proc.h>

#include <algorithm>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

struct Character {
  size_t bytes;
  size_t columns;
};

// The character that `text`, which is not empty, begins with.
Character First(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) return {1, 1};
  const size_t bytes = CodePointBytes(text);
  if (bytes == 0) return {1, 1};
  utf8proc_int32_t code_point = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(bytes), &code_point);
  return {bytes, static_cast<size_t>(std::max(utf8proc_charwidth(code_point), 0))};
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character first = First(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

size_t BytesWithin(std::string_view text, size_t width) {
  size_t at = 0;
  for (size_t columns = 0; at < text.size();) {
    const Character next = First(text.substr(at));
    if (columns + next.columns > width) break;
    columns += next.columns;
    at += next.bytes;
  }
  return at;
}

std::string CutTo(std::string_view text, size_t width) {
  const size_t whole = DisplayWidth(text);
  if (whole <= width) return std::string(text);
  const std::string_view mark = width > 6 ? "..." : "";
  const size_t kept = width - mark.size();
  const size_t tail = mark.empty() ? 0 : kept / 2;
  std::string cut(text.substr(0, BytesWithin(text, kept - tail)));
  cut += mark;
  if (tail == 0) return cut;
  // The characters of the last `tail` columns.
  size_t at = BytesWithin(text, whole - tail);
  while (DisplayWidth(text.substr(at)) > tail) at += First(text.substr(at)).bytes;
  return cut.append(text.substr(at));
}

}  // namespace gpuprof::analysis
