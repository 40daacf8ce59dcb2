// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the array of events of a trace, window by window. Elements that are JSON go to the fast
// parser together. From the first element of a window that is not JSON on, elements are read one by
// one. After an event whose quotes are broken the next event is searched for.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/import/element_scanner.h"
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
  // Hands over what the scanner has found. Returns where the scanner is to go on when an element
  // was not what the scanner took it for.
  std::optional<size_t> HandOver();
  std::optional<size_t> HandOverRun(size_t begin, size_t end);
  std::optional<size_t> ReadOne(const Element& element);
  std::optional<size_t> ReadOpen();
  size_t MendOne(size_t begin, size_t limit, size_t next_event);
  void Restart(size_t at);
  // Notes what stands between two elements.
  void AddGap(size_t end);
  void EndGap();
  bool GoesOnBehind(size_t bracket);
  // Forgets the start of an element that is too large, and finds the next event.
  void SkipHugeElement();

  TextWindow* window_;
  EventSink* sink_;
  ElementScanner scanner_;
  EventParser parser_;
  EventMender mender_;
  std::vector<Element> elements_;
  uint64_t slow_until_ = 0;  // elements that begin before this byte of the file are read one by one
  size_t gap_begin_ = 0;
  uint32_t gap_commas_ = 0;
  bool gap_has_other_ = false, gap_is_first_ = true;
};

}  // namespace gpuprof::analysis::import
