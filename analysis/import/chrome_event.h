// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One event of a Chrome trace (JSON), as the reader of the text hands it over. The reader knows
// JSON and the keys that every event has. It knows no profiler: what the arguments mean is decided
// by the importer.
//
// All texts are views. They are valid until the handler returns.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
namespace gpuprof::analysis::import {

struct JsonValue {
  enum class Kind : uint8_t {
    kAbsent,  // the key is not there
    kNull,    // null; also NaN, inf and other words that JSON does not know
    kBool,    // text: true or false
    kNumber,  // text: the number as the file writes it, so that no decimal is lost
    kString,  // text: decoded, valid UTF-8
    kArray,   // text: the JSON of the array
    kObject,  // text: the JSON of the object
  };
  Kind kind = Kind::kAbsent;
  std::string_view text;

  explicit operator bool() const { return kind != Kind::kAbsent && kind != Kind::kNull; }
};

// Returns a whole number, also one that the file writes as a string or with a fraction of zeros.
// None: the value is absent, is not a number, or does not fit.
std::optional<int64_t> WholeNumber(const JsonValue& value);
// Returns a number, also one that the file writes as a string. None: as above, or not finite.
std::optional<double> RealNumber(const JsonValue& value);
// Returns a time or duration in nanoseconds. The file writes microseconds. The decimal is read
// digit by digit: as a double, a time since 1970 is wrong by up to 125 ns. Further decimals are
// cut. None: as above, or beyond +-4.6e18 ns.
std::optional<int64_t> Nanoseconds(const JsonValue& microseconds);
// Returns a number times ten to the power of `decimals`. Further decimals are cut. None: the value
// is not a number, or the product does not fit.
std::optional<int64_t> ScaledNumber(const JsonValue& value, int decimals);
// Returns the elements of a JSON array, at most `most`, up to the first fault. The views point into
// `array`. Escapes in strings stay as they are. Arrays and objects within are JSON in turn.
std::vector<JsonValue> Elements(const JsonValue& array, size_t most);

struct ChromeEvent {
  char phase = 0;  // the first letter of "ph": X, B, E, i, C, M, s, f, ...; 0: absent
  JsonValue phase_text, name, category, time, duration, pid, tid, id, scope;
  // In the order of the file. Equal keys: the last one counts; Arg() finds it.
  std::vector<std::pair<std::string_view, JsonValue>> args;

  // Finds an argument. Absent: the event does not have it.
  JsonValue Arg(std::string_view key) const;
};

// Gets the events in the order of the file. Called on the thread that reads.
class ChromeHandler {
 public:
  virtual ~ChromeHandler() = default;
  virtual void OnEvent(const ChromeEvent& event) = 0;
  // Gets a member of the top object other than traceEvents. It may come after the events.
  virtual void OnHeader(std::string_view key, const JsonValue& value) = 0;
  // Returns why no more events are taken: the text then ends here. None: more are taken.
  virtual Error Refusal() { return {}; }
};

// What the reader had to mend or leave out.
struct ChromeTextNotes {
  uint64_t bytes = 0;              // of JSON, after inflating
  uint64_t events = 0;             // handed over
  uint64_t repaired_events = 0;    // their text was not JSON; a comma too many does not count
  uint64_t unreadable_events = 0;  // skipped
  uint64_t bad_texts = 0;          // strings with bytes that were not UTF-8 and became U+FFFD
  bool is_truncated = false;       // the file ends before its end
  bool is_array = false;           // the top level is an array of events, not an object
  uint64_t truncated_at = 0;       // byte of the JSON at which it ends
  uint64_t lost_in_end = 0;        // events cut by the end: 0 or 1
  uint64_t bytes_not_read = 0;     // behind the end of the document
  uint64_t unreadable_headers =
      0;                        // broken members before the events: all up to the events is lost
  bool is_damaged = false;      // compressed bytes that are cut or cannot be inflated
  uint64_t first_fault_at = 0;  // byte of the first event that was skipped or mended
};

}  // namespace gpuprof::analysis::import
