// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_array.h.

#include "analysis/import/event_array.h"

#include <algorithm>
#include <string_view>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Bytes that are scanned at once where each event may start the scan anew.
constexpr size_t kSlowStep = 16 << 10;
// A larger element is given up.
constexpr size_t kLargestElement = 256 << 20;
// An element that is broken and does not end. Its next event was not found up to here.
constexpr size_t kLargestBroken = 16 << 20;

}  // namespace

EventArray::End EventArray::Read() {
  Restart(0);
  while (true) {
    const size_t size = window_->size();
    const size_t at = scanner_.position();
    const bool is_slow = window_->offset() + at < slow_until_;
    const size_t limit = is_slow ? std::min(size, at + kSlowStep) : size;
    elements_.clear();
    const bool is_closed =
        !scanner_.Scan(window_->data(), limit, window_->has_ended() && limit == size, &elements_);
    const uint64_t events = sink_->typed_events();
    const std::optional<size_t> restart = HandOver();
    if (sink_->typed_events() != events) window_->MarkProgress();
    if (restart) {
      Restart(*restart);
      continue;
    }
    if (is_closed) {
      const size_t bracket = scanner_.position();
      AddGap(bracket);
      EndGap();
      if (GoesOnBehind(scanner_.position())) {
        Restart(scanner_.position() + 1);
        continue;
      }
      const bool is_array_end = window_->data()[scanner_.position()] == ']';
      window_->Drop(scanner_.position() + (is_array_end ? 1 : 0));
      return is_array_end ? End::kClosed : End::kNotClosed;
    }
    if (limit < size) continue;
    if (window_->has_ended() || (elements_.empty() && scanner_.is_open())) {
      if (const std::optional<size_t> place = ReadOpen()) {
        Restart(*place);
        continue;
      }
      if (window_->has_ended()) break;
    }
    const size_t front = scanner_.is_open() ? scanner_.open_begin() : scanner_.position();
    AddGap(front);
    window_->Drop(front);
    scanner_.Dropped(front);
    gap_begin_ = 0;
    if (window_->size() >= kLargestElement) {
      SkipHugeElement();
    } else {
      window_->Fill();
    }
  }
  const bool is_within = scanner_.is_open();
  if (!is_within) {
    AddGap(window_->size());
    EndGap();
  }
  window_->Drop(window_->size());
  return is_within ? End::kTextEndsWithin : End::kTextEnds;
}

void EventArray::Restart(size_t at) {
  scanner_.Restart(at);
  gap_begin_ = at;
  gap_commas_ = 0;
  gap_has_other_ = false;
  gap_is_first_ = true;
  slow_until_ = std::max(slow_until_, window_->offset() + (at == 0 ? 0 : window_->size()));
}

void EventArray::AddGap(size_t end) {
  for (; gap_begin_ < end; ++gap_begin_) {
    const char c = window_->data()[gap_begin_];
    if (c == ',') {
      ++gap_commas_;
    } else if (!IsBlank(c) && c != '\0') {
      gap_has_other_ = true;
    }
  }
}

void EventArray::EndGap() {
  if (gap_has_other_) sink_->Skip(window_->offset() + gap_begin_);
  gap_commas_ = 0;
  gap_has_other_ = false;
  gap_is_first_ = false;
}

std::optional<size_t> EventArray::HandOver() {
  // Runs of elements with one comma between two, which simdjson can read together.
  size_t run = 0;
  for (size_t i = 0; i < elements_.size(); ++i) {
    const Element& element = elements_[i];
    AddGap(element.begin);
    const bool is_joined = gap_commas_ == 1 && !gap_has_other_ && !gap_is_first_;
    if (!is_joined && run < i) {
      const std::optional<size_t> restart = HandOverRun(run, i);
      if (restart) return restart;
    }
    if (!is_joined) run = i;
    EndGap();
    gap_begin_ = element.end;
    if (element.is_too_deep) {
      const std::optional<size_t> restart = HandOverRun(run, i);
      if (restart) return restart;
      sink_->Skip(window_->offset() + element.begin);
      run = i + 1;
      gap_is_first_ = true;
    }
  }
  return HandOverRun(run, elements_.size());
}

std::optional<size_t> EventArray::HandOverRun(size_t begin, size_t end) {
  if (begin >= end) return std::nullopt;
  if (window_->offset() + elements_[begin].begin >= slow_until_) {
    begin +=
        parser_.Parse(window_->data(), window_->offset(), &elements_[begin], end - begin, sink_);
    if (begin != end) slow_until_ = window_->offset() + window_->size();
  }
  for (; begin < end; ++begin) {
    const std::optional<size_t> restart = ReadOne(elements_[begin]);
    if (restart) return restart;
  }
  return std::nullopt;
}

std::optional<size_t> EventArray::ReadOne(const Element& element) {
  const std::string_view text = window_->view().substr(0, element.end);
  if (text[element.begin] != '{') {
    sink_->Skip(window_->offset() + element.begin);
    return std::nullopt;
  }
  const Reading reading = mender_.Read(text.substr(element.begin));
  if (reading == Reading::kWhole) {
    sink_->Deliver(mender_.event(), mender_.faults(), window_->offset() + element.begin);
    const size_t end = element.begin + mender_.bytes();
    return end == element.end ? std::nullopt : std::optional<size_t>(end);
  }
  const size_t next = FindEventStart(text, element.begin + 1);
  const size_t end = MendOne(element.begin, element.end, next);
  return end == element.end ? std::nullopt : std::optional<size_t>(end);
}

// Reads an element that is broken and lies before `next_event` and `limit`. Returns its end.
size_t EventArray::MendOne(size_t begin, size_t limit, size_t next_event) {
  const size_t end = std::min(limit, next_event);
  const std::string_view text = window_->view().substr(begin, end - begin);
  if (mender_.ReadWithQuotes(text) == Reading::kWhole) {
    sink_->Deliver(mender_.event(), mender_.faults(), window_->offset() + begin);
    return begin + mender_.bytes();
  }
  sink_->Skip(window_->offset() + begin);
  return end;
}

// Looks at the element that has not ended in the window. Returns where the scanner is to go on when
// the element is broken. None: more text is needed.
std::optional<size_t> EventArray::ReadOpen() {
  if (!scanner_.is_open()) return std::nullopt;
  const size_t begin = scanner_.open_begin();
  const std::string_view text = window_->view();
  if (text[begin] != '{' || mender_.Read(text.substr(begin)) != Reading::kBroken)
    return std::nullopt;
  const size_t next = FindEventStart(text, begin + 1);
  const bool is_given_up = window_->has_ended() || text.size() - begin > kLargestBroken;
  if (next == kNone && !is_given_up) return std::nullopt;
  return MendOne(begin, text.size(), next);
}

// Whether events follow a bracket that closes too much.
bool EventArray::GoesOnBehind(size_t bracket) {
  constexpr size_t kLook = 4096;
  if (window_->size() - bracket < kLook && !window_->has_ended()) {
    window_->Drop(bracket);
    scanner_.Dropped(bracket);
    gap_begin_ = 0;
    window_->Fill();
    bracket = 0;
  }
  const std::string_view text = window_->view();
  const size_t comma = SkipBlanks(text, bracket + 1);
  if (comma >= text.size() || text[comma] != ',') return false;
  const size_t event = SkipBlanks(text, comma + 1);
  return event < text.size() && text[event] == '{';
}

void EventArray::SkipHugeElement() {
  constexpr size_t kKept = 4096;
  sink_->Skip(window_->offset());
  while (true) {
    const size_t next = FindEventStart(window_->view(), 1);
    if (next != kNone || window_->has_ended()) {
      window_->Drop(next == kNone ? window_->size() : next);
      break;
    }
    window_->Drop(window_->size() - std::min(window_->size(), kKept));
    window_->Fill();
  }
  Restart(0);
}

}  // namespace gpuprof::analysis::import
