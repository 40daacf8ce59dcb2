// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads numbers and sizes of settings. The command and the injected object read them alike. Pure,
// no heap and no libc: safe in hooks and signal handlers.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

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

}  // namespace gpuprof::proto
