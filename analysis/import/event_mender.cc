// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_mender.h.

#include "analysis/import/event_mender.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

bool IsMemberOfEvents(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"ph", "cat",  "name",  "pid",  "tid",   "ts",  "dur",
                                               "id", "args", "s",     "bp",   "cname", "id2", "tts",
                                               "sf", "esf",  "scope", "tdur", "stack"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

Reading EventMender::Read(std::string_view text) {
  text_ = text;
  at_ = 0;
  Clear(&event_);
  faults_ = {};
  arena_.Clear();
  const Reading reading = ReadMembers(Level::kEvent);
  SetPhase(&event_);
  return reading;
}

Reading EventMender::ReadWithQuotes(std::string_view text) {
  has_quotes_ = true;
  const Reading reading = Read(text);
  has_quotes_ = false;
  faults_.is_repaired = true;
  // What was put together by guessing must at least look like an event.
  if (reading == Reading::kWhole && event_.phase == 0) return Reading::kBroken;
  return reading;
}

// An object whose first byte is at_.
Reading EventMender::ReadMembers(Level level) {
  if (at_ >= text_.size()) return Reading::kMore;
  if (text_[at_] != '{') return Reading::kBroken;
  ++at_;
  bool needs_comma = false;
  while (true) {
    at_ = SkipBlanks(text_, at_);
    if (at_ >= text_.size()) return Reading::kMore;
    const char c = text_[at_];
    if (c == '}') {
      ++at_;
      return Reading::kWhole;
    }
    if (c == ',') {
      ++at_;
      needs_comma = false;
      continue;
    }
    if (c != '"' || needs_comma) return Reading::kBroken;
    const Reading reading = ReadMember(level);
    if (reading != Reading::kWhole) return reading;
    needs_comma = true;
  }
}

Reading EventMender::ReadMember(Level level) {
  const size_t begin = at_ + 1;
  const size_t end = StringEnd(text_, begin);
  if (end == kNone) return Reading::kMore;
  at_ = SkipBlanks(text_, end + 1);
  if (at_ >= text_.size()) return Reading::kMore;
  if (text_[at_] != ':') return Reading::kBroken;
  at_ = SkipBlanks(text_, at_ + 1);
  if (at_ >= text_.size()) return Reading::kMore;
  const std::string_view key =
      DecodeString(text_.substr(begin, end - begin), false, &arena_, &faults_);
  if (level == Level::kEvent && key == "args") {
    event_.args.clear();  // of a key that is there twice
    if (text_[at_] == '{') return ReadMembers(Level::kArgs);
  }
  JsonValue value;
  const Reading reading = ReadValue(level, &value);
  if (reading != Reading::kWhole) return reading;
  if (level == Level::kArgs) {
    event_.args.emplace_back(key, value);
  } else {
    if (JsonValue* const member = MemberOf(key, &event_)) *member = value;
  }
  return Reading::kWhole;
}

Reading EventMender::ReadValue(Level level, JsonValue* value) {
  const size_t begin = at_;
  const char c = text_[at_];
  if (c == '"') {
    const size_t end = EndOfString(begin + 1, level);
    if (end == kNone) return Reading::kMore;
    at_ = end + 1;
  } else if (c == '{' || c == '[') {
    const Reading reading = SkipValue(text_, &at_);
    if (reading != Reading::kWhole) return reading;
  } else {
    at_ = WordEnd(text_, begin);
    if (at_ == begin) return Reading::kBroken;
    if (at_ == text_.size()) return Reading::kMore;
  }
  *value = DecodeValue(text_.substr(begin, at_ - begin), &arena_, &faults_);
  return Reading::kWhole;
}

size_t EventMender::EndOfString(size_t at, Level level) const {
  if (!has_quotes_) return StringEnd(text_, at);
  while (true) {
    while (at < text_.size() && text_[at] != '"' && text_[at] != '\\') ++at;
    if (at >= text_.size()) return kNone;
    if (text_[at] == '\\') {
      // The path of a folder may end in a backslash that escapes nothing.
      const bool ends = text_.substr(at + 1, 1) == "\"" && EndsValue(at + 2, level);
      if (ends) return at + 1;
      at += 2;
      continue;
    }
    if (EndsValue(at + 1, level)) return at;
    ++at;
  }
}

// Whether the next member or the end of the event begins at or behind `at`.
bool EventMender::EndsValue(size_t at, Level level) const {
  at = SkipBlanks(text_, at);
  if (at >= text_.size()) return false;
  if (text_[at] == ',') {
    at = SkipBlanks(text_, at + 1);
    if (IsMember(at, level)) return true;
  }
  if (at >= text_.size() || text_[at] != '}') return false;
  at = SkipBlanks(text_, at + 1);
  if (at >= text_.size()) return true;
  if (level == Level::kArgs) return text_[at] == '}' || text_[at] == ',';
  return text_[at] == ',' || text_[at] == ']';
}

// Whether a member of the level begins at `at`.
bool EventMender::IsMember(size_t at, Level level) const {
  constexpr size_t kLongestKey = 128;
  if (at >= text_.size() || text_[at] != '"') return false;
  const std::string_view behind = text_.substr(at + 1, kLongestKey);
  const size_t bytes = behind.find('"');
  if (bytes == kNone) return false;
  const size_t colon = SkipBlanks(text_, at + 1 + bytes + 1);
  if (colon >= text_.size() || text_[colon] != ':') return false;
  return level == Level::kArgs || IsMemberOfEvents(behind.substr(0, bytes));
}

namespace {

// The byte before `at` that is no blank. 0: there is none.
char NonBlankBefore(std::string_view text, size_t at) {
  while (at > 0 && IsBlank(text[at - 1])) --at;
  return at == 0 ? '\0' : text[at - 1];
}

}  // namespace

size_t FindEventStart(std::string_view text, size_t from) {
  // Reading each place to its end could take the square of the text's length.
  constexpr size_t kMostRead = 1 << 20, kMostOfOne = 64 << 10;
  size_t read = 0;
  EventMender mender;
  for (size_t at = text.find('{', from); at != kNone; at = text.find('{', at + 1)) {
    const char before = NonBlankBefore(text, at);
    if (before != ',' && before != '}') continue;
    const size_t quote = SkipBlanks(text, at + 1);
    if (quote >= text.size() || text[quote] != '"') continue;
    const std::string_view key =
        text.substr(quote + 1, 8).substr(0, text.substr(quote + 1, 8).find('"'));
    const size_t colon = SkipBlanks(text, quote + 1 + key.size() + 1);
    if (!IsMemberOfEvents(key) || colon >= text.size() || text[colon] != ':') continue;
    if (key == "ph") return at;
    if (read > kMostRead) continue;
    const Reading reading = mender.Read(text.substr(at, kMostOfOne));
    read += mender.bytes();
    if (reading == Reading::kWhole && mender.event().phase != 0) return at;
  }
  return kNone;
}

}  // namespace gpuprof::analysis::import
