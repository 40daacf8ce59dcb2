// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Events of a Chrome trace as text, gathered into pieces for a sink. The layout of lines is
// Kineto's. For ExportChrome, one thread.

#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/export/event_out.h"

namespace gpuprof::analysis {

// Adds the text as a string of JSON, in double quotes. What a terminal would obey or not show is
// written as escapes, which readers of JSON undo. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

class EventWriter : public EventOut {
 public:
  EventWriter(Sink sink, void* context) : sink_(sink), context_(context) {}

  // Adds text between events: the parts of the top object.
  void Raw(std::string_view text) { text_ += text; }
  void Text(std::string_view text) { AppendJsonString(text, &text_); }
  template <std::integral T>
  void Number(T value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    text_.append(digits, static_cast<size_t>(end.ptr - digits));
  }

  void Span(std::string_view category, std::string_view name, const Place& place, int64_t start_ns,
            int64_t duration_ns) override;
  void Instant(std::string_view category, std::string_view name, const Place& place,
               int64_t time_ns) override;
  // Begins an event that describes a process or a thread.
  void Metadata(std::string_view name, const Place& place);
  // Begins the values of a counter.
  void Counter(std::string_view name, std::string_view pid, int64_t time_ns);
  void AsyncBegin(std::string_view category, std::string_view name, uint64_t id, const Place& place,
                  int64_t time_ns) override {
    Async('b', category, name, id, place, time_ns);
  }
  void AsyncEnd(std::string_view category, std::string_view name, uint64_t id, const Place& place,
                int64_t time_ns) override {
    Async('e', category, name, id, place, time_ns);
  }
  // Writes the whole recording, with its begin and end. Kineto calls it "Trace".
  void Recording(int64_t start_ns, int64_t end_ns);
  void FlowStart(std::string_view category, uint64_t id, const Place& place,
                 int64_t time_ns) override;
  void FlowEnd(std::string_view category, uint64_t id, const Place& place,
               int64_t time_ns) override;
  void JsonArg(std::string_view key, std::string_view json) override {
    Key(key);
    text_ += json;
  }
  void Members(std::string_view members) override;
  bool End() override;
  bool Flush();

  uint64_t events() const { return events_; }

 private:
  static constexpr size_t kPieceBytes = 64 * 1024;

  void SignedArg(std::string_view key, int64_t value) override {
    Key(key);
    Number(value);
  }
  void UnsignedArg(std::string_view key, uint64_t value) override {
    Key(key);
    Number(value);
  }
  void RealArg(std::string_view key, double value) override;
  void TextArg(std::string_view key, std::string_view text) override {
    Key(key);
    Text(text);
  }
  void Begin();
  void Key(std::string_view key);
  void OpenArgs();
  void At(const Place& place);
  void Micros(int64_t ns);
  void Async(char phase, std::string_view category, std::string_view name, uint64_t id,
             const Place& place, int64_t time_ns);
  void Flow(char phase, std::string_view category, uint64_t id, const Place& place,
            int64_t time_ns);

  Sink sink_;
  void* context_;
  std::string text_;  // the piece so far
  uint64_t events_ = 0;
  bool has_args_ = false;
  bool is_stopped_ = false;
};

}  // namespace gpuprof::analysis
