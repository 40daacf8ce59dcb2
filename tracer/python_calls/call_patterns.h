// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which functions --python=trace:GLOBS means. A glob is compared with "module.qualname" as a whole,
// and with the path of the source or its end: "x.py" and "lib/x.py" mean "/home/me/lib/x.py".
//
// Pure. Any thread.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Compares a text with a glob: * stands for any characters, ? for one.
inline bool GlobMatches(const char* glob, const char* glob_end, const char* text,
                        const char* text_end) {
  const char* star = nullptr;  // the last one, and what it has taken so far
  const char* taken = nullptr;
  while (text != text_end) {
    if (glob != glob_end && *glob == '*') {
      star = ++glob;
      taken = text;
    } else if (glob != glob_end && (*glob == '?' || *glob == *text)) {
      ++glob;
      ++text;
    } else if (star != nullptr) {
      glob = star;
      text = ++taken;
    } else {
      return false;
    }
  }
  while (glob != glob_end && *glob == '*') ++glob;
  return glob == glob_end;
}

// Returns whether one of the globs, separated by commas, means the function.
inline bool IsTraced(const char* globs, const char* name, uint32_t name_bytes, const char* file,
                     uint32_t file_bytes) {
  const char* const file_end = file + file_bytes;
  for (const char* glob = globs; *glob != 0;) {
    const char* end = glob;
    while (*end != 0 && *end != ',') ++end;
    if (end != glob) {
      if (GlobMatches(glob, end, name, name + name_bytes)) return true;
      for (const char* part = file; part < file_end; ++part) {
        const bool is_begin = part == file || part[-1] == '/';
        if (is_begin && GlobMatches(glob, end, part, file_end)) return true;
      }
    }
    glob = *end == ',' ? end + 1 : end;
  }
  return false;
}

}  // namespace gpuprof::tracer
