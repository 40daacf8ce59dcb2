// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See answer_file.h.

#include "launcher/agent/answer_file.h"

#include <unistd.h>

#include <algorithm>

#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/wire.h"

namespace gpuprof::launcher {
namespace {

constexpr char kBroken[] = "the answer is not one of TensorFlow's profiler service";
constexpr size_t kMostTraces = 1000, kMostWords = 20, kMostWordBytes = 1000, kMostNameBytes = 200;
constexpr uint32_t kPlanesField = 1, kErrorsField = 2, kWarningsField = 3;

std::string ReadText(int file, uint64_t offset, uint64_t bytes) {
  std::string text(static_cast<size_t>(bytes), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), static_cast<off_t>(offset));
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

// A message of more fields is none that a profiler server sends. A gigabyte can hold 500 million.
constexpr int kMostFields = 100'000;

// Calls visit(field's head, offset of its bytes) for the fields of a message. Returns false if it
// is broken, or if visit does.
template <typename Visit>
bool ForEachField(int file, uint64_t offset, uint64_t bytes, const Visit& visit) {
  const uint64_t end = offset + bytes;
  for (int fields = 0; offset < end; ++fields) {
    if (fields == kMostFields) return false;
    const uint64_t room = std::min<uint64_t>(end - offset, kMostWireHead);
    const std::string start = ReadText(file, offset, room);
    WireHead head;
    if (start.size() != room || !ReadWireHead(start, &head)) return false;
    offset += head.size;
    if (head.is_bytes && head.length > end - offset) return false;
    if (!visit(head, offset)) return false;
    if (head.is_bytes) offset += head.length;
  }
  return true;
}

// Reads what a trace says at its top. A broken trace says nothing more: its readers tell what is
// wrong.
void ReadWords(int file, AnswerTrace* trace) {
  ForEachField(file, trace->offset, trace->bytes, [&](const WireHead& head, uint64_t at) {
    if (!head.is_bytes) return true;
    if (head.field == kPlanesField) ++trace->planes;
    auto* words = head.field == kErrorsField     ? &trace->errors
                  : head.field == kWarningsField ? &trace->warnings
                                                 : nullptr;
    if (words != nullptr && words->size() < kMostWords)
      words->push_back(ReadText(file, at, std::min<uint64_t>(head.length, kMostWordBytes)));
    return true;
  });
}

bool ReadToolData(int file, uint64_t offset, uint64_t bytes, AnswerTrace* trace) {
  return ForEachField(file, offset, bytes, [&](const WireHead& head, uint64_t at) {
    if (!head.is_bytes) return true;
    if (head.field == kToolNameField)
      trace->name = ReadText(file, at, std::min<uint64_t>(head.length, kMostNameBytes));
    if (head.field == kToolBytesField) {
      trace->offset = at;
      trace->bytes = head.length;
    }
    return true;
  });
}

}  // namespace

std::string ReadAnswer(int file, uint64_t bytes, AnswerParts* parts) {
  const bool is_whole = ForEachField(file, 0, bytes, [&](const WireHead& head, uint64_t at) {
    if (head.field == kEmptyTraceField && !head.is_bytes) parts->is_empty_trace = head.length != 0;
    AnswerTrace trace;
    if (head.field == kToolDataField && head.is_bytes) {
      if (!ReadToolData(file, at, head.length, &trace)) return false;
      if (!trace.name.ends_with(kXPlaneName)) {
        ++parts->other_data;
        return true;
      }
    } else if (head.field == kXSpaceField && head.is_bytes) {
      trace.offset = at;
      trace.bytes = head.length;
    } else {
      return true;
    }
    // Servers send an empty field for no trace.
    if (trace.bytes == 0) return true;
    if (parts->traces.size() == kMostTraces) return false;
    ReadWords(file, &trace);
    parts->traces.push_back(std::move(trace));
    return true;
  });
  return is_whole ? "" : kBroken;
}

}  // namespace gpuprof::launcher
