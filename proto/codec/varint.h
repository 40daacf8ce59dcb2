// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Protobuf varints and zigzag, as inline functions: the encoder of the drain's hot path writes up
// to eight bytes without a branch on the length. Any thread; nothing is allocated; reads never pass
// `end`.

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gpuprof::codec {

inline constexpr int kMaxVarintBytes = 10;
inline constexpr uint64_t kContinuationBits = 0x8080808080808080u;

constexpr uint64_t ZigZag(uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
constexpr uint64_t UnZigZag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

constexpr uint32_t VarintBytes(uint64_t value) {
  return (static_cast<uint32_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Spreads 56 bits into eight groups of seven, one a byte.
constexpr uint64_t SpreadSevens(uint64_t v) {
  v = ((v & 0x00fffffff0000000u) << 4) | (v & 0x000000000fffffffu);
  v = ((v & 0x0fffc0000fffc000u) << 2) | (v & 0x00003fff00003fffu);
  v = ((v & 0x3f803f803f803f80u) << 1) | (v & 0x007f007f007f007fu);
  return v;
}
// The inverse: drops the top bit of each byte.
constexpr uint64_t GatherSevens(uint64_t v) {
  v &= 0x7f7f7f7f7f7f7f7fu;
  v = ((v & 0x7f007f007f007f00u) >> 1) | (v & 0x007f007f007f007fu);
  v = ((v & 0x3fff00003fff0000u) >> 2) | (v & 0x00003fff00003fffu);
  v = ((v & 0x0fffffff00000000u) >> 4) | (v & 0x000000000fffffffu);
  return v;
}

static_assert(std::endian::native == std::endian::little,
              "the trace's integers are stored as they lie in memory");

// Most values of most columns take one byte. If they do not, a processor predicts the branch as
// well. Writes `value`; needs kMaxVarintBytes of room, of which it may scribble all. Returns the
// byte behind the varint.
inline uint8_t* PutVarint(uint8_t* at, uint64_t value) {
  if (value < 0x80) {
    *at = static_cast<uint8_t>(value);
    return at + 1;
  }
  if (__builtin_expect(value >> 56 != 0, 0)) {
    while (value >= 0x80) {
      *at++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at++ = static_cast<uint8_t>(value);
    return at;
  }
  const uint32_t bytes = VarintBytes(value);
  // Continuation bits on all bytes but the last one.
  const uint64_t more = kContinuationBits & ((uint64_t{1} << (8 * (bytes - 1))) - 1);
  const uint64_t coded = SpreadSevens(value) | more;
  std::memcpy(at, &coded, sizeof coded);
  return at + bytes;
}

// Reads one varint. Null: cut off at `end`, or more than 64 bits.
inline const uint8_t* GetVarint(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == end) return nullptr;
    const uint64_t byte = *at++;
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

}  // namespace gpuprof::codec
