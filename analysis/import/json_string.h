// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of JSON: strings, numbers, and what stands in their place in broken files.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/import/chrome_event.h"

namespace gpuprof::analysis::import {

// Memory for the decoded texts of one event.
class TextArena {
 public:
  char* Take(size_t bytes);
  // Gives back the end of what Take() gave last.
  void GiveBack(size_t bytes) { used_ -= bytes; }
  // Forgets all texts.
  void Clear();

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  std::vector<Block> blocks_;
  size_t used_ = 0;  // of the last block
};

// What was found while the texts of one event were decoded.
struct TextFaults {
  uint32_t bad_texts = 0;    // strings that have U+FFFD in place of other bytes
  bool is_repaired = false;  // the event is not JSON as it stands
};

// Returns the text of a string; `raw` is what stands between its quotes. Escapes that JSON does not
// know stay as they are. A text without escapes and faults is `raw` itself. `is_utf8`: `raw` is
// known to be UTF-8 and to have no control characters.
std::string_view DecodeString(std::string_view raw, bool is_utf8, TextArena* arena,
                              TextFaults* faults);

// Returns `json`, or a copy in which all is UTF-8.
std::string_view CleanJson(std::string_view json, TextArena* arena, TextFaults* faults);

inline bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Stores the value that a word without quotes stands for: a number, true, false, or null. Words
// that JSON does not know, as nan, are null.
void ReadWord(std::string_view word, JsonValue* value, TextFaults* faults);

// Returns the value whose whole text is `json`.
JsonValue DecodeValue(std::string_view json, TextArena* arena, TextFaults* faults);

// Returns the place of a member in an event. Null: no reader needs the member, or it is `args`.
JsonValue* MemberOf(std::string_view key, ChromeEvent* event);
// Forgets all members. The room for arguments stays.
void Clear(ChromeEvent* event);
// Sets the phase when all members are there. It is read like the other texts.
void SetPhase(ChromeEvent* event);

}  // namespace gpuprof::analysis::import
