// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a kernel record's launch signature, for each kernel that ran (the drain's pass). Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/signatures.h"

namespace gpuprof::tracer::cupti {

inline uint64_t Pair(uint32_t first, uint32_t second) { return first | uint64_t{second} << 32; }

// Two fields, one behind the other.
inline uint64_t PairAt(const Record& record, size_t offset) {
  if (offset + 8 <= record.bytes()) return record.U64(offset);
  return record.U32(offset);
}

// By words, which is how Signatures looks at them: a processor must wait for what it has just
// stored where it loads that together with its neighbours.
[[gnu::always_inline]] inline LaunchSignature SignatureOf(const Record& record, uint32_t name,
                                                          uint8_t device_launched) {
  static_assert(kernel::kContext == kernel::kDevice + 4 && kernel::kBlock == kernel::kGrid + 12);
  static_assert(kernel::kStaticShared == kernel::kBlock + 12 &&
                kernel::kDynamicShared == kernel::kStaticShared + 4);
  LaunchSignature s;
  const auto put = [&s](size_t at, uint64_t pair) {
    memcpy(reinterpret_cast<char*>(&s) + at, &pair, sizeof(pair));
  };
  put(offsetof(LaunchSignature, device), PairAt(record, kernel::kDevice));
  put(offsetof(LaunchSignature, grid), PairAt(record, kernel::kGrid));
  put(offsetof(LaunchSignature, grid) + 4 * 2, PairAt(record, kernel::kGrid + 8));
  put(offsetof(LaunchSignature, block) + 4 * 1, PairAt(record, kernel::kGrid + 16));
  put(offsetof(LaunchSignature, static_shared), PairAt(record, kernel::kStaticShared));
  put(offsetof(LaunchSignature, local_per_thread), Pair(record.U32(kernel::kLocalPerThread), name));
  put(offsetof(LaunchSignature, cluster), PairAt(record, kernel::kCluster));
  put(offsetof(LaunchSignature, cluster) + 4 * 2,
      Pair(record.U32(kernel::kCluster + 8), record.U32(kernel::kSharedExecuted)));
  s.local_bytes = record.U64(kernel::kLocalTotal);
  put(offsetof(LaunchSignature, device_launched),
      Pair(device_launched, record.U16(kernel::kRegisters) |
                                uint32_t{record.U8(kernel::kCacheConfig)} << 16 |
                                uint32_t{record.U8(kernel::kLaunchType)} << 24));
  return s;
}

}  // namespace gpuprof::tracer::cupti
