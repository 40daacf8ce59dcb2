// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which machine instructions are tensor cores' work, by architecture. Since Volta an instruction
// has 16 bytes, of which bits 0 to 11 and bit 91 are the operation. The numbers are what NVIDIA's
// disassembler calls HMMA, IMMA, DMMA and so on, found by letting it read every operation for every
// architecture; tests/unit/tracer/cupti/matrix_opcodes_test.py compares them with it again.
//
// Pure; any thread, any context.

#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/matrix_ops.h"

namespace gpuprof::tracer::cupti {

inline constexpr size_t kInstructionBytes = 16;

// Recognises the instructions of one architecture. `sm` is its number, as 90 of sm_90.
class MatrixOpcodes {
 public:
  explicit MatrixOpcodes(uint32_t sm);

  // False: an architecture that this table was not made for, of which nothing may be said.
  bool is_known() const { return is_known_; }
  // Bits of proto::MatrixOp that occur in `code`, of whole instructions.
  uint32_t FindIn(const uint8_t* code, size_t bytes) const;

 private:
  bool MayBe(uint64_t low) const { return (maybe_[low >> 6 & 63] >> (low & 63) & 1) != 0; }
  uint32_t BitOf(uint64_t low, uint64_t high) const;

  uint64_t maybe_[64] = {};  // a bit each operation, bit 91 apart
  uint32_t sm_;
  bool is_known_;
};

}  // namespace gpuprof::tracer::cupti
