// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See chrome_reader.h.

#include "analysis/import/chrome_reader.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string_view>
#include <utility>

#include "analysis/import/event_array.h"
#include "analysis/import/event_sink.h"
#include "analysis/import/inflating_source.h"
#include "analysis/import/json_cursor.h"
#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {
namespace {

constexpr std::string_view kEventsKey = "\"traceEvents\"";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// Compressed text that has no event in so many bytes is made to fill memory or time.
constexpr uint64_t kPatience = uint64_t{256} << 20;
// A larger member of the top object is left out.
constexpr size_t kLargestHeader = 64 << 20;
constexpr const char* kWhatToName = "name a Chrome trace (JSON), as torch.profiler writes it";

// Ends the text when the handler takes no more events.
class RefusingSource : public ByteSource {
 public:
  RefusingSource(ByteSource* inner, ChromeHandler* handler) : inner_(inner), handler_(handler) {}
  Result<size_t> Read(char* to, size_t most) override {
    if (Error error = handler_->Refusal()) return error;
    return inner_->Read(to, most);
  }

 private:
  ByteSource* inner_;
  ChromeHandler* handler_;
};

class Document {
 public:
  Document(ByteSource* source, std::string name, ChromeHandler* handler, ChromeTextNotes* notes,
           size_t window_bytes)
      : name_(std::move(name)),
        source_(source, name_),
        wanted_(&source_, handler),
        window_(&wanted_, window_bytes),
        handler_(handler),
        notes_(notes),
        sink_(handler, notes),
        events_(&window_, &sink_) {}

  Error Read();

 private:
  // Returns the byte at or behind `*at` that is not blank. -1: the text ends, or only blanks
  // follow.
  int NonBlank(size_t* at);
  // The same at the front of the window. Blanks are dropped, however many they are.
  int Peek();
  Error ReadTop();
  Error ReadObject();
  // Reads a member. False: this is none.
  bool ReadMember();
  // Notes a text that ends too early. Returns false.
  bool Fail(Reading reading);
  void ReadArray();
  // Finds the end of the value that begins at `begin`.
  Reading Measure(size_t begin, size_t* end);
  // Goes on at the events when the text before them is broken. False: there are none.
  bool SkipToEvents();
  void HandOverHeader(const std::string& key, std::string_view json);
  void CountRest();
  void MarkTruncated();
  Error Refuse(const std::string& cause) const {
    return Unreadable(name_ + ": " + cause + "; " + kWhatToName);
  }

  std::string name_;
  InflatingSource source_;
  RefusingSource wanted_;
  TextWindow window_;
  ChromeHandler* handler_;
  ChromeTextNotes* notes_;
  EventSink sink_;
  EventArray events_;
  TextArena arena_;
  bool has_events_ = false;
};

int Document::NonBlank(size_t* at) {
  while (true) {
    *at = SkipBlanks(window_.view(), *at);
    if (*at < window_.size()) return static_cast<unsigned char>(window_.data()[*at]);
    if (window_.has_ended() || window_.size() >= kLargestHeader) return -1;
    window_.Fill();
  }
}

int Document::Peek() {
  while (true) {
    size_t at = 0;
    const int next = NonBlank(&at);
    window_.Drop(at);
    if (next >= 0 || window_.has_ended()) return next;
  }
}

Error Document::Read() {
  *notes_ = {};
  window_.Fill();
  if (source_.is_compressed()) {
    window_.LimitPatience(kPatience,
                          Unreadable(name_ +
                                     ": the compressed bytes inflate to 256 MiB and more "
                                     "without an event; " +
                                     kWhatToName));
  }
  if (window_.view().starts_with(kByteOrderMark)) window_.Drop(kByteOrderMark.size());
  Error error = ReadTop();
  notes_->bytes = window_.offset() + window_.size();
  notes_->is_damaged = source_.is_damaged();
  notes_->bytes_not_read += source_.bytes_behind();
  return window_.error() ? window_.error() : error;
}

Error Document::ReadTop() {
  const int first = Peek();
  if (first < 0) {
    return Refuse(source_.is_damaged()    ? "the compressed bytes cannot be inflated"
                  : window_.offset() == 0 ? "the file is empty"
                                          : "the file has only blanks");
  }
  if (window_.view().starts_with("\xff\xfe") || window_.view().starts_with("\xfe\xff"))
    return Unreadable(name_ + ": the text is UTF-16; convert it: iconv -f UTF-16 -t UTF-8");
  if (first != '{' && first != '[') {
    char byte[32];
    std::snprintf(byte, sizeof byte, "0x%02x at byte %llu", static_cast<unsigned>(first),
                  static_cast<unsigned long long>(window_.offset()));
    return Refuse(std::string("not JSON of a trace: it begins with ") + byte);
  }
  if (first == '{') return ReadObject();
  window_.Drop(1);
  notes_->is_array = true;
  ReadArray();
  if (!notes_->is_truncated) CountRest();
  if (notes_->events == 0 && notes_->unreadable_events != 0)
    return Refuse("no element of the array is an event");
  return {};
}

Error Document::ReadObject() {
  window_.Drop(1);
  bool is_closed = false;
  while (!is_closed) {
    const int next = Peek();
    if (next < 0) {
      MarkTruncated();
      break;
    }
    if (next == ',' || next == '}') {
      window_.Drop(1);
      is_closed = next == '}';
    } else if (next != '"' || !ReadMember()) {
      if (notes_->is_truncated || has_events_ || !SkipToEvents()) break;
    }
  }
  if (!has_events_) {
    return Refuse(source_.is_damaged() ? "the compressed bytes are cut or damaged before the events"
                  : notes_->is_truncated ? "the file ends before its events"
                  : is_closed            ? "the JSON has no array traceEvents"
                                         : "the JSON is broken and has no array traceEvents");
  }
  if (!notes_->is_truncated) CountRest();
  return {};
}

bool Document::ReadMember() {
  // Nothing is dropped before the member is seen to be whole: SkipToEvents() looks at it again.
  size_t key_end = 0;
  Reading reading = Measure(0, &key_end);
  if (reading != Reading::kWhole) return Fail(reading);
  size_t at = key_end;
  int next = NonBlank(&at);
  if (next != ':') return Fail(next < 0 ? Reading::kMore : Reading::kBroken);
  ++at;
  next = NonBlank(&at);
  if (next < 0) return Fail(Reading::kMore);
  TextFaults faults;
  arena_.Clear();
  const std::string key(
      DecodeString(window_.view().substr(1, key_end - 2), false, &arena_, &faults));
  if (key == "traceEvents" && next == '[') {
    window_.Drop(at + 1);
    has_events_ = true;
    ReadArray();
    return !notes_->is_truncated;
  }
  size_t end = 0;
  reading = Measure(at, &end);
  if (reading != Reading::kWhole) return Fail(reading);
  size_t behind = end;
  next = NonBlank(&behind);
  if (next >= 0 && next != ',' && next != '}') return false;
  HandOverHeader(key, window_.view().substr(at, end - at));
  window_.Drop(end);
  return true;
}

bool Document::Fail(Reading reading) {
  if (reading == Reading::kMore) MarkTruncated();
  return false;
}

void Document::ReadArray() {
  switch (events_.Read()) {
    case EventArray::End::kClosed:
      break;
    case EventArray::End::kNotClosed:
      break;
    case EventArray::End::kTextEndsWithin:
      notes_->lost_in_end = 1;
      MarkTruncated();
      break;
    case EventArray::End::kTextEnds:
      MarkTruncated();
      break;
  }
}

Reading Document::Measure(size_t begin, size_t* end) {
  while (true) {
    *end = begin;
    const Reading reading = SkipValue(window_.view(), end);
    // A word may go on behind the window.
    const bool may_go_on = *end == window_.size() && !window_.has_ended();
    if (reading == Reading::kBroken || (reading == Reading::kWhole && !may_go_on)) return reading;
    if (window_.has_ended()) return Reading::kMore;
    if (window_.size() >= kLargestHeader) return Reading::kBroken;
    window_.Fill();
  }
}

bool Document::SkipToEvents() {
  // The key, blanks, and the bracket behind it lie within so many bytes.
  constexpr size_t kOverlap = 4096;
  ++notes_->unreadable_headers;
  while (true) {
    const std::string_view text = window_.view();
    for (size_t at = text.find(kEventsKey); at != std::string_view::npos;
         at = text.find(kEventsKey, at + 1)) {
      const size_t colon = SkipBlanks(text, at + kEventsKey.size());
      const size_t bracket = SkipBlanks(text, colon + 1);
      if (bracket < text.size() && text[colon] == ':' && text[bracket] == '[') {
        window_.Drop(at);
        return true;
      }
    }
    if (window_.has_ended()) return false;
    window_.Drop(text.size() - std::min(text.size(), kOverlap));
    window_.Fill();
  }
}

void Document::HandOverHeader(const std::string& key, std::string_view json) {
  TextFaults faults;
  arena_.Clear();
  const JsonValue value = DecodeValue(json, &arena_, &faults);
  notes_->bad_texts += faults.bad_texts;
  handler_->OnHeader(key, value);
}

void Document::CountRest() {
  if (Peek() < 0) return;
  const uint64_t begin = window_.offset();
  while (!window_.has_ended()) {
    window_.Drop(window_.size());
    window_.Fill();
  }
  window_.Drop(window_.size());
  notes_->bytes_not_read = window_.offset() - begin;
}

void Document::MarkTruncated() {
  notes_->is_truncated = true;
  notes_->truncated_at = window_.offset() + window_.size();
}

}  // namespace

Error ReadChrome(const codec::InputPath& path, ChromeHandler* handler, ChromeTextNotes* notes) {
  const Result<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file.ok()) return file.error();
  return ReadChrome(file->get(), path.path, handler, notes);
}

Error ReadChrome(ByteSource* source, const std::string& name, ChromeHandler* handler,
                 ChromeTextNotes* notes, size_t window_bytes) {
  try {
    Document document(source, name, handler, notes, window_bytes);
    return document.Read();
  } catch (const std::bad_alloc&) {
    return Unreadable(name + ": there is not enough memory to read it; free some");
  }
}

}  // namespace gpuprof::analysis::import
