// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads one event of a text that need not be JSON. This is the slow way, for events that the fast
// way refuses: commas too many, raw control characters, invalid UTF-8, quotes within strings.

#pragma once

#include <cstddef>
#include <string_view>

#include "analysis/import/chrome_event.h"
#include "analysis/import/json_cursor.h"
#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {

class EventMender {
 public:
  // Reads the event that `text` begins with. The views of event() point into `text` or last until
  // the next call.
  Reading Read(std::string_view text);
  // Reads it again, with quotes within its strings: a quote ends a string only where the next
  // member or the end of the event follows.
  Reading ReadWithQuotes(std::string_view text);

  const ChromeEvent& event() const { return event_; }
  const TextFaults& faults() const { return faults_; }
  // Returns the bytes of the event, or the bytes up to the fault.
  size_t bytes() const { return at_; }

 private:
  enum class Level { kEvent, kArgs };

  Reading ReadMembers(Level level);
  Reading ReadMember(Level level);
  Reading ReadValue(Level level, JsonValue* value);
  size_t EndOfString(size_t at, Level level) const;
  bool EndsValue(size_t at, Level level) const;
  bool IsMember(size_t at, Level level) const;

  std::string_view text_;
  size_t at_ = 0;
  bool has_quotes_ = false;
  ChromeEvent event_;
  TextFaults faults_;
  TextArena arena_;
};

// Returns whether events of traces have this member.
bool IsMemberOfEvents(std::string_view key);

// Returns where the next event begins, at or behind `from`, in a text that is broken before. npos:
// no place looks like it.
size_t FindEventStart(std::string_view text, size_t from);

}  // namespace gpuprof::analysis::import
