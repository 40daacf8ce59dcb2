// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CRC32C (Castagnoli) of the container's small fixed headers. Writer, reader and recovery; any
// thread; a table in read-only memory, nothing allocated.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

uint32_t Crc32c(const void* data, uint64_t bytes);

// Of a header struct whose last member is its checksum.
template <typename Header>
uint32_t HeaderCrc(const Header& header) {
  static_assert(sizeof(header) > sizeof(header.crc));
  return Crc32c(&header, sizeof(header) - sizeof(header.crc));
}

}  // namespace gpuprof::codec
