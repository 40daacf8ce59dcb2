// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When it is worth giving memory back again: to write what there is in small chunks costs time and
// room, and blocks of the heap's slabs come back to the heap alone, so that memory which has been
// short stays so. Pure; one thread at a time.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

class MemoryRelief {
 public:
  // By how much more must be mapped than when memory was given back last.
  static constexpr uint64_t kGrowth = 1u << 20;

  // Whether to give memory back now; Given() follows. `mapped` as MemoryBytes().
  bool IsDue(bool is_short, uint64_t mapped) {
    if (!is_short) is_given_ = false;
    return is_short && (!is_given_ || mapped > given_at_ + kGrowth);
  }
  // It was; so much is mapped now.
  void Given(uint64_t mapped) {
    is_given_ = true;
    given_at_ = mapped;
  }

 private:
  bool is_given_ = false;
  uint64_t given_at_ = 0;
};

}  // namespace gpuprof::tracer
