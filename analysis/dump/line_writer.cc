// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See line_writer.h.

#include "analysis/dump/line_writer.h"

#include <algorithm>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

bool NeedsNoEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void AppendControl(std::string* line, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  *line += "\\u00";
  *line += kDigits[byte >> 4];
  *line += kDigits[byte & 15];
}

}  // namespace

void LineWriter::Address(std::string_view key, uint64_t value) {
  Key(key);
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16);
  line_ += "0x";
  line_.append(digits, static_cast<size_t>(end.ptr - digits));
}

void LineWriter::Text(std::string_view key, std::string_view text) {
  Key(key);
  line_ += '"';
  while (!text.empty()) {
    const auto run = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), NeedsNoEscape) -
                                         text.begin());
    line_ += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const size_t bytes = CodePointBytes(text);
    if (bytes == 0) {
      line_ += kReplacement;
    } else if (text[0] == '"' || text[0] == '\\') {
      line_ += '\\';
      line_ += text[0];
    } else if (bytes == 1) {
      AppendControl(&line_, text[0]);
    } else if (IsC1(text)) {
      AppendControl(&line_, text[1]);
    } else {
      line_ += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  line_ += '"';
}

bool LineWriter::EndLine() {
  line_ += '\n';
  is_started_ = false;
  return line_.size() < kPieceBytes ? !is_stopped_ : Flush();
}

bool LineWriter::Flush() {
  if (!is_stopped_ && !line_.empty()) is_stopped_ = !sink_(context_, line_);
  line_.clear();
  return !is_stopped_;
}

}  // namespace gpuprof::analysis
