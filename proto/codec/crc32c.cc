// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CRC32C by one table, a byte at a time: headers are some 60 bytes and come a few times a second,
// so nothing faster is called for, and no processor feature has to be probed in a foreign process.

#include "proto/codec/crc32c.h"

#include <array>

namespace gpuprof::codec {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // reflected

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t Crc32c(const void* data, uint64_t bytes) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  uint32_t crc = ~0u;
  for (uint64_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ kTable[(crc ^ at[i]) & 0xff];
  return ~crc;
}

}  // namespace gpuprof::codec
