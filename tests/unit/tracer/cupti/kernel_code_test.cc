// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tensor-core instructions are found in cubins, each architecture by its own numbers, and nothing
// is said where something is missing. The cubins are made_cubin.h's; matrix_opcodes_test.py takes
// real ones.

#include "tracer/cupti/kernel_code.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "proto/matrix_ops.h"
#include "tests/unit/tracer/cupti/made_cubin.h"
#include "tracer/cupti/matrix_opcodes.h"

namespace gpuprof::tracer::cupti {
namespace {

using proto::kCodeLookedAt;
using proto::MatrixOp;
using proto::MatrixOpBit;

class KernelCodeTest : public testing::Test {
 protected:
  void Load(const std::string& cubin) { code_->AddModule(cubin.data(), cubin.size()); }
  void Load(uint32_t sm, const std::vector<Function>& functions, Abi abi = Abi::k8) {
    Load(CubinOf(sm, functions, abi));
  }
  uint32_t Ops(const char* name) const { return code_->MatrixOps(name); }

  std::unique_ptr<KernelCode> code_ = std::make_unique<KernelCode>();
};

constexpr uint32_t kHmmaBits = kCodeLookedAt | MatrixOpBit(MatrixOp::kHmma);

TEST_F(KernelCodeTest, TellsUsedFromUnusedAndUnseen) {
  Load(80, {{"with", {kNop, kFfma, kHmma, kNop}}, {"without", {kFfma, kOther, kNop}}});
  EXPECT_EQ(Ops("with"), kHmmaBits);
  EXPECT_EQ(Ops("without"), kCodeLookedAt);
  EXPECT_EQ(Ops("another"), 0u);
  EXPECT_EQ(Ops("wit"), 0u);
  EXPECT_EQ(Ops(""), 0u);
  EXPECT_EQ(Ops(nullptr), 0u);
}

TEST_F(KernelCodeTest, BothLayoutsOfTheArchitecturesNumber) {
  for (const Abi abi : {Abi::k7, Abi::k8}) {
    code_ = std::make_unique<KernelCode>();
    Load(90, {{"k", {kHgmma, kImma}}}, abi);
    EXPECT_EQ(Ops("k"),
              kCodeLookedAt | MatrixOpBit(MatrixOp::kHgmma) | MatrixOpBit(MatrixOp::kImma));
  }
}

TEST_F(KernelCodeTest, NothingIsSaidOfAnArchitectureThatIsNotKnown) {
  for (const uint32_t sm : {0u, 61u, 79u, 91u, 107u, 130u, 255u}) {
    EXPECT_FALSE(MatrixOpcodes(sm).is_known());
    Load(sm, {{"with", {kHmma}}, {"without", {kNop}}});
  }
  EXPECT_EQ(Ops("with"), 0u);
  EXPECT_EQ(Ops("without"), 0u);
}

TEST_F(KernelCodeTest, ModulesThatDifferSaySo) {
  Load(80, {{"k", {kHmma}}});
  EXPECT_EQ(Ops("k"), kHmmaBits);
  Load(80, {{"k", {kImma}}});
  EXPECT_EQ(Ops("k"), kHmmaBits | MatrixOpBit(MatrixOp::kImma)) << "all of them do";
  Load(80, {{"k", {kNop}}});
  EXPECT_EQ(Ops("k"), MatrixOpBit(MatrixOp::kHmma) | MatrixOpBit(MatrixOp::kImma)) << "not all";
}

TEST_F(KernelCodeTest, WhatAKernelMayCallLeavesItOpen) {
  Load(80, {{"calls", {kFfma}}, {"own", {kHmma}}, {"tile", {kHmma}, /*is_kernel=*/false}});
  EXPECT_EQ(Ops("calls"), 0u);
  EXPECT_EQ(Ops("own"), kHmmaBits);
  // What other kernels have, or what has none, is called by nobody for that.
  Load(80, {{"free", {kFfma}}, {"with", {kHmma}}, {"divide", {kFfma}, /*is_kernel=*/false}});
  EXPECT_EQ(Ops("free"), kCodeLookedAt);
}

TEST_F(KernelCodeTest, OneModuleLoadedAgainChangesNothing) {
  for (int i = 0; i < 3; ++i) Load(80, {{"with", {kHmma}}, {"without", {kNop}}});
  EXPECT_EQ(Ops("with"), kHmmaBits);
  EXPECT_EQ(Ops("without"), kCodeLookedAt);
}

TEST_F(KernelCodeTest, IsBounded) {
  for (uint32_t i = 0; i < KernelCode::kMost + 1000; i += 1000) {
    std::vector<Function> functions;
    for (uint32_t j = i; j < i + 1000; ++j) functions.push_back({std::to_string(j), {kHmma}});
    Load(80, functions);
  }
  uint32_t known = 0;
  for (uint32_t i = 0; i < KernelCode::kMost + 1000; ++i)
    known += Ops(std::to_string(i).c_str()) == kHmmaBits ? 1 : 0;
  EXPECT_EQ(known, KernelCode::kMost);
}

// Each in memory of its own, so that a sanitizer sees a byte too many.
TEST_F(KernelCodeTest, ACutFileSaysWhatItHoldsOrNothing) {
  const std::string whole =
      CubinOf(80, {{"with", {kHmma}}, {"tile", {kNop}, false}, {"without", {kNop}}});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto part = std::make_unique<char[]>(bytes);
    memcpy(part.get(), whole.data(), bytes);
    code_->AddModule(part.get(), bytes);
    EXPECT_EQ(Ops("with"), 0u) << "sections are at the end";
  }
  code_->AddModule(nullptr, 100);
}

// The sanitizers' alone: what comes out of such bytes is of no matter.
TEST_F(KernelCodeTest, WhateverBytesThereAreNoneOutsideIsRead) {
  const std::string whole = CubinOf(80, {{"with", {kHmma}}, {"without", {kNop}}});
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      const auto changed = std::make_unique<char[]>(whole.size());
      memcpy(changed.get(), whole.data(), whole.size());
      changed[at] = value;
      code_->AddModule(changed.get(), whole.size());
    }
  }
}

uint32_t Find(uint32_t sm, uint64_t low, uint64_t high) {
  const uint64_t code[] = {low, high};
  return MatrixOpcodes(sm).FindIn(reinterpret_cast<const uint8_t*>(code), sizeof(code));
}

// Operations of each kind as ptxas 13.0 wrote them and nvdisasm 13.5 named them; of sm_70 and sm_72
// as ptxas 12.8 wrote them for mma and wmma.
TEST(MatrixOpcodes, OfEveryFamily) {
  const struct {
    uint32_t sm;
    uint64_t low, high;
    MatrixOp op;
  } found[] = {
      {70, 0x0000000202047236, 0x0000000000000004, MatrixOp::kHmma},
      {72, 0x0000000202047237, 0x0000000000000004, MatrixOp::kImma},
      {75, 0x000000000810723c, 0x000fe200000018ff, MatrixOp::kHmma},  // HMMA.1688.F32
      {75, 0x0000000b000e7237, 0x000fe200004054ff, MatrixOp::kImma},  // IMMA.8816.S8.S8
      {75, 0x00000007040a723d, 0x000fe200000014ff, MatrixOp::kBmma},  // BMMA.88128.XOR.POPC
      {80, 0x000000100408723c, 0x008fee0000005a08, MatrixOp::kHmma},  // HMMA.SP.16832.F32
      {86, 0x000000040204723f, 0x000fe200000000ff, MatrixOp::kDmma},  // DMMA.884
      {90, 0x00000007040a723d, 0x000fe200000014ff, MatrixOp::kBmma},
      {89, 0x000000080408727a, 0x000fe200000018ff, MatrixOp::kQmma},   // QMMA.16832.F32.E4M3.E4M3
      {120, 0x000000080408727a, 0x000fe2000018ecff, MatrixOp::kQmma},  // QMMA.16832.F32.E2M1.E3M2
      {120, 0x700000080408747a, 0x008fe20000003eff, MatrixOp::kQmma},  // QMMA.SF.16832.F32
      {121, 0x700000080408747f, 0x008fe20000043eff, MatrixOp::kOmma},  // OMMA.SF.16864.F32
      {121, 0x7080080c0404747f, 0x000fde0000053eff, MatrixOp::kOmma},  // OMMA.SF.SP.168128.F32
      {90, 0x00000000081879f0, 0x000fe60008000818, MatrixOp::kHgmma},  // HGMMA.64x8x16.F32
      {90, 0x000000041c187df0, 0x000fe60008000818, MatrixOp::kHgmma},  // A in registers
      {90, 0x08001c00081879f0, 0x000fe60008000a18, MatrixOp::kHgmma},  // HGMMA.SP.64x8x32.F32
      {90, 0x00000000081879f1, 0x000fe60008041018, MatrixOp::kIgmma},  // IGMMA.64x8x32.S8.S8
      {90, 0x00000000081879f2, 0x000fe60008014018, MatrixOp::kBgmma},  // BGMMA.64x8x256.AND.POPC
      {90, 0x00000000081879f3, 0x000fe60008002818, MatrixOp::kQgmma},  // QGMMA.64x8x32
      {100, 0x00ff060a080075ea, 0x0001d80008000004, MatrixOp::kUtchmma},
      {103, 0x00ff0408070079ea, 0x0001d80008000006, MatrixOp::kUtchmma},  // A in tensor memory
      {110, 0x00ff040a080075ea, 0x0001d80008080006, MatrixOp::kUtchmma},  // UTCHMMA.WS
      {100, 0x00ff040a080075ea, 0x0001d80008000106, MatrixOp::kUtcimma},
      {100, 0x00ff040a080075ea, 0x0001d80008000306, MatrixOp::kUtcqmma},
      {101, 0x0008040c0a007dea, 0x0001d80008200306, MatrixOp::kUtcqmma},  // UTCQMMA.2CTA
      {100, 0x8008040c0a0075ea, 0x0001d80008000006, MatrixOp::kUtcomma},  // UTCOMMA.4X
      {100, 0xc008040c0a0075ea, 0x0001d80008000006, MatrixOp::kUtcomma},
  };
  for (const auto& one : found)
    EXPECT_EQ(Find(one.sm, one.low, one.high), MatrixOpBit(one.op)) << one.sm << " " << one.low;
}

TEST(MatrixOpcodes, NotOfWhatIsNearThem) {
  const struct {
    uint32_t sm;
    uint64_t low, high;
  } others[] = {
      {90, 0x0000000102027236, 0x000fe20000000000},   // VIADD has the number of Turing's HMMA
      {80, 0x00000004ff117435, 0x000fe200000001ff},   // HFMA2.MMA
      {90, 0x00000000000079c5, 0x004fcc0000000000},   // WARPGROUP.ARRIVE
      {100, 0x00000004000475e3, 0x000e240008000800},  // UTCATOMSWS
      {100, 0x00000004080079e7, 0x0001d80008000000},  // UTCCP
      {100, 0x00000000080079e6, 0x000fd80008010000},  // UTCSHIFT
      {100, 0x000000ff040073e9, 0x0001d800080000ff},  // UTCBAR
      {100, 0x00000008000579ee, 0x000e620008040000},  // LDTM
      {100, 0x00000005000079ed, 0x0023e20008040008},  // STTM
      {100, 0x00000000081879f0, 0x000fe60008000818},  // HGMMA of Hopper
      {120, 0x00ff060a080075ea, 0x0001d80008000004},  // UTCHMMA of other Blackwells
      {100, 0x00000007040a723d, 0x000fe200000014ff},  // BMMA, which is no more
      {90, 0x000000080408727a, 0x000fe200000018ff},   // QMMA of Ada
      {90, 0x00000000081879f0, 0x000fe60000000818},   // HGMMA without bit 91
  };
  for (const auto& one : others) EXPECT_EQ(Find(one.sm, one.low, one.high), 0u) << one.low;
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
