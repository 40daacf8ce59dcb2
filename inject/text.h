// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Bounded text building without libc's locale, heap or stdio. Safe in hooks and signal
// handlers.

#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/number_text.h"

namespace gpuprof::inject {

using proto::ParseNumber;
using proto::ParseSize;

// Appends to a fixed buffer, always zero-terminated; what does not fit is cut and `cut` says so.
class Text {
 public:
  Text(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) { buffer_[0] = 0; }
  Text& Add(const char* text) noexcept {
    while (*text != 0) Put(*text++);
    return *this;
  }
  Text& Add(const char* text, size_t bytes) noexcept {
    for (size_t i = 0; i < bytes; ++i) Put(text[i]);
    return *this;
  }
  Text& Number(int64_t value) noexcept {
    if (value < 0) Put('-');
    return Digits(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value), 10);
  }
  Text& Hex(uint64_t value) noexcept { return Digits(value, 16); }
  const char* c_str() const { return buffer_; }
  size_t size() const { return size_; }
  bool cut() const { return cut_; }

 private:
  void Put(char c) noexcept {
    if (size_ + 1 >= capacity_) {
      cut_ = true;
      return;
    }
    buffer_[size_++] = c;
    buffer_[size_] = 0;
  }
  Text& Digits(uint64_t value, unsigned base) noexcept {
    char digits[20];
    int n = 0;
    do {
      digits[n++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (n > 0) Put(digits[--n]);
    return *this;
  }

  char* buffer_;
  size_t capacity_;
  size_t size_ = 0;
  bool cut_ = false;
};

inline size_t Length(const char* text) noexcept {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

inline bool Equal(const char* text, const char* other, size_t other_bytes) noexcept {
  size_t i = 0;
  for (; i < other_bytes; ++i) {
    if (text[i] == 0 || text[i] != other[i]) return false;
  }
  return text[i] == 0;
}

inline bool Equal(const char* a, const char* b) noexcept { return Equal(a, b, Length(b)); }

inline const char* BaseName(const char* path) noexcept {
  const char* base = path;
  for (const char* p = path; *p != 0; ++p) {
    if (*p == '/') base = p + 1;
  }
  return base;
}

}  // namespace gpuprof::inject
