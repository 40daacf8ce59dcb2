// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_parser.h.

#include "analysis/import/event_parser.h"

// Errors come back as codes.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/byte_search.h"
#include "analysis/import/json_cursor.h"
#include "analysis/import/json_string.h"
#include "analysis/import/text_window.h"

namespace gpuprof::analysis::import {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(TextWindow::kPadding >= simdjson::SIMDJSON_PADDING);

// Stores an array or object. simdjson has counted its brackets and looked no further.
bool ReadContainer(std::string_view json, JsonValue* to) {
  size_t end = 0;
  if (SkipValue(json, &end) != Reading::kWhole || SkipBlanks(json, end) != json.size())
    return false;
  to->text = json.substr(0, end);
  return true;
}

// Returns the place behind the last object that another one follows, behind a comma, or that ends
// an array. Such a place within an event is no harm: reading ends before the event. npos: there is
// none behind `from`.
size_t LastEnd(std::string_view text, size_t from) {
  for (size_t end = text.size(); end > from;) {
    const size_t bracket = text.substr(0, end).rfind('}');
    if (bracket == std::string_view::npos || bracket <= from) break;
    const size_t comma = SkipBlanks(text, bracket + 1);
    const size_t next = SkipBlanks(text, comma + 1);
    if (comma < text.size() && text[comma] == ']') return bracket + 1;
    if (next < text.size() && text[comma] == ',' && text[next] == '{') return bracket + 1;
    end = bracket;
  }
  return std::string_view::npos;
}

// Returns whether a value may end here. An iteration of simdjson takes a string for a key if a
// colon follows, and goes on behind the colon.
bool MayEndAt(const char* behind) {
  while (IsBlank(*behind)) ++behind;
  return *behind == ',' || *behind == '}' || *behind == ']';
}

std::string_view WithoutBlanksBehind(std::string_view text) {
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

struct EventParser::State {
  ondemand::parser parser;
  TextArena arena;
  TextFaults faults;
  ChromeEvent event;

  std::string_view ReadString(const char* begin, const char** behind = nullptr);
  bool ReadValue(ondemand::value& value, JsonValue* to);
  bool ReadArgs(ondemand::value& value);
  bool ReadEvent(ondemand::value& value);
};

// Returns the text of a string that begins behind `begin`, a quote. simdjson has seen that it ends.
// Stores where that is.
std::string_view EventParser::State::ReadString(const char* begin, const char** behind) {
  ++begin;
  size_t bytes = QuoteOrBackslash(begin);
  const bool is_plain = begin[bytes] == '"';
  while (begin[bytes] != '"') {
    bytes += 2;
    bytes += QuoteOrBackslash(begin + bytes);
  }
  if (behind != nullptr) *behind = begin + bytes + 1;
  if (is_plain) return {begin, bytes};
  return DecodeString({begin, bytes}, true, &arena, &faults);
}

bool EventParser::State::ReadValue(ondemand::value& value, JsonValue* to) {
  const std::string_view token = value.raw_json_token();
  if (token[0] == '"') {
    to->kind = JsonValue::Kind::kString;
    const char* behind = nullptr;
    to->text = ReadString(token.data(), &behind);
    return MayEndAt(behind);
  }
  if (token[0] == '[') {
    ondemand::array array;
    std::string_view json;
    if (value.get_array().get(array) || array.raw_json().get(json)) return false;
    to->kind = JsonValue::Kind::kArray;
    return ReadContainer(json, to);
  }
  if (token[0] == '{') {
    ondemand::object object;
    std::string_view json;
    if (value.get_object().get(object) || object.raw_json().get(json)) return false;
    to->kind = JsonValue::Kind::kObject;
    return ReadContainer(json, to);
  }
  ReadWord(WithoutBlanksBehind(token), to, &faults);
  return true;
}

bool EventParser::State::ReadArgs(ondemand::value& value) {
  event.args.clear();  // of a key that is there twice
  if (value.raw_json_token()[0] != '{') {
    JsonValue other;
    return ReadValue(value, &other);
  }
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto member : object) {
    if (member.error()) return false;
    auto&& field = std::move(member).value_unsafe();
    auto& [key, argument] = event.args.emplace_back();
    key = ReadString(field.key().raw() - 1);
    if (!ReadValue(field.value(), &argument)) return false;
  }
  return true;
}

bool EventParser::State::ReadEvent(ondemand::value& value) {
  arena.Clear();
  faults = {};
  Clear(&event);
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto member : object) {
    if (member.error()) return false;
    auto&& field = std::move(member).value_unsafe();
    const std::string_view key = ReadString(field.key().raw() - 1);
    if (key == "args") {
      if (!ReadArgs(field.value())) return false;
      continue;
    }
    JsonValue other;
    JsonValue* const place = MemberOf(key, &event);
    if (!ReadValue(field.value(), place != nullptr ? place : &other)) return false;
  }
  SetPhase(&event);
  return true;
}

EventParser::EventParser() : state_(new State) {}
EventParser::~EventParser() = default;

EventParser::Run EventParser::Parse(char* text, size_t size, uint64_t offset, size_t* at,
                                    EventSink* sink) {
  const size_t last = LastEnd({text, size}, *at);
  if (last == std::string_view::npos) return Run::kWhole;
  char* const begin = text + *at - 1;
  char* const end = text + last;
  const char before = *begin, behind[2] = {end[0], end[1]};
  *begin = '[';
  end[0] = ']';
  // simdjson looks at this byte, too, which must not close an event that has not ended.
  end[1] = ' ';
  const auto bytes = static_cast<size_t>(end - begin) + 1;
  ondemand::document document;
  ondemand::array array;
  const simdjson::padded_string_view view(begin, bytes, bytes + simdjson::SIMDJSON_PADDING);
  if (!state_->parser.iterate(view).get(document) && !document.get_array().get(array)) {
    for (auto element : array) {
      if (element.error()) break;
      auto&& value = std::move(element).value_unsafe();
      const char* const place = value.raw_json_token().data();
      const char* next = nullptr;
      if (*place != '{' || !state_->ReadEvent(value) || document.current_location().get(next))
        break;
      sink->Deliver(state_->event, state_->faults, offset + static_cast<size_t>(place - text));
      *at = static_cast<size_t>(next - text);
    }
  }
  *begin = before;
  end[0] = behind[0];
  end[1] = behind[1];
  return *at == last ? Run::kWhole : Run::kFault;
}

}  // namespace gpuprof::analysis::import
