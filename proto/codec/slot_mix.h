// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where a key's slot is in a table of a power of two of slots. By a multiplier that differs from
// run to run, as addresses do: a trace made for it cannot put all of its keys into one row of
// slots. What is found does not depend on it. Pure.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

class SlotMix {
 public:
  explicit SlotMix(const void* table)
      : multiplier_(0x9e3779b97f4a7c15u * (reinterpret_cast<uintptr_t>(table) | 1)) {}
  // Its lower 32 bits are mixed.
  uint64_t operator()(uint64_t key) const { return (key * multiplier_) >> 32; }

 private:
  uint64_t multiplier_;
};

}  // namespace gpuprof::codec
