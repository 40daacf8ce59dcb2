// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the array of events. simdjson reads all events of a window that are JSON. From the first
// one that is not JSON, the rest of the window is read event by event. After an event whose quotes
// are broken the next event is searched for.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/import/event_mender.h"
#include "analysis/import/event_parser.h"
#include "analysis/import/event_sink.h"
#include "analysis/import/text_window.h"

namespace gpuprof::analysis::import {

class EventArray {
 public:
  EventArray(TextWindow* window, EventSink* sink) : window_(window), sink_(sink) {}

  enum class End {
    kClosed,         // by its bracket, which is read
    kNotClosed,      // the object around it ends first; its bracket is the next byte
    kTextEnds,       // between two events
    kTextEndsWithin  // within an event
  };
  // Reads from behind the bracket that opens the array.
  End Read();

 private:
  // Steps over what stands between two elements. Returns whether more text is needed.
  bool SkipGap();
  // Ends the gap at `at_`. What is neither blank nor comma counts as an element that is unreadable.
  void EndGap();
  // Reads events, or an element. Returns whether more text is needed.
  bool ReadElements();
  bool ReadBroken(Reading reading);
  void MendOne(size_t limit, size_t next_event);
  bool GoesOnBehindBracket();
  // Gets more text. Forgets an element that is too large, and finds the next event.
  void Fill();
  void SkipHugeElement();

  TextWindow* window_;
  EventSink* sink_;
  EventParser parser_;
  EventMender mender_;
  size_t at_ = 0;            // in the window
  uint64_t slow_until_ = 0;  // events that begin before this byte of the file are read one by one
  bool has_junk_ = false;    // in the gap
  bool is_in_element_ = false;  // the element at `at_` needs more text
};

}  // namespace gpuprof::analysis::import
