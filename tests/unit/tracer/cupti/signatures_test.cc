// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launch signatures have one id each, come out once, and are bounded; names are those that stand
// at an address now.

#include "tracer/cupti/signatures.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "proto/matrix_ops.h"
#include "proto/trace.pb.h"
#include "tests/unit/tracer/cupti/made_cubin.h"

namespace gpuprof::tracer::cupti {
namespace {

LaunchSignature Launch(uint32_t name, uint32_t grid) {
  LaunchSignature signature;
  signature.name = name;
  signature.grid[0] = grid;
  signature.grid[1] = signature.grid[2] = 1;
  signature.block[0] = 128;
  signature.registers = 40;
  signature.local_bytes = uint64_t{5} << 32;
  return signature;
}

proto::Signatures Taken(Signatures* signatures, uint32_t* count) {
  std::vector<uint8_t> bytes;
  *count = signatures->Take(&bytes);
  proto::Signatures message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message;
}

TEST(Signatures, AreInternedAndComeOutOnce) {
  Signatures signatures;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 5000; ++i) {
      EXPECT_EQ(signatures.Intern(Launch(7, i)), i + 2) << round;
      EXPECT_EQ(signatures.Intern(Launch(7, i)), i + 2);
    }
  }
  uint32_t count = 0;
  proto::Signatures first = Taken(&signatures, &count);
  EXPECT_EQ(count, 5000u);
  ASSERT_EQ(first.signature_size(), 5000);
  EXPECT_EQ(first.signature(41).id(), 43u);
  EXPECT_EQ(first.signature(41).grid(0), 41u);
  EXPECT_EQ(first.signature(41).block(0), 128u);
  EXPECT_EQ(first.signature(41).registers(), 40u);
  EXPECT_EQ(first.signature(41).local_bytes(), uint64_t{5} << 32);
  EXPECT_EQ(Taken(&signatures, &count).signature_size(), 0);
  signatures.Intern(Launch(8, 1));
  const proto::Signatures second = Taken(&signatures, &count);
  ASSERT_EQ(second.signature_size(), 1);
  EXPECT_EQ(second.signature(0).name(), 8u);
}

TEST(Signatures, AreBounded) {
  Signatures signatures;
  for (uint32_t i = 0; i < Signatures::kMost; ++i) signatures.Intern(Launch(1, i));
  EXPECT_EQ(signatures.refused(), 0u);
  EXPECT_EQ(signatures.Intern(Launch(2, 0)), Signatures::kOverflowId);
  EXPECT_EQ(signatures.refused(), 1u);
  EXPECT_EQ(signatures.Intern(Launch(1, 5)), 7u) << "what is known stays known";
}

TEST(Signatures, BringAlongWhatIsKnownOfTheCode) {
  const auto code = std::make_unique<KernelCode>();
  const std::string cubin = CubinOf(80, {{"matrix", {kHmma}}, {"plain", {kNop}}});
  code->AddModule(cubin.data(), cubin.size());
  Signatures signatures;
  signatures.SetCode(code.get());
  signatures.Intern(Launch(1, 1), "matrix");
  signatures.Intern(Launch(2, 1), "plain");
  signatures.Intern(Launch(3, 1), "never_loaded");
  signatures.Intern(Launch(4, 1));
  uint32_t count = 0;
  const proto::Signatures taken = Taken(&signatures, &count);
  ASSERT_EQ(count, 4u);
  EXPECT_EQ(taken.signature(0).matrix_ops(),
            proto::kCodeLookedAt | proto::MatrixOpBit(proto::MatrixOp::kHmma));
  EXPECT_EQ(taken.signature(1).matrix_ops(), proto::kCodeLookedAt);
  EXPECT_EQ(taken.signature(2).matrix_ops(), 0u);
  EXPECT_EQ(taken.signature(3).matrix_ops(), 0u);
}

TEST(NameCache, TheSamePlaceMayHoldAnotherName) {
  codec::InternTables strings(100, 100, 10000);
  NameCache names(&strings);
  char place[32] = "first_kernel";
  const uint32_t first = names.Id(place);
  EXPECT_EQ(names.Id(place), first);
  std::strcpy(place, "other_kernel");
  names.NextBuffer();
  const uint32_t other = names.Id(place);
  EXPECT_NE(other, first);
  std::strcpy(place, "first_kernel");
  names.NextBuffer();
  EXPECT_EQ(names.Id(place), first);
  EXPECT_EQ(names.Id(nullptr), names.Id(""));
}

TEST(NameCache, LongNamesAreWhole) {
  codec::InternTables strings(100, 100, 1 << 20);
  NameCache names(&strings);
  const std::string common(20000, 'T');
  const uint32_t first = names.Id((common + "float").c_str());
  names.NextBuffer();
  EXPECT_NE(names.Id((common + "half").c_str()), first);
  std::vector<uint8_t> bytes;
  strings.TakeStrings(&bytes);
  proto::Strings message;
  ASSERT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  ASSERT_EQ(message.text_size(), 2);
  EXPECT_EQ(message.text(0), common + "float");
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
