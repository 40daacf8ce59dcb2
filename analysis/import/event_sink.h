// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Both parsers hand their events over here. The events are counted.

#pragma once

#include <cstdint>

#include "analysis/import/chrome_event.h"
#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {

class EventSink {
 public:
  EventSink(ChromeHandler* handler, ChromeTextNotes* notes) : handler_(handler), notes_(notes) {}

  // Hands an event over. `at` is the byte of the text at which the event begins.
  void Deliver(const ChromeEvent& event, const TextFaults& faults, uint64_t at) {
    ++notes_->events;
    if (event.phase != 0) ++typed_events_;
    if (faults.is_repaired) {
      ++notes_->repaired_events;
      MarkFault(at);
    }
    notes_->bad_texts += faults.bad_texts;
    handler_->OnEvent(event);
  }
  // Counts an event that cannot be read.
  void Skip(uint64_t at) {
    ++notes_->unreadable_events;
    MarkFault(at);
  }
  // Counts the events that have a phase, as every event of a trace has.
  uint64_t typed_events() const { return typed_events_; }

 private:
  void MarkFault(uint64_t at) {
    if (notes_->first_fault_at == 0) notes_->first_fault_at = at;
  }

  ChromeHandler* handler_;
  ChromeTextNotes* notes_;
  uint64_t typed_events_ = 0;
};

}  // namespace gpuprof::analysis::import
