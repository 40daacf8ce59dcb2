// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the text of a frame, "file.py(12): function", into a buffer. `Reads` copies memory of the
// interpreter: of other threads by the kernel, of the own thread directly. No heap, no lock.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tracer/python/layout.h"

namespace gpuprof::tracer {

inline constexpr uint32_t kMostLetters = 240;  // of a name or path: the end of a path says most
inline constexpr uint32_t kLongestText = 1u << 13;
inline constexpr uint32_t kMostTextBytes = 4 * kMostLetters + 4;

// Reads memory that is there: of frames of the calling thread.
struct DirectReads {
  bool Read(uint64_t address, void* to, uint32_t bytes) const {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

inline uint64_t WordOfCode(const uint8_t* code, uint32_t place) {
  uint64_t word;
  std::memcpy(&word, code + place, sizeof(word));
  return word;
}

// Appends a letter as UTF-8. Control characters and halves of surrogate pairs become '?'.
inline void AppendUtf8(uint32_t letter, char* text, uint32_t* bytes) {
  const auto add = [&](uint32_t byte) { text[(*bytes)++] = static_cast<char>(byte); };
  const bool is_bad =
      letter < 0x20 || letter == 0x7f || (letter >= 0xd800 && letter < 0xe000) || letter > 0x10ffff;
  if (is_bad) return add('?');
  if (letter < 0x80) return add(letter);
  if (letter < 0x800) {
    add(0xc0 | letter >> 6);
  } else if (letter < 0x10000) {
    add(0xe0 | letter >> 12);
    add(0x80 | (letter >> 6 & 0x3f));
  } else {
    add(0xf0 | letter >> 18);
    add(0x80 | (letter >> 12 & 0x3f));
    add(0x80 | (letter >> 6 & 0x3f));
  }
  add(0x80 | (letter & 0x3f));
}

// Reads a str into `text`, which has room for kMostTextBytes: ASCII, or of 1, 2 or 4 bytes a
// letter. Of a long text the end is kept. False: it is no str that can be read.
template <typename Reads>
bool ReadText(Reads* reads, const PythonLayout& layout, uint64_t address, char* text,
              uint32_t* bytes) {
  uint8_t head[kTextState + 8];
  if (!reads->Read(address, head, sizeof(head))) return false;
  const uint64_t length = WordOfCode(head, kTextLength);
  const auto state = static_cast<uint32_t>(WordOfCode(head, kTextState));
  const uint32_t width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4) || length > kLongestText)
    return false;
  const auto letters = static_cast<uint32_t>(std::min<uint64_t>(length, kMostLetters));
  const uint64_t first =
      address + (is_ascii ? layout.ascii_bytes : layout.compact_bytes) + (length - letters) * width;
  *bytes = 0;
  if (letters < length) {
    std::memcpy(text, "...", 3);
    *bytes = 3;
  }
  constexpr uint32_t kSome = 16;
  uint8_t data[4 * kSome];
  for (uint32_t done = 0; done < letters; done += kSome) {
    const uint32_t some = std::min(letters - done, kSome);
    if (!reads->Read(first + uint64_t{done} * width, data, some * width)) return false;
    for (uint32_t i = 0; i < some; ++i) {
      uint32_t letter = 0;
      std::memcpy(&letter, data + i * width, width);
      AppendUtf8(letter, text, bytes);
    }
  }
  return true;
}

// Writes "file(line): name" to `to`, which has room for `room` bytes. Returns its length.
inline uint32_t WriteFrame(const char* file, uint32_t file_bytes, int32_t line, const char* name,
                           uint32_t name_bytes, char* to, uint32_t room) {
  uint32_t bytes = 0;
  const auto add = [&](const char* part, uint32_t size) {
    size = std::min(size, room - bytes);
    std::memcpy(to + bytes, part, size);
    bytes += size;
  };
  char digits[12];
  uint32_t first = sizeof(digits);
  for (auto rest = static_cast<uint32_t>(std::max(line, 0)); first == sizeof(digits) || rest != 0;
       rest /= 10)
    digits[--first] = static_cast<char>('0' + rest % 10);
  add(file, file_bytes);
  add("(", 1);
  add(digits + first, static_cast<uint32_t>(sizeof(digits)) - first);
  add("): ", 3);
  add(name, name_bytes);
  return bytes;
}

}  // namespace gpuprof::tracer
