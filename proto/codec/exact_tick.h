// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Division by a tick of what it divides, without dividing: a multiplication by the inverse of its
// odd part modulo 2^64, which is also how to see whether it divides (Granlund and Montgomery,
// "Division by invariant integers using multiplication", section 9). Pure.

#pragma once

#include <bit>
#include <cstdint>

namespace gpuprof::codec {

class ExactTick {
 public:
  explicit constexpr ExactTick(uint64_t tick = 1)
      : even_(std::countr_zero(tick)), inverse_(tick >> even_), most_(~uint64_t{0} / tick) {
    // Right in three bits at first; each turn doubles them.
    const uint64_t odd = inverse_;
    for (int i = 0; i < 5; ++i) inverse_ *= 2 - odd * inverse_;
  }

  constexpr bool Divides(uint64_t value) const {
    return std::rotr(value * inverse_, even_) <= most_;
  }
  // Of a signed multiple.
  constexpr uint64_t Quotient(uint64_t multiple) const {
    return static_cast<uint64_t>(static_cast<int64_t>(multiple) >> even_) * inverse_;
  }

 private:
  int even_;
  uint64_t inverse_;
  uint64_t most_;
};
static_assert(ExactTick(1000).Divides(7'000) && !ExactTick(1000).Divides(7'008));
static_assert(ExactTick(96).Quotient(0 - uint64_t{96 * 5}) == 0 - uint64_t{5});

}  // namespace gpuprof::codec
