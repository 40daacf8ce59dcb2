// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions are written by hand: whether a compiler splits one is its own decision.

#include "tracer/python/far_part.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)

asm(R"(
  .text
  .type far_part_near, @function
far_part_near:
  .cfi_startproc
  test %edi, %edi
  .byte 0x0f, 0x84
  .long far_part_far + 1 - . - 4
  cmp $7, %edi
  .byte 0x0f, 0x84
  .long far_part_far + 7 - . - 4
  .byte 0x0f, 0x85
  .long far_part_called - . - 4
far_part_back:
  nop
  nop
  ret
  .cfi_endproc
far_part_near_end:
  .size far_part_near, . - far_part_near

  .type far_part_called, @function
far_part_called:
  .cfi_startproc
  mov $1, %eax
  ret
  .cfi_endproc
  .size far_part_called, . - far_part_called

  .type far_part_far, @function
far_part_far:
  .cfi_startproc
  nop
  nop
  .byte 0xe9
  .long far_part_back - . - 4
  .byte 0xe9
  .long far_part_back + 1 - . - 4
  nop
  .cfi_endproc
far_part_far_end:
  .size far_part_far, . - far_part_far

  # Jumps twice to where a function begins, and twice into one that does not jump back.
  .type far_part_whole, @function
far_part_whole:
  .cfi_startproc
  .byte 0x0f, 0x84
  .long far_part_called - . - 4
  .byte 0x0f, 0x85
  .long far_part_called - . - 4
  .byte 0x0f, 0x84
  .long far_part_called + 5 - . - 4
  .byte 0x0f, 0x85
  .long far_part_called + 5 - . - 4
  ret
  .cfi_endproc
far_part_whole_end:
  .size far_part_whole, . - far_part_whole
)");

extern "C" {
extern const char far_part_near[], far_part_near_end[], far_part_far[], far_part_far_end[],
    far_part_whole[], far_part_whole_end[];
}

namespace gpuprof::tracer {
namespace {

uint64_t Place(const char* label) { return reinterpret_cast<uint64_t>(label); }

CodeObject OwnObject() {
  ModulesRefresh();
  CodeObject object;
  EXPECT_TRUE(FindCode(Place(far_part_near), &object));
  return object;
}

TEST(FarPartTest, IsFoundByItsJumps) {
  const CodePart near = {Place(far_part_near), Place(far_part_near_end)};
  const CodePart far = FarPartOf(near, OwnObject());
  EXPECT_EQ(far.begin, Place(far_part_far));
  EXPECT_EQ(far.end, Place(far_part_far_end));
}

TEST(FarPartTest, IsNoFunctionThatIsCalledLast) {
  const CodePart whole = {Place(far_part_whole), Place(far_part_whole_end)};
  EXPECT_EQ(FarPartOf(whole, OwnObject()).end, 0u);
}

TEST(FarPartTest, IsNotFoundWithoutTables) {
  const CodePart near = {Place(far_part_near), Place(far_part_near_end)};
  CodeObject object = OwnObject();
  object.eh_frame_hdr = 0;
  EXPECT_EQ(FarPartOf(near, object).end, 0u);
}

}  // namespace
}  // namespace gpuprof::tracer

#endif
