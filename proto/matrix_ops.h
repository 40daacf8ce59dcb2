// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Families of tensor-core instructions: the bits of Signature.matrix_ops. The tracer sets them from
// a kernel's machine code, the analysis names them. Numbers only.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

// Bit 0: the kernel's code was looked at, and all code of its name says the same. Alone it says
// that there is none. Families without it: some code of that name holds them and some does not.
// 0: nothing is known.
inline constexpr uint32_t kCodeLookedAt = 1;

// Named as NVIDIA's disassembler names the instructions. The first letter is of the operands: H of
// 16 bits (or tf32), I integers, D double, B single bits, Q eight bits and fewer, O four bits.
enum class MatrixOp : uint32_t {
  kHmma = 1,
  kImma,
  kDmma,
  kBmma,
  kQmma,
  kOmma,
  // Of a warp group, Hopper.
  kHgmma,
  kIgmma,
  kQgmma,
  kBgmma,
  // Of the fifth generation's tensor memory, Blackwell.
  kUtchmma,
  kUtcimma,
  kUtcqmma,
  kUtcomma,
};
inline constexpr uint32_t kLastMatrixOp = static_cast<uint32_t>(MatrixOp::kUtcomma);

constexpr uint32_t MatrixOpBit(MatrixOp op) { return 1u << static_cast<uint32_t>(op); }

}  // namespace gpuprof::proto
