// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Everything that the reader of Chrome traces hands over, as text that tests can compare.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/chrome_reader.h"

namespace gpuprof::analysis::import {

// Returns a value with a letter for its kind in front, as n:1.5 or s:gemm.
inline std::string Shown(const JsonValue& value) {
  static constexpr std::string_view kKinds[] = {"-", "null", "b", "n", "s", "a", "o"};
  std::string shown(kKinds[static_cast<size_t>(value.kind)]);
  return value.text.empty() ? shown : shown + ":" + std::string(value.text);
}

class CollectedEvents : public ChromeHandler {
 public:
  void OnEvent(const ChromeEvent& event) override {
    std::string line(1, event.phase == 0 ? '?' : event.phase);
    const std::pair<const char*, const JsonValue*> members[] = {
        {"name", &event.name},    {"cat", &event.category}, {"ts", &event.time},
        {"dur", &event.duration}, {"pid", &event.pid},      {"tid", &event.tid},
        {"id", &event.id},        {"s", &event.scope}};
    for (const auto& [key, value] : members) {
      if (value->kind != JsonValue::Kind::kAbsent)
        line += std::string(" ") + key + "=" + Shown(*value);
    }
    for (const auto& [key, value] : event.args) line += " " + std::string(key) + "=" + Shown(value);
    lines.push_back(std::move(line));
    names.emplace_back(event.name.text);
  }
  void OnHeader(std::string_view key, const JsonValue& value) override {
    headers.push_back(std::string(key) + "=" + Shown(value));
  }

  std::vector<std::string> lines, names, headers;
};

// What came of one text.
struct ReadText {
  Error error;
  CollectedEvents events;
  ChromeTextNotes notes;
};

// Reads a text that the source hands out in pieces.
inline ReadText Read(std::string_view text, size_t piece = SIZE_MAX,
                     size_t window_bytes = TextWindow::kBytes) {
  ReadText read;
  MemorySource source(text, piece);
  read.error = ReadChrome(&source, "trace.json", &read.events, &read.notes, window_bytes);
  return read;
}

}  // namespace gpuprof::analysis::import
