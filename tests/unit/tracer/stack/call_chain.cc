// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compiled twice; STACK_TEST_VARIANT is the namespace. What each function does after its call keeps
// it from being a tail call.

#include "tests/unit/tracer/stack/call_chain.h"

#include <alloca.h>

namespace gpuprof::stack_test::STACK_TEST_VARIANT {
namespace {

[[gnu::always_inline]] inline void Note(Next* next) {
  next->trail->push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
}

}  // namespace

[[gnu::noinline]] void Plain(Next* next) {
  Note(next);
  next->call(next);
  next->sum += 1;
}

[[gnu::noinline]] void Large(Next* next) {
  Note(next);
  volatile char space[3000];
  asm volatile("" : : "r"(space) : "memory");  // else the one byte in use could be all of it
  space[7] = 1;
  next->call(next);
  next->sum += static_cast<uint64_t>(space[7]);
}

[[gnu::noinline]] void Variable(Next* next) {
  Note(next);
  const uint64_t size = 16 + next->trail->size() * 24;
  volatile char* space = static_cast<volatile char*>(alloca(size));
  space[size - 1] = 1;
  next->call(next);
  next->sum += static_cast<uint64_t>(space[size - 1]);
}

[[gnu::noinline]] void Aligned(Next* next) {
  Note(next);
  alignas(64) volatile char space[64];
  space[0] = 1;
  next->call(next);
  next->sum += static_cast<uint64_t>(space[0]);
}

}  // namespace gpuprof::stack_test::STACK_TEST_VARIANT
