// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text lines of key=value pairs, gathered into pieces for a sink. For Dump, one thread.

#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

class LineWriter {
 public:
  LineWriter(Sink sink, void* context) : sink_(sink), context_(context) {}

  // Plain fields, separated by one space.
  void Word(std::string_view text) {
    Separate();
    line_ += text;
  }
  template <std::integral T>
  void Number(T value) {
    Separate();
    Append(value);
  }

  template <std::integral T>
  void Pair(std::string_view key, T value) {
    Key(key);
    Append(value);
  }
  void Pair(std::string_view key, std::string_view word) {
    Key(key);
    line_ += word;
  }
  // The word where there is one, else the number: codes of newer writers stay visible.
  void Code(std::string_view key, std::string_view word, uint64_t code) {
    Key(key);
    if (word.empty()) {
      Append(code);
    } else {
      line_ += word;
    }
  }
  void Address(std::string_view key, uint64_t value);
  // A string of JSON as --json prints it: UTF-8, control characters as \u00xx, bytes that are not
  // UTF-8 as U+FFFD.
  void Text(std::string_view key, std::string_view text);

  // False: the sink wants no more.
  bool EndLine();
  bool Flush();

 private:
  static constexpr size_t kPieceBytes = 64 * 1024;

  void Separate() {
    if (is_started_) line_ += ' ';
    is_started_ = true;
  }
  void Key(std::string_view key) {
    Separate();
    line_ += key;
    line_ += '=';
  }
  template <std::integral T>
  void Append(T value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    line_.append(digits, static_cast<size_t>(end.ptr - digits));
  }

  Sink sink_;
  void* context_;
  std::string line_;  // the piece so far, all lines of it
  bool is_started_ = false;
  bool is_stopped_ = false;
};

}  // namespace gpuprof::analysis
