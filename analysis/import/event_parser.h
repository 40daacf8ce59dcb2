// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads events from text that is JSON, many at once, by simdjson. This is the fast way, which
// nearly all events take. It stops where the text is not JSON.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "analysis/import/event_sink.h"

namespace gpuprof::analysis::import {

class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  enum class Run {
    kWhole,  // all events were read that end in the text, or all but the last one
    kFault   // it ends before an element that is not an event in JSON
  };
  // Hands over the events from `*at` on, with one comma between two. `*at` becomes the place behind
  // the last one. The byte before the first event and two bytes behind the last one are overwritten
  // for the time of the call. TextWindow::kPadding bytes behind the text are read. `offset` is
  // where `text` lies in the file.
  Run Parse(char* text, size_t size, uint64_t offset, size_t* at, EventSink* sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuprof::analysis::import
