// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which of two columns an entropy coder makes shorter. Pure; without floating point, as the tracer
// has no mathematical library.

#pragma once

#include <bit>
#include <cstdint>

namespace gpuprof::codec {

// log2 of a number above 0, in 1/256.
constexpr uint64_t Log2In256ths(uint64_t value) {
  const int whole = std::bit_width(value) - 1;
  // In [1, 2), with 31 bits behind the point: squared, each doubling is one bit of the logarithm.
  uint64_t mantissa = whole >= 31 ? value >> (whole - 31) : value << (31 - whole);
  uint64_t result = static_cast<uint64_t>(whole);
  for (int i = 0; i < 8; ++i) {
    mantissa = mantissa * mantissa >> 31;
    result = result << 1 | mantissa >> 32;
    mantissa >>= mantissa >> 32;
  }
  return result;
}
static_assert(Log2In256ths(1) == 0 && Log2In256ths(1024) == 2560 && Log2In256ths(3) == 405);

// Bits, times 256, of `bytes` bytes when each is coded by how often it comes.
inline uint64_t ByteEntropy(const uint8_t* data, uint64_t bytes) {
  uint32_t count[256] = {};
  for (uint64_t i = 0; i < bytes; ++i) ++count[data[i]];
  uint64_t bits = 0;
  for (const uint32_t times : count) {
    if (times != 0) bits += times * (Log2In256ths(bytes) - Log2In256ths(times));
  }
  return bits;
}

}  // namespace gpuprof::codec
