// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_writer.h.

#include "analysis/export/event_writer.h"

#include <algorithm>
#include <cmath>

#include "analysis/base/plain_text.h"

namespace gpuprof::analysis {

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  AppendPlain(text, PlainForm::kJsonString, out);
  *out += '"';
}

// Times in the file are microseconds. Three decimals keep every nanosecond.
void EventWriter::Micros(int64_t ns) {
  const auto size = ns < 0 ? uint64_t{0} - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (ns < 0) text_ += '-';
  Number(size / 1000);
  const auto rest = static_cast<unsigned>(size % 1000);
  text_ += '.';
  text_ += static_cast<char>('0' + rest / 100);
  text_ += static_cast<char>('0' + rest / 10 % 10);
  text_ += static_cast<char>('0' + rest % 10);
}

void EventWriter::At(const Place& place) {
  text_ += ", \"pid\": ";
  text_ += place.pid;
  text_ += ", \"tid\": ";
  Number(place.tid);
}

void EventWriter::Begin() {
  text_ += events_++ == 0 ? "\n  {\n    " : ",\n  {\n    ";
  has_args_ = false;
}

void EventWriter::Span(std::string_view category, std::string_view name, const Place& place,
                       int64_t start_ns, int64_t duration_ns) {
  Begin();
  text_ += "\"ph\": \"X\"";
  if (!category.empty()) {
    text_ += ", \"cat\": ";
    Text(category);
  }
  text_ += ", \"name\": ";
  Text(name);
  At(place);
  text_ += ",\n    \"ts\": ";
  Micros(start_ns);
  text_ += ", \"dur\": ";
  Micros(std::max<int64_t>(duration_ns, 0));
}

void EventWriter::Instant(std::string_view category, std::string_view name, const Place& place,
                          int64_t time_ns) {
  Begin();
  text_ += "\"ph\": \"i\", \"cat\": \"";
  text_ += category;
  text_ += "\", \"s\": \"t\", \"name\": ";
  Text(name);
  At(place);
  text_ += ",\n    \"ts\": ";
  Micros(time_ns);
}

void EventWriter::Metadata(std::string_view name, const Place& place) {
  Begin();
  text_ += "\"name\": \"";
  text_ += name;
  text_ += "\", \"ph\": \"M\", \"ts\": 0.000";
  At(place);
}

void EventWriter::Counter(std::string_view name, std::string_view pid, int64_t time_ns) {
  Begin();
  text_ += "\"ph\": \"C\", \"name\": ";
  Text(name);
  At({pid, 0});
  text_ += ", \"ts\": ";
  Micros(time_ns);
}

void EventWriter::Async(char phase, std::string_view category, std::string_view name, uint64_t id,
                        const Place& place, int64_t time_ns) {
  Begin();
  text_ += "\"ph\": \"";
  text_ += phase;
  text_ += "\", \"cat\": ";
  Text(category);
  text_ += ", \"name\": ";
  Text(name);
  text_ += ", \"id\": ";
  Number(id);
  At(place);
  text_ += ", \"ts\": ";
  Micros(time_ns);
}

void EventWriter::Recording(int64_t start_ns, int64_t end_ns) {
  Begin();
  text_ += "\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ";
  Micros(start_ns);
  text_ += ", \"dur\": ";
  Micros(std::max<int64_t>(end_ns - start_ns, 0));
  text_ += ",\n    \"pid\": \"Spans\", \"tid\": \"gpuprof\", \"name\": \"gpuprof (0)\"";
  End();
}

void EventWriter::Flow(char phase, std::string_view category, uint64_t id, const Place& place,
                       int64_t time_ns) {
  Begin();
  text_ += "\"ph\": \"";
  text_ += phase;
  text_ += "\", \"id\": ";
  Number(id);
  At(place);
  text_ += ", \"ts\": ";
  Micros(time_ns);
  text_ += ",\n    \"cat\": ";
  Text(category);
  text_ += ", \"name\": ";
  Text(category);
}

void EventWriter::FlowStart(std::string_view category, uint64_t id, const Place& place,
                            int64_t time_ns) {
  Flow('s', category, id, place, time_ns);
  End();
}

void EventWriter::FlowEnd(std::string_view category, uint64_t id, const Place& place,
                          int64_t time_ns) {
  Flow('f', category, id, place, time_ns);
  text_ += ", \"bp\": \"e\"";
  End();
}

void EventWriter::OpenArgs() {
  text_ += has_args_ ? ", " : ",\n    \"args\": {\n      ";
  has_args_ = true;
}

void EventWriter::Key(std::string_view key) {
  OpenArgs();
  Text(key);
  text_ += ": ";
}

void EventWriter::RealArg(std::string_view key, double value) {
  if (!std::isfinite(value)) return;
  Key(key);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value);
  text_.append(digits, static_cast<size_t>(end.ptr - digits));
}

void EventWriter::Members(std::string_view members) {
  if (members.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  OpenArgs();
  AppendPlain(members, PlainForm::kJson, &text_);
}

bool EventWriter::End() {
  text_ += has_args_ ? "\n    }\n  }" : "\n  }";
  has_args_ = false;
  return text_.size() < kPieceBytes ? !is_stopped_ : Flush();
}

bool EventWriter::Flush() {
  if (!is_stopped_ && !text_.empty()) is_stopped_ = !sink_(context_, text_);
  text_.clear();
  return !is_stopped_;
}

}  // namespace gpuprof::analysis
