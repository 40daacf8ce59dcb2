// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chrome traces: any bytes are read with windows of two sizes. Every view that is handed over is
// looked at. What must hold besides not crashing: texts are UTF-8, the notes count what was handed
// over, and where windows end makes no difference to a trace that is JSON.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/base/utf8.h"
#include "analysis/import/chrome_reader.h"
#include "tests/fuzz/check.h"

using gpuprof::analysis::CodePointBytes;
using gpuprof::analysis::Error;
using gpuprof::analysis::import::ChromeEvent;
using gpuprof::analysis::import::ChromeHandler;
using gpuprof::analysis::import::ChromeTextNotes;
using gpuprof::analysis::import::Elements;
using gpuprof::analysis::import::JsonValue;
using gpuprof::analysis::import::MemorySource;
using gpuprof::analysis::import::Nanoseconds;
using gpuprof::analysis::import::RealNumber;
using gpuprof::analysis::import::WholeNumber;
using gpuprof::fuzz::Check;

namespace {

class LookingHandler : public ChromeHandler {
 public:
  void OnEvent(const ChromeEvent& event) override {
    ++events;
    for (const JsonValue* value : {&event.name, &event.category, &event.time, &event.duration,
                                   &event.pid, &event.tid, &event.id, &event.scope})
      Look(*value);
    for (const auto& [key, value] : event.args) {
      LookAtText(key);
      Look(value);
      Check(static_cast<bool>(event.Arg(key).kind == JsonValue::Kind::kAbsent) == false);
    }
  }
  void OnHeader(std::string_view key, const JsonValue& value) override {
    LookAtText(key);
    Look(value);
  }

  uint64_t events = 0;
  uint64_t sum = 0;  // of all that was seen

 private:
  void LookAtText(std::string_view text) {
    sum = sum * 31 + text.size();
    for (size_t at = 0; at < text.size();) {
      const size_t bytes = CodePointBytes(text.substr(at));
      Check(bytes != 0);
      sum = sum * 31 + static_cast<unsigned char>(text[at]);
      at += bytes;
    }
  }
  void Look(const JsonValue& value) {
    sum = sum * 31 + static_cast<uint64_t>(value.kind);
    LookAtText(value.text);
    sum += static_cast<uint64_t>(WholeNumber(value).value_or(1));
    sum += static_cast<uint64_t>(Nanoseconds(value).value_or(2));
    sum += RealNumber(value) ? 1 : 0;
    for (const JsonValue& element : Elements(value, 50)) LookAtText(element.text);
  }
};

bool IsFlawless(const ChromeTextNotes& notes) {
  return notes.repaired_events == 0 && notes.unreadable_events == 0 && !notes.is_truncated &&
         notes.bad_texts == 0 && notes.unreadable_headers == 0 && notes.bytes_not_read == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The last byte chooses the smaller window.
  const size_t window = 64 + size_t{data[size - 1]} * 3;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  LookingHandler large, small;
  ChromeTextNotes large_notes, small_notes;
  MemorySource whole(bytes), pieces(bytes, 1 + window % 7);
  const Error error = ReadChrome(&whole, "trace", &large, &large_notes, 16 << 10);
  const Error small_error = ReadChrome(&pieces, "trace", &small, &small_notes, window);
  Check(large.events == large_notes.events && small.events == small_notes.events);
  Check(large_notes.truncated_at <= large_notes.bytes);
  if (!error && IsFlawless(large_notes)) {
    Check(!small_error && IsFlawless(small_notes));
    Check(large.events == small.events && large.sum == small.sum);
    Check(large_notes.bytes == small_notes.bytes);
  }
  return 0;
}
