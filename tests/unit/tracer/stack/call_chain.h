// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Call chains whose true stack is known: every function notes its own return address before it
// calls on. call_chain.cc is compiled twice, with and without frame pointers.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::stack_test {

// Return addresses, outermost first.
using Trail = std::vector<uint64_t>;

struct Next {
  void (*call)(Next* next);
  Trail* trail;
  const char* rest;  // see Descend
  void (*at_end)(Next* next);
  uint64_t sum = 0;
};

// Follows `rest`, one call a letter, then calls at_end: p plain, s large frame, v frame of variable
// size, a frame aligned to 64 bytes, in lower case with and in upper case without frame pointers.
void Descend(Next* next);

#define STACK_TEST_SHAPES(X) X(Plain) X(Large) X(Variable) X(Aligned)
#define STACK_TEST_DECLARE(shape) void shape(Next* next);
namespace with_fp {
STACK_TEST_SHAPES(STACK_TEST_DECLARE)
}
namespace without_fp {
STACK_TEST_SHAPES(STACK_TEST_DECLARE)
}
#undef STACK_TEST_DECLARE

}  // namespace gpuprof::stack_test
