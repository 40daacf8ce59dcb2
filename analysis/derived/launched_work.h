// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much kernels compute and move, by the shapes of the operations that launched them
// (op_work.h). The figure of an operation goes to one kernel, the longest that the operation
// launched itself. Bytes are given only if the operation launched no other kernel. Operations of
// XLA have the figures of their program (hlo_work.h).
//
// Made for one process, then read only. It keeps an entry for each operation that launched kernels.

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/derived/hlo_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"

namespace gpuprof::analysis {

class LaunchedWork {
 public:
  LaunchedWork(ProcessOps* ops, Origin* origins, RowDetails* details);

  // Returns the floating-point operations of a row of kernels. None: not known. `track`: index in
  // Process::tracks.
  std::optional<uint64_t> FlopsOf(uint32_t track, size_t row) const {
    return Find(flops_, track, row);
  }
  // Returns the bytes that the kernel reads and writes at least. None: not known.
  std::optional<uint64_t> BytesOf(uint32_t track, size_t row) const {
    return Find(bytes_, track, row);
  }
  // Returns the figures of a row of kernels by XLA's program.
  HloFigures HloOf(const KernelTable& kernels, size_t row) const { return hlo_.Of(kernels, row); }
  struct KernelRef {
    uint32_t track = 0;
    size_t row = 0;
  };
  // Returns the kernel that has the operations of an operation of the framework. The operation took
  // the time of all kernels that it launched. None: its floating-point operations are not known.
  std::optional<KernelRef> FlopKernelOf(OpRef op) const {
    const auto kernel = Find(flop_kernels_, op.track, op.row);
    if (!kernel) return std::nullopt;
    return KernelRef{static_cast<uint32_t>(*kernel >> 40),
                     static_cast<size_t>(*kernel & ((uint64_t{1} << 40) - 1))};
  }
  // Returns whether the bytes of an operation are known.
  bool KnowsBytes(OpRef op) const { return known_bytes_.count(KeyOf(op.track, op.row)) != 0; }

 private:
  using ByRow = std::unordered_map<uint64_t, uint64_t>;  // by track << 40 | row
  static uint64_t KeyOf(uint32_t track, size_t row) { return uint64_t{track} << 40 | row; }
  static std::optional<uint64_t> Find(const ByRow& values, uint32_t track, size_t row) {
    const auto found = values.find(KeyOf(track, row));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }

  ByRow flops_, bytes_;
  ByRow flop_kernels_;                        // by operation: KeyOf the kernel
  std::unordered_set<uint64_t> known_bytes_;  // operations
  HloWork hlo_;
};

}  // namespace gpuprof::analysis
