// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See json_cursor.h.

#include "analysis/import/json_cursor.h"

#include <array>
#include <bitset>

#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {
namespace {

// The bytes that no word has in it.
constexpr std::array<bool, 256> kEndsWord = [] {
  std::array<bool, 256> ends = {};
  for (const char c : std::string_view(",:{}[]\" \n\r\t"))
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

// Steps over an array or object, with a bit for each bracket that is open.
class ContainerSkipper {
 public:
  ContainerSkipper(std::string_view text, size_t at) : text_(text), at_(at) {}

  Reading Skip() {
    do {
      at_ = SkipBlanks(text_, at_);
      if (at_ >= text_.size()) return Reading::kMore;
      const Reading reading = Step();
      if (reading != Reading::kWhole) return reading;
    } while (depth_ != 0);
    return Reading::kWhole;
  }
  size_t at() const { return at_; }

 private:
  enum class Expects { kValue, kKey, kColon, kComma };

  Reading Step() {
    const char c = text_[at_];
    if (c == '}' || c == ']') return Close(c);
    switch (expects_) {
      case Expects::kColon:
        return Mark(c == ':', Expects::kValue);
      case Expects::kComma:
        return Mark(c == ',', is_object_[depth_] ? Expects::kKey : Expects::kValue);
      case Expects::kKey:
        return c == '"' ? String(Expects::kColon) : Reading::kBroken;
      case Expects::kValue:
        break;
    }
    if (c == '{' || c == '[') return Open(c);
    if (c == '"') return String(Expects::kComma);
    const size_t end = WordEnd(text_, at_);
    if (end == at_) return Reading::kBroken;
    at_ = end;
    expects_ = Expects::kComma;
    return Reading::kWhole;
  }
  Reading Mark(bool is_there, Expects next) {
    if (!is_there) return Reading::kBroken;
    ++at_;
    expects_ = next;
    return Reading::kWhole;
  }
  Reading Open(char c) {
    if (depth_ == kMostDepth) return Reading::kBroken;
    is_object_[++depth_] = c == '{';
    return Mark(true, c == '{' ? Expects::kKey : Expects::kValue);
  }
  Reading Close(char c) {
    if (depth_ == 0 || is_object_[depth_] != (c == '}')) return Reading::kBroken;
    // A key without its value.
    if (expects_ == Expects::kColon || (expects_ == Expects::kValue && c == '}'))
      return Reading::kBroken;
    --depth_;
    return Mark(true, Expects::kComma);
  }
  Reading String(Expects next) {
    const size_t end = StringEnd(text_, at_ + 1);
    if (end == std::string_view::npos) return Reading::kMore;
    at_ = end;
    return Mark(true, next);
  }

  std::string_view text_;
  size_t at_;
  size_t depth_ = 0;
  std::bitset<kMostDepth + 1> is_object_;
  Expects expects_ = Expects::kValue;
};

}  // namespace

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}

size_t StringEnd(std::string_view text, size_t at) {
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at : std::string_view::npos;
}

size_t WordEnd(std::string_view text, size_t at) {
  while (at < text.size() && !kEndsWord[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

size_t BracketEnd(std::string_view text, size_t at) {
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
    if (c == '"' && (at = StringEnd(text, at + 1)) == std::string_view::npos) break;
  }
  return std::string_view::npos;
}

Reading SkipValue(std::string_view text, size_t* at) {
  ContainerSkipper skipper(text, *at);
  const Reading reading = skipper.Skip();
  *at = skipper.at();
  return reading;
}

}  // namespace gpuprof::analysis::import
