// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the value of --python: "trace:GLOBS", "gc", or both, separated by commas. What follows
// "trace:" up to "gc" are globs, separated by commas too.
//
// Pure: no libc, no heap. Included by freestanding code.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::proto {

inline constexpr char kPythonTrace[] = "trace:";
inline constexpr char kPythonGc[] = "gc";
inline constexpr char kPythonGrammar[] = "trace:GLOBS, gc, or trace:GLOBS,gc";

enum class PythonFault : uint8_t {
  kNone,
  kUnknown,  // an item is neither trace:GLOB nor gc, and no glob is before it
  kEmpty,    // an item, or a glob, has no letter
  kLong,     // the globs have no room
};

struct PythonOption {
  bool has_gc = false;
  char globs[512] = {};  // "": no calls
};

// Fills `option`. The faulty item is [*from, *to).
constexpr PythonFault ReadPythonOption(const char* text, PythonOption* option, const char** from,
                                       const char** to) {
  size_t used = 0;
  bool has_globs = false;
  for (const char* item = text;; ++item) {
    const char* end = item;
    while (*end != 0 && *end != ',') ++end;
    *from = item;
    *to = end;
    const char* glob = item;
    size_t same = 0;
    while (kPythonTrace[same] != 0 && item + same < end && item[same] == kPythonTrace[same]) ++same;
    const bool begins_trace = kPythonTrace[same] == 0;
    if (begins_trace) glob = item + same;
    if (glob == end) return PythonFault::kEmpty;
    if (end - item == 2 && item[0] == kPythonGc[0] && item[1] == kPythonGc[1]) {
      option->has_gc = true;
    } else if (!begins_trace && !has_globs) {
      return PythonFault::kUnknown;
    } else {
      has_globs = true;
      const auto bytes = static_cast<size_t>(end - glob);
      if (used + bytes + 2 > sizeof(option->globs)) return PythonFault::kLong;
      if (used != 0) option->globs[used++] = ',';
      for (; glob < end; ++glob) option->globs[used++] = *glob;
      option->globs[used] = 0;
    }
    if (*end == 0) return PythonFault::kNone;
    item = end;
  }
}

}  // namespace gpuprof::proto
