// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See element_scanner.h.

#include "analysis/import/element_scanner.h"

#include <algorithm>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kBlock = 64;

// Returns a mask with each bit set that has an odd number of set bits at and below its place.
uint64_t OddBelow(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

// Of brackets of both shapes only bit 0x20 differs: [ and {, ] and }.
#ifdef __SSE2__
ElementScanner::Masks ElementScanner::MasksOf(const char* text) {
  Masks masks = {};
  const __m128i case_bit = _mm_set1_epi8(0x20);
  const auto mask_of = [](__m128i bytes, char c) {
    const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
    return static_cast<uint64_t>(static_cast<uint32_t>(mask));
  };
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
    const __m128i brackets = _mm_or_si128(bytes, case_bit);
    masks.quotes |= mask_of(bytes, '"') << 16 * i;
    masks.backslashes |= mask_of(bytes, '\\') << 16 * i;
    masks.opening |= mask_of(brackets, '{') << 16 * i;
    masks.closing |= mask_of(brackets, '}') << 16 * i;
  }
  return masks;
}
#else
ElementScanner::Masks ElementScanner::MasksOf(const char* text) {
  Masks masks = {};
  for (size_t i = 0; i < kBlock; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const char c = text[i];
    if (c == '"') masks.quotes |= bit;
    if (c == '\\') masks.backslashes |= bit;
    if ((c | 0x20) == '{') masks.opening |= bit;
    if ((c | 0x20) == '}') masks.closing |= bit;
  }
  return masks;
}
#endif

void ElementScanner::Restart(size_t at) {
  *this = {};
  at_ = at;
}

void ElementScanner::Dropped(size_t bytes) {
  at_ -= bytes;
  open_.begin -= std::min(bytes, open_.begin);
}

// Returns which bytes stand behind a backslash that is not itself behind another.
uint64_t ElementScanner::Escaped(uint64_t backslashes, size_t bytes) {
  uint64_t escaped = is_escaped_ ? 1 : 0;
  is_escaped_ = false;
  backslashes &= ~escaped;
  while (backslashes != 0) {
    const uint64_t bit = backslashes & (~backslashes + 1);
    const uint64_t next = bit << 1;
    if (bit == uint64_t{1} << (bytes - 1)) is_escaped_ = true;
    escaped |= next;
    backslashes &= ~(bit | next);
  }
  return escaped;
}

bool ElementScanner::Scan(const char* text, size_t bytes, bool is_end,
                          std::vector<Element>* found) {
  while (at_ + kBlock <= bytes || (is_end && at_ < bytes)) {
    const size_t used = std::min(kBlock, bytes - at_);
    const uint64_t valid = used == kBlock ? ~uint64_t{0} : (uint64_t{1} << used) - 1;
    const Masks masks = MasksOf(text + at_);
    const bool was_escaped = is_escaped_, was_string = is_string_;
    const uint64_t quotes = masks.quotes & ~Escaped(masks.backslashes & valid, used) & valid;
    const uint64_t strings = OddBelow(quotes) ^ (was_string ? ~uint64_t{0} : 0);
    is_string_ = (strings >> (used - 1) & 1) != 0;
    uint64_t brackets = (masks.opening | masks.closing) & ~strings & valid;
    while (brackets != 0) {
      const auto place = static_cast<size_t>(std::countr_zero(brackets));
      brackets &= brackets - 1;
      if ((masks.opening >> place & 1) != 0) {
        if (depth_ == 0) open_ = {at_ + place, 0, false};
        if (++depth_ > kMostDepth) open_.is_too_deep = true;
        continue;
      }
      if (depth_ == 0) {
        // The next block would begin in the middle of this one.
        is_escaped_ = was_escaped;
        is_string_ = was_string;
        at_ += place;
        return false;
      }
      if (--depth_ == 0) {
        open_.end = at_ + place + 1;
        found->push_back(open_);
      }
    }
    at_ += used;
  }
  return true;
}

}  // namespace gpuprof::analysis::import
