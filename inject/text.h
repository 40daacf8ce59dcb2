// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Bounded text building and parsing without libc's locale, heap or stdio. Safe in hooks and signal
// handlers.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject {

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

// Reads decimal digits at `*text`, and moves it behind them. False: there are no digits, or the
// number is too large.
inline bool ParseNumber(const char** text, uint64_t* value) noexcept {
  const char* p = *text;
  uint64_t sum = 0;
  if (*p < '0' || *p > '9') return false;
  for (; *p >= '0' && *p <= '9'; ++p) {
    if (sum > (UINT64_MAX - 9) / 10) return false;
    sum = sum * 10 + static_cast<uint64_t>(*p - '0');
  }
  *text = p;
  *value = sum;
  return true;
}

// Reads a size with an optional unit: 65536, 512KiB, 1MiB, 2GiB (K, M, G for short).
inline bool ParseSize(const char* text, const char* end, uint64_t* value) noexcept {
  const char* p = text;
  if (!ParseNumber(&p, value)) return false;
  unsigned shift = 0;
  if (p != end) {
    if (*p == 'K' || *p == 'k') shift = 10;
    if (*p == 'M' || *p == 'm') shift = 20;
    if (*p == 'G' || *p == 'g') shift = 30;
    if (shift == 0 && *p != 'B') return false;
    if (shift != 0) ++p;
    if (p != end && *p == 'i') ++p;
    if (p != end && *p == 'B') ++p;
  }
  if (p != end || *value > (UINT64_MAX >> shift)) return false;
  *value <<= shift;
  return true;
}

}  // namespace gpuprof::inject
