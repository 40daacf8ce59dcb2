// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See json_string.h.

#include "analysis/import/json_string.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kBlockBytes = 64 << 10;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the value of four hexadecimal digits.
std::optional<uint32_t> HexDigits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const char lower = static_cast<char>(c | 0x20);
    if (!IsDigit(c) && (lower < 'a' || lower > 'f')) return std::nullopt;
    value = value * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : lower - 'a' + 10);
  }
  return value;
}

// Returns the byte that an escape of one letter stands for. 0: JSON has no such escape.
char SimpleEscape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// Whether a string has an escape that JSON does not know, as the paths of Windows have. Its
// backslashes were never meant to be escapes then.
bool HasUnknownEscape(std::string_view raw) {
  for (size_t i = raw.find('\\'); i < raw.size(); i = raw.find('\\', i + 2)) {
    if (i + 1 == raw.size()) return true;
    if (raw[i + 1] == 'u' ? !HexDigits(raw.substr(i + 2)) : SimpleEscape(raw[i + 1]) == 0)
      return true;
  }
  return false;
}

char* PutCodePoint(uint32_t code, char* to) {
  const auto put = [&to](uint32_t byte) { *to++ = static_cast<char>(byte); };
  const auto put_tail = [&](int bits) { put(0x80 | (code >> bits & 0x3f)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put_tail(0);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put_tail(6);
    put_tail(0);
  } else {
    put(0xf0 | code >> 18);
    put_tail(12);
    put_tail(6);
    put_tail(0);
  }
  return to;
}

char* PutText(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Decodes one string. It never grows beyond three times its size: a byte may become U+FFFD.
class StringDecoder {
 public:
  StringDecoder(std::string_view raw, char* to)
      : raw_(raw), to_(to), keeps_backslashes_(HasUnknownEscape(raw)) {}

  char* Decode() {
    while (at_ < raw_.size()) {
      if (raw_[at_] == '\\') {
        DecodeEscape();
      } else if (const size_t bytes = CodePointBytes(raw_.substr(at_)); bytes != 0) {
        has_control_ |= static_cast<unsigned char>(raw_[at_]) < 0x20;
        Copy(bytes);
      } else {
        PutReplacement();
        ++at_;
        // What is left of the same broken character.
        while (at_ < raw_.size() && Continues(raw_[at_])) ++at_;
      }
    }
    return to_;
  }
  bool is_bad() const { return is_bad_; }
  bool is_repaired() const { return keeps_backslashes_ || has_control_; }

 private:
  void Copy(size_t bytes) {
    to_ = PutText(raw_.substr(at_, bytes), to_);
    at_ += bytes;
  }
  void PutReplacement() {
    is_bad_ = true;
    to_ = PutText(kReplacement, to_);
  }
  void DecodeEscape() {
    const char letter = at_ + 1 < raw_.size() ? raw_[at_ + 1] : '\0';
    if (letter == 'u' && DecodeUnicode()) return;
    const char byte = SimpleEscape(letter);
    if (byte == 0 || (keeps_backslashes_ && letter != '"')) {
      // Two backslashes stay two. The second one begins no escape.
      Copy(letter == '\\' ? 2 : 1);
      return;
    }
    *to_++ = byte;
    at_ += 2;
  }
  bool DecodeUnicode() {
    const std::optional<uint32_t> first = HexDigits(raw_.substr(at_ + 2));
    if (!first) return false;
    at_ += 6;
    uint32_t code = *first;
    if (code >= 0xd800 && code < 0xdc00 && raw_.substr(at_, 2) == "\\u") {
      const std::optional<uint32_t> second = HexDigits(raw_.substr(at_ + 2));
      if (second && *second >= 0xdc00 && *second < 0xe000) {
        at_ += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (*second - 0xdc00);
      }
    }
    if (code >= 0xd800 && code < 0xe000) {
      PutReplacement();
    } else {
      to_ = PutCodePoint(code, to_);
    }
    return true;
  }

  std::string_view raw_;
  size_t at_ = 0;
  char* to_;
  bool keeps_backslashes_;
  bool is_bad_ = false, has_control_ = false;
};

// Whether there is nothing to decode. Most strings are plain.
bool IsPlain(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(), [](char c) { return c >= 0x20 && c != '\\'; });
}

bool IsStrictNumber(std::string_view word) {
  size_t at = 0;
  const auto skip_digits = [&] {
    const size_t begin = at;
    while (at < word.size() && IsDigit(word[at])) ++at;
    return at - begin;
  };
  if (at < word.size() && word[at] == '-') ++at;
  const bool begins_with_zero = at < word.size() && word[at] == '0';
  const size_t digits = skip_digits();
  if (digits == 0 || (begins_with_zero && digits != 1)) return false;
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (skip_digits() == 0) return false;
  }
  if (at < word.size() && (word[at] | 0x20) == 'e') {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (skip_digits() == 0) return false;
  }
  return at == word.size();
}

}  // namespace

char* TextArena::Take(size_t bytes) {
  if (blocks_.empty() || blocks_.back().size - used_ < bytes) {
    const size_t size = std::max(kBlockBytes, bytes);
    blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
    used_ = 0;
  }
  char* to = blocks_.back().bytes.get() + used_;
  used_ += bytes;
  return to;
}

void TextArena::Clear() {
  used_ = 0;
  if (blocks_.size() > 1 || (!blocks_.empty() && blocks_[0].size > kBlockBytes)) blocks_.clear();
}

std::string_view DecodeString(std::string_view raw, bool is_utf8, TextArena* arena,
                              TextFaults* faults) {
  if (is_utf8 ? raw.find('\\') == std::string_view::npos : IsPlain(raw)) return raw;
  const size_t room = 3 * raw.size();
  char* to = arena->Take(room);
  StringDecoder decoder(raw, to);
  const auto bytes = static_cast<size_t>(decoder.Decode() - to);
  arena->GiveBack(room - bytes);
  if (decoder.is_bad()) ++faults->bad_texts;
  faults->is_repaired |= decoder.is_repaired();
  return {to, bytes};
}

std::string_view CleanJson(std::string_view json, TextArena* arena, TextFaults* faults) {
  const auto is_ascii = [](char c) { return static_cast<signed char>(c) >= 0; };
  if (std::all_of(json.begin(), json.end(), is_ascii)) return json;
  const size_t room = 3 * json.size();
  char* const begin = arena->Take(room);
  char* to = begin;
  bool is_bad = false;
  for (size_t at = 0; at < json.size();) {
    const size_t bytes = CodePointBytes(json.substr(at));
    is_bad |= bytes == 0;
    to = PutText(bytes == 0 ? kReplacement : json.substr(at, bytes), to);
    at += std::max<size_t>(bytes, 1);
  }
  const auto made = static_cast<size_t>(to - begin);
  arena->GiveBack(room - made);
  if (is_bad) ++faults->bad_texts;
  return {begin, made};
}

void ReadWord(std::string_view word, JsonValue* value, TextFaults* faults) {
  value->text = word;
  if (IsStrictNumber(word)) {
    value->kind = JsonValue::Kind::kNumber;
    return;
  }
  if (word == "true" || word == "false") {
    value->kind = JsonValue::Kind::kBool;
    return;
  }
  if (word != "null") {
    faults->is_repaired = true;
    // Numbers as other languages write them: +1, .5, 1., 007.
    const bool has_digit = std::any_of(word.begin(), word.end(), IsDigit);
    if (has_digit && word.find_first_not_of("+-.0123456789eE") == std::string_view::npos) {
      value->kind = JsonValue::Kind::kNumber;
      return;
    }
  }
  *value = {JsonValue::Kind::kNull, {}};
}

JsonValue DecodeValue(std::string_view json, TextArena* arena, TextFaults* faults) {
  switch (json[0]) {
    case '"':
      return {JsonValue::Kind::kString,
              DecodeString(json.substr(1, json.size() - 2), false, arena, faults)};
    case '[':
      return {JsonValue::Kind::kArray, CleanJson(json, arena, faults)};
    case '{':
      return {JsonValue::Kind::kObject, CleanJson(json, arena, faults)};
    default:
      JsonValue value;
      ReadWord(json, &value, faults);
      return value;
  }
}

JsonValue* MemberOf(std::string_view key, ChromeEvent* event) {
  switch (key.size()) {
    case 1:
      return key == "s" ? &event->scope : nullptr;
    case 2:
      return key == "ph"   ? &event->phase_text
             : key == "ts" ? &event->time
             : key == "id" ? &event->id
                           : nullptr;
    case 3:
      return key == "pid"   ? &event->pid
             : key == "tid" ? &event->tid
             : key == "cat" ? &event->category
             : key == "dur" ? &event->duration
                            : nullptr;
    case 4:
      return key == "name" ? &event->name : nullptr;
    case 5:
      return key == "scope" ? &event->scope : nullptr;
    default:
      return nullptr;
  }
}

void Clear(ChromeEvent* event) {
  event->phase = 0;
  for (JsonValue* member : {&event->phase_text, &event->name, &event->category, &event->time,
                            &event->duration, &event->pid, &event->tid, &event->id, &event->scope})
    *member = {};
  event->args.clear();
}

void SetPhase(ChromeEvent* event) {
  const JsonValue& text = event->phase_text;
  const bool is_text = text.kind == JsonValue::Kind::kString && !text.text.empty();
  event->phase = is_text ? text.text[0] : '\0';
}

}  // namespace gpuprof::analysis::import
