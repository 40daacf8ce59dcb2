// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the end of a string quickly. Strings of traces are short, so a call of memchr is slow.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gpuprof::analysis::import {

// Returns the place of the first quote or backslash at or behind `text`. One must be there, and 15
// bytes behind it must be readable.
inline size_t QuoteOrBackslash(const char* text) {
#ifdef __SSE2__
  for (size_t at = 0;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(found));
    if (mask != 0) return at + static_cast<size_t>(std::countr_zero(mask));
  }
#else
  size_t at = 0;
  while (text[at] != '"' && text[at] != '\\') ++at;
  return at;
#endif
}

}  // namespace gpuprof::analysis::import
