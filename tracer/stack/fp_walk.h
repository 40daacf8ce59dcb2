// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stack walk along frame pointers: about a nanosecond a frame, right only where every function on
// the stack keeps one.
//
// Hook context, any thread. Reads inside the given bounds only and only upwards, so that a frame
// pointer used as an ordinary register costs a short or wrong stack and never a fault.

#pragma once

#include <cstdint>

#include "tracer/stack/stack_bounds.h"

namespace gpuprof::tracer {

// Where a walk begins: the state of the hook's caller as it will be when the hook returns.
struct WalkStart {
  uint64_t ip;  // return address
  uint64_t sp;
  uint64_t fp;
};

// From a hook's __builtin_frame_address(0): there the compiler keeps the caller's frame pointer and
// the return address.
inline WalkStart StartOf(const void* frame) noexcept {
  const uint64_t* words = static_cast<const uint64_t*>(frame);
  return {words[1], reinterpret_cast<uint64_t>(words + 2), words[0]};
}

// Stores at most `most` return addresses, the start's first. Returns how many.
inline uint32_t WalkFramePointers(WalkStart at, const StackBounds& bounds, uint64_t* pcs,
                                  uint32_t most) noexcept {
  uint32_t count = 0;
  while (count < most) {
    pcs[count++] = at.ip;
    uint64_t fp;
    uint64_t ip;
    if (at.fp < at.sp || !bounds.Read(at.fp, &fp) || !bounds.Read(at.fp + 8, &ip)) break;
    if (ip < 4096) break;
    at = {ip, at.fp + 16, fp};
  }
  return count;
}

}  // namespace gpuprof::tracer
