// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_array.h.

#include "analysis/import/event_array.h"

#include <algorithm>
#include <string_view>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kNear = 1 << 10;
// An event that can be told by its first bytes has no more of them.
constexpr size_t kLongestStart = 64;
// A larger element is given up.
constexpr size_t kLargestElement = 256 << 20;
// An element that is broken and does not end. Its next event was not found up to here.
constexpr size_t kLargestBroken = 16 << 20;

}  // namespace

EventArray::End EventArray::Read() {
  at_ = 0;
  while (true) {
    const bool needs_more = SkipGap() || ReadElements();
    if (needs_more && window_->has_ended()) break;
    if (needs_more) {
      Fill();
      continue;
    }
    const char c = at_ < window_->size() ? window_->data()[at_] : '\0';
    if ((c != ']' && c != '}') || GoesOnBehindBracket()) continue;
    window_->Drop(at_ + (c == ']' ? 1 : 0));
    return c == ']' ? End::kClosed : End::kNotClosed;
  }
  window_->Drop(window_->size());
  return is_in_element_ ? End::kTextEndsWithin : End::kTextEnds;
}

bool EventArray::SkipGap() {
  if (is_in_element_) return false;
  const std::string_view text = window_->view();
  for (; at_ < text.size(); ++at_) {
    const char c = text[at_];
    if (IsBlank(c) || c == ',' || c == '\0') continue;
    if (c == '{' || c == '[' || c == '}' || c == ']') {
      EndGap();
      return false;
    }
    has_junk_ = true;
    if (c != '"') continue;
    // A quote too many makes strings of what lies between them.
    const size_t next = SkipBlanks(text, at_ + 1);
    if (next < text.size() && text[next] == '{') continue;
    const size_t end = std::min(StringEnd(text, at_ + 1), text.size());
    const size_t event = FindEventStart(text.substr(0, end + kLongestStart), at_ + 1);
    if (event >= end && end == text.size() && !window_->has_ended()) return true;
    at_ = std::min({event, end + 1, text.size()}) - 1;
  }
  if (window_->has_ended()) EndGap();
  return true;
}

void EventArray::EndGap() {
  if (has_junk_) sink_->Skip(window_->offset() + at_);
  has_junk_ = false;
}

bool EventArray::ReadElements() {
  const std::string_view text = window_->view();
  is_in_element_ = false;
  if (text[at_] == ']' || text[at_] == '}') return false;
  if (text[at_] == '{' && window_->offset() + at_ >= slow_until_) {
    const uint64_t events = sink_->typed_events();
    const size_t begin = at_;
    const EventParser::Run run =
        parser_.Parse(window_->data(), window_->size(), window_->offset(), &at_, sink_);
    if (sink_->typed_events() != events) window_->MarkProgress();
    // To begin anew behind each fault could take the square of the window's size.
    if (run == EventParser::Run::kFault || at_ == begin)
      slow_until_ = window_->offset() + text.size();
    if (at_ != begin) return false;
  }
  if (text[at_] == '[') return ReadBroken(Reading::kBroken);
  const Reading reading = mender_.Read(text.substr(at_));
  if (reading != Reading::kWhole) return ReadBroken(reading);
  sink_->Deliver(mender_.event(), mender_.faults(), window_->offset() + at_);
  if (mender_.event().phase != 0) window_->MarkProgress();
  at_ += mender_.bytes();
  return false;
}

// Handles an element that is not an event up to its end. Returns whether more text is needed.
bool EventArray::ReadBroken(Reading reading) {
  const std::string_view text = window_->view();
  const bool is_event = text[at_] == '{';
  // Nearly all ends are near. Broken quotes can hide the end in the whole window.
  size_t limit = at_;
  for (size_t near = kNear; limit != text.size(); near *= 16) {
    limit = std::min(text.size(), at_ + near);
    const size_t end = BracketEnd(text.substr(0, limit), at_);
    const size_t behind = std::min(end, limit);
    if (end != kNone && !is_event) {
      sink_->Skip(window_->offset() + at_);
      at_ = end;
      return false;
    }
    const bool is_broken = is_event && reading == Reading::kBroken;
    if (end == kNone && !is_broken) continue;
    const size_t next = FindEventStart(text.substr(0, behind), at_ + 1);
    const bool is_given_up =
        limit == text.size() && (window_->has_ended() || limit - at_ > kLargestBroken);
    if (end == kNone && next == kNone && !is_given_up) continue;
    MendOne(behind, next);
    return false;
  }
  is_in_element_ = true;
  return true;
}

// Reads an element that is broken and lies before `next_event` and `limit`.
void EventArray::MendOne(size_t limit, size_t next_event) {
  const size_t end = std::min(limit, next_event);
  if (mender_.ReadWithQuotes(window_->view().substr(at_, end - at_)) == Reading::kWhole) {
    sink_->Deliver(mender_.event(), mender_.faults(), window_->offset() + at_);
    at_ += mender_.bytes();
  } else {
    sink_->Skip(window_->offset() + at_);
    at_ = end;
  }
  slow_until_ = std::max(slow_until_, window_->offset() + window_->size());
}

// Returns whether events follow a bracket that closes too much; then steps over it.
bool EventArray::GoesOnBehindBracket() {
  constexpr size_t kLook = 4096;
  if (window_->size() - at_ < kLook && !window_->has_ended()) {
    window_->Drop(at_);
    at_ = 0;
    window_->Fill();
  }
  const std::string_view text = window_->view();
  const size_t comma = SkipBlanks(text, at_ + 1);
  if (comma >= text.size() || text[comma] != ',') return false;
  const size_t event = SkipBlanks(text, comma + 1);
  if (event >= text.size() || text[event] != '{') return false;
  ++at_;
  return true;
}

void EventArray::Fill() {
  window_->Drop(at_);
  at_ = 0;
  if (window_->size() < kLargestElement) return window_->Fill();
  SkipHugeElement();
}

void EventArray::SkipHugeElement() {
  constexpr size_t kKept = 4096;
  sink_->Skip(window_->offset());
  is_in_element_ = has_junk_ = false;
  while (true) {
    const size_t next = FindEventStart(window_->view(), 1);
    if (next != kNone || window_->has_ended()) {
      window_->Drop(next == kNone ? window_->size() : next);
      return;
    }
    window_->Drop(window_->size() - std::min(window_->size(), kKept));
    window_->Fill();
  }
}

}  // namespace gpuprof::analysis::import
