// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads events from text that is JSON, many at once. This is the fast way, which nearly all events
// take. It stops where the text is not JSON.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "analysis/import/element_scanner.h"
#include "analysis/import/event_sink.h"

namespace gpuprof::analysis::import {

class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  // Hands over the events of elements that follow each other, with one comma between two. Returns
  // the number of elements that are done; the next one is not JSON. The byte before the first
  // element and the byte behind the last one are overwritten for the time of the call.
  // TextWindow::kPadding bytes behind the last element are read. `offset` is where `text` lies in
  // the file.
  size_t Parse(char* text, uint64_t offset, const Element* elements, size_t count, EventSink* sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuprof::analysis::import
