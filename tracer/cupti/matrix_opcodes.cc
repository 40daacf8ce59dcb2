// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/matrix_opcodes.h"

#include <string.h>

namespace gpuprof::tracer::cupti {
namespace {

using proto::MatrixOp;
using proto::MatrixOpBit;

constexpr uint64_t kOperation = 0xfff;
constexpr uint64_t kWide = 1u << (91 - 64);  // bit 91

struct Opcode {
  uint32_t operation;
  bool is_wide;  // bit 91 is set
  uint32_t first_sm, last_sm;
  MatrixOp op;
};

// Numbers are given anew: 0x236 is HMMA's on Turing and an addition's (VIADD) on Hopper; so a range
// ends where the disassembler's knowledge ends. HFMA2.MMA (0x235) is a multiply-add of two halves,
// whatever its name says.
constexpr Opcode kOpcodes[] = {
    {0x236, false, 70, 75, MatrixOp::kHmma},
    {0x23c, false, 75, 121, MatrixOp::kHmma},
    {0x237, false, 72, 121, MatrixOp::kImma},
    {0x23d, false, 75, 90, MatrixOp::kBmma},
    {0x23f, false, 80, 121, MatrixOp::kDmma},
    {0x27a, false, 89, 89, MatrixOp::kQmma},
    {0x27a, false, 120, 121, MatrixOp::kQmma},
    {0x47a, false, 120, 121, MatrixOp::kQmma},  // with scales of blocks, as the next
    {0x47f, false, 120, 121, MatrixOp::kOmma},
    {0x9f0, true, 90, 90, MatrixOp::kHgmma},  // A in shared memory; below, in registers
    {0xdf0, true, 90, 90, MatrixOp::kHgmma},
    {0x9f1, true, 90, 90, MatrixOp::kIgmma},
    {0xdf1, true, 90, 90, MatrixOp::kIgmma},
    {0x9f2, true, 90, 90, MatrixOp::kBgmma},
    {0xdf2, true, 90, 90, MatrixOp::kBgmma},
    {0x9f3, true, 90, 90, MatrixOp::kQgmma},
    {0xdf3, true, 90, 90, MatrixOp::kQgmma},
    // All of UTC*MMA: which of them, other bits tell.
    {0x5ea, true, 100, 110, MatrixOp::kUtchmma},
    {0x9ea, true, 100, 110, MatrixOp::kUtchmma},
    {0xdea, true, 100, 110, MatrixOp::kUtchmma},
    {0xfea, true, 100, 110, MatrixOp::kUtchmma},
};

constexpr uint32_t kArchitectures[] = {70, 72,  75,  80,  86,  87,  88, 89,
                                       90, 100, 101, 103, 110, 120, 121};

uint32_t UtcBit(uint64_t low, uint64_t high) {
  constexpr uint64_t kWithScales = 0xc00;  // of a pair of blocks: eight bits and fewer
  const uint64_t type = high >> 8 & 3;
  if ((low & kWithScales) == kWithScales || type >= 2) return MatrixOpBit(MatrixOp::kUtcqmma);
  if (type == 1) return MatrixOpBit(MatrixOp::kUtcimma);
  return MatrixOpBit(low >> 63 != 0 ? MatrixOp::kUtcomma : MatrixOp::kUtchmma);
}

}  // namespace

MatrixOpcodes::MatrixOpcodes(uint32_t sm) : sm_(sm), is_known_(false) {
  for (const uint32_t known : kArchitectures) is_known_ |= sm == known;
  for (const Opcode& opcode : kOpcodes) {
    if (sm >= opcode.first_sm && sm <= opcode.last_sm)
      maybe_[opcode.operation >> 6] |= uint64_t{1} << (opcode.operation & 63);
  }
}

uint32_t MatrixOpcodes::BitOf(uint64_t low, uint64_t high) const {
  for (const Opcode& opcode : kOpcodes) {
    if ((low & kOperation) != opcode.operation || ((high & kWide) != 0) != opcode.is_wide ||
        sm_ < opcode.first_sm || sm_ > opcode.last_sm)
      continue;
    return opcode.op == MatrixOp::kUtchmma ? UtcBit(low, high) : MatrixOpBit(opcode.op);
  }
  return 0;
}

uint32_t MatrixOpcodes::FindIn(const uint8_t* code, size_t bytes) const {
  uint32_t found = 0;
  // Matrix instructions come in long rows of one kind.
  uint64_t last_low = 0, last_high = 0;
  constexpr uint64_t kLowBits = kOperation | uint64_t{1} << 63, kHighBits = kWide | 0x300;
  for (size_t at = 0; at + kInstructionBytes <= bytes; at += kInstructionBytes) {
    uint64_t low;
    memcpy(&low, code + at, sizeof(low));
    if (!MayBe(low)) [[likely]]
      continue;
    uint64_t high;
    memcpy(&high, code + at + sizeof(low), sizeof(high));
    if ((low & kLowBits) == last_low && (high & kHighBits) == last_high) continue;
    last_low = low & kLowBits;
    last_high = high & kHighBits;
    found |= BitOf(low, high);
  }
  return found;
}

}  // namespace gpuprof::tracer::cupti
