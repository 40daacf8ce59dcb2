// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks through JSON of any size with a window in memory. Members and elements come one by one.
// Values that the caller does not want are stepped over, and take no memory. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/import/json_cursor.h"
#include "analysis/import/text_window.h"

namespace gpuprof::analysis::import {

class JsonStream {
 public:
  // Takes a window that outlives this object. Call its Fill() first.
  explicit JsonStream(TextWindow* window) : window_(window) {}

  enum class State {
    kGood,
    kEnds,   // the text ends too early
    kBroken  // something stands where JSON has something else, or a value is too large
  };
  State state() const { return state_; }
  // Returns the byte of the text at which reading stands.
  uint64_t offset() const { return window_->offset(); }

  // Returns the next byte that is not blank. -1: the text ends. Nothing is reported.
  int Peek();
  // Hands over the key of each member of the object that begins here: `member(key)` reads the
  // value. False: state() tells why the rest was not read.
  template <typename Member>
  bool Object(Member&& member) {
    return Brackets('{', '}', [&] { return Key() && member(std::string_view(key_)); });
  }
  // Calls `element()` for each element of the array that begins here; it reads the element.
  template <typename Element>
  bool Array(Element&& element) {
    return Brackets('[', ']', element);
  }
  // Stores the text of the value that begins here. It is valid until the next call. False: it is
  // larger than `most` bytes, or state() tells another reason.
  bool Value(std::string_view* json, size_t most);
  // Steps over a value, however large and however deep.
  bool Skip();

 private:
  template <typename Each>
  bool Brackets(char open, char close, Each&& each) {
    if (!Take(open)) return false;
    for (bool is_first = true;; is_first = false) {
      const int next = PeekIn();
      if (next < 0) return false;
      if (next == close) {
        window_->Drop(1);
        return true;
      }
      if (!is_first && !Take(',')) return false;
      // A comma behind the last one is forgiven.
      if (!is_first && PeekIn() == close) continue;
      if (!each()) return false;
    }
  }
  // Returns the next byte within a value, which must not end yet.
  int PeekIn();
  bool Take(char wanted);
  bool Key();
  bool Fail(State state) {
    if (state_ == State::kGood) state_ = state;
    return false;
  }
  void DropTaken() {
    window_->Drop(taken_);
    taken_ = 0;
  }

  TextWindow* window_;
  size_t taken_ = 0;  // bytes of the last value at the front
  std::string key_;
  State state_ = State::kGood;
};

// Hands over each member of an object whose whole text is here, as `member(key, value)`. Keys stay
// as they are written. Ends at the first fault.
template <typename Member>
void ForEachMember(std::string_view object, Member&& member) {
  size_t at = SkipBlanks(object, 0);
  if (at >= object.size() || object[at] != '{') return;
  ++at;
  while (true) {
    at = SkipBlanks(object, at);
    if (at < object.size() && object[at] == ',') at = SkipBlanks(object, at + 1);
    if (at >= object.size() || object[at] != '"') return;
    const size_t end = StringEnd(object, at + 1);
    if (end >= object.size()) return;
    const std::string_view key = object.substr(at + 1, end - at - 1);
    at = SkipBlanks(object, end + 1);
    if (at >= object.size() || object[at] != ':') return;
    at = SkipBlanks(object, at + 1);
    const size_t begin = at;
    if (SkipValue(object, &at) != Reading::kWhole) return;
    member(key, object.substr(begin, at - begin));
  }
}

}  // namespace gpuprof::analysis::import
