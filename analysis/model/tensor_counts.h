// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an allocator of TensorFlow or JAX counts, apart from its blocks. It is packed into one value
// (RowDetailTable::external). A track with rows of these allocators keeps their details: one for
// each row of tensors, in the same order. Pure functions, any thread.

#pragma once

#include <algorithm>
#include <cstdint>

namespace gpuprof::analysis {

struct TensorCounts {
  uint64_t stack_bytes = 0;    // that programs of the device hold apart from blocks; below 2^44
  uint32_t fragmentation = 0;  // in millionths, as the allocator says
};

inline constexpr uint32_t kWholeFragmentation = 1'000'000;

inline uint64_t PackTensorCounts(const TensorCounts& counts) {
  constexpr uint64_t kMostStack = (uint64_t{1} << 44) - 1;
  return std::min(counts.stack_bytes, kMostStack) << 20 |
         std::min(counts.fragmentation, kWholeFragmentation);
}

inline TensorCounts UnpackTensorCounts(uint64_t packed) {
  return {packed >> 20,
          std::min(static_cast<uint32_t>(packed & ((1u << 20) - 1)), kWholeFragmentation)};
}

}  // namespace gpuprof::analysis
