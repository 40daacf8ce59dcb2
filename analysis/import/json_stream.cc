// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See json_stream.h.

#include "analysis/import/json_stream.h"

namespace gpuprof::analysis::import {

int JsonStream::Peek() {
  DropTaken();
  while (true) {
    window_->Drop(SkipBlanks(window_->view(), 0));
    if (window_->size() != 0) return static_cast<unsigned char>(window_->data()[0]);
    if (window_->has_ended()) return -1;
    window_->Fill();
  }
}

int JsonStream::PeekIn() {
  const int next = Peek();
  if (next < 0) Fail(State::kEnds);
  return next;
}

bool JsonStream::Take(char wanted) {
  const int next = PeekIn();
  if (next < 0) return false;
  if (next != wanted) return Fail(State::kBroken);
  window_->Drop(1);
  return true;
}

bool JsonStream::Key() {
  constexpr size_t kLongestKey = 64 << 10;
  std::string_view key;
  if (PeekIn() != '"') return Fail(State::kBroken);
  if (!Value(&key, kLongestKey)) return Fail(State::kBroken);
  key_ = key.substr(1, key.size() - 2);
  return Take(':');
}

bool JsonStream::Value(std::string_view* json, size_t most) {
  if (PeekIn() < 0) return false;
  while (true) {
    size_t end = 0;
    const Reading reading = SkipValue(window_->view(), &end);
    if (reading == Reading::kBroken) return Fail(State::kBroken);
    // A word may go on behind the window.
    const bool may_go_on = end == window_->size() && !window_->has_ended();
    if (reading == Reading::kWhole && !may_go_on) {
      if (end > most) return false;
      *json = window_->view().substr(0, end);
      taken_ = end;
      return true;
    }
    if (window_->has_ended()) return Fail(State::kEnds);
    if (window_->size() > most) return false;
    window_->Fill();
  }
}

bool JsonStream::Skip() {
  if (PeekIn() < 0) return false;
  uint64_t depth = 0;
  bool is_string = false;
  while (true) {
    const std::string_view text = window_->view();
    size_t at = 0;
    bool has_ended = false;
    for (; at < text.size() && !has_ended; ++at) {
      const char c = text[at];
      if (is_string) {
        // A backslash at the end of the window waits for the byte behind it.
        if (c == '\\' && at + 1 == text.size()) break;
        if (c == '\\') ++at;
        if (c == '"') is_string = false;
        has_ended = c == '"' && depth == 0;
      } else if (c == '"') {
        is_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        // The bracket around a word is not the word's.
        if (depth == 0) break;
        has_ended = --depth == 0;
      } else if (c == ',' && depth == 0) {
        break;
      }
    }
    const bool is_before_other = !has_ended && at < text.size() && !is_string && depth == 0;
    window_->Drop(at);
    if (has_ended || is_before_other) return true;
    if (window_->has_ended()) return Fail(State::kEnds);
    window_->Fill();
  }
}

}  // namespace gpuprof::analysis::import
