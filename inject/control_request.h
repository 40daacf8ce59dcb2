// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The text of the control protocol (proto/control.h), without sockets and threads. It finds the
// line in a client's bytes, parses the line's request, and puts text from elsewhere safely into an
// answer. No system call, no heap, no state. The threads of control_socket.cc call it; so does a
// fuzzer.

#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/text.h"

namespace gpuprof::inject {

// Collects a client's bytes until the line is complete.
class RequestLine {
 public:
  static constexpr size_t kCapacity = 256;
  enum class State { kMore, kComplete, kTooLong };

  // Begins a new line.
  void Clear() noexcept { used_ = 0; }
  // Returns the place for the next bytes, at most room() of them. There is room while the state is
  // kMore.
  char* end() { return text_ + used_; }
  size_t room() const { return kCapacity - 1 - used_; }
  // Takes in `bytes` that were put at end(). What follows the line's end is discarded.
  State Grow(size_t bytes) noexcept;
  // Returns the line without its end. The line is valid once it is complete.
  const char* text() const { return text_; }

 private:
  char text_[kCapacity] = {};
  size_t used_ = 0;
};

enum class Verb : uint32_t { kUnknown, kStatus, kStart, kStop, kToggle, kSnapshot };

struct Request {
  Verb verb = Verb::kUnknown;
  const char* name = nullptr;   // of a snapshot, within the line; empty: none was given
  const char* error = nullptr;  // why the request is refused as it stands
};

Request ParseRequest(const char* line) noexcept;

// Adds "key=value" and a line feed. A control character of the value becomes '?': a value with line
// feeds must not look like more keys.
void AddValue(const char* key, const char* value, Text* answer) noexcept;

}  // namespace gpuprof::inject
