// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See control_request.h.

#include "inject/control_request.h"

#include "proto/control.h"

namespace gpuprof::inject {
namespace {

// Returns what follows "snapshot" if it is the verb, else null.
const char* SnapshotName(const char* line) {
  for (const char* verb = proto::kVerbSnapshot; *verb != 0; ++verb, ++line) {
    if (*line != *verb) return nullptr;
  }
  if (*line == 0) return line;
  return *line == ' ' ? line + 1 : nullptr;
}

// Tells whether the name can become part of a path.
bool IsPlainName(const char* name) {
  uint32_t length = 0;
  for (; name[length] != 0; ++length) {
    const char c = name[length];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    if (!plain || length == proto::kMostSnapshotName) return false;
  }
  return true;
}

}  // namespace

RequestLine::State RequestLine::Grow(size_t bytes) noexcept {
  for (const size_t end = used_ + bytes; used_ < end; ++used_) {
    if (text_[used_] != '\n') continue;
    text_[used_] = 0;
    return State::kComplete;
  }
  return room() == 0 ? State::kTooLong : State::kMore;
}

Request ParseRequest(const char* line) noexcept {
  if (const char* name = SnapshotName(line); name != nullptr) {
    if (IsPlainName(name)) return {.verb = Verb::kSnapshot, .name = name};
    return {.error = "a snapshot's name has at most 64 letters, digits, '.', '-', '_'"};
  }
  if (Equal(line, proto::kVerbStatus)) return {.verb = Verb::kStatus};
  if (Equal(line, proto::kVerbStart)) return {.verb = Verb::kStart};
  if (Equal(line, proto::kVerbStop)) return {.verb = Verb::kStop};
  if (Equal(line, proto::kVerbToggle)) return {.verb = Verb::kToggle};
  return {.error = "unknown verb; this process knows status, start, stop, toggle, snapshot"};
}

void AddValue(const char* key, const char* value, Text* answer) noexcept {
  answer->Add(key).Add("=");
  for (; *value != 0; ++value) {
    const char plain = static_cast<unsigned char>(*value) < ' ' ? '?' : *value;
    answer->Add(&plain, 1);
  }
  answer->Add("\n");
}

}  // namespace gpuprof::inject
