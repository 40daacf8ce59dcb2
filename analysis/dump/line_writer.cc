// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See line_writer.h.

#include "analysis/dump/line_writer.h"

#include "analysis/base/plain_text.h"

namespace gpuprof::analysis {

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
  AppendPlain(text, PlainForm::kJsonString, &line_);
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
