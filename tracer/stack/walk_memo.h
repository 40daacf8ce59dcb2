// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread's previous walk, kept so that the outer frames that two stacks in a row share are
// checked, not walked.
//
// A walk by rules waits at every frame for the word that tells where the next one is. Frames known
// from last time are checked with loads that do not wait for each other: the words that led from
// frame to frame must still be what they were, which makes the result the same as a full walk's.
// Used by its own thread in hook context; a bounded number of threads have one, the others walk in
// full.

#pragma once

#include <cstdint>

#include "proto/record.h"
#include "tracer/stack/fp_walk.h"

namespace gpuprof::tracer {

struct MemoFrame {
  WalkStart at;    // at.ip was read from the word below at.sp
  uint64_t fp_at;  // at.fp was read from there; kFpKept: it is the inner frame's; kUncheckable
};
inline constexpr uint64_t kFpKept = 0;
inline constexpr uint64_t kUncheckable = 1;

struct WalkMemo {
  uint32_t count = 0;
  MemoFrame frames[proto::kMaxStackFrames];  // innermost first
};

// Two of them: one is read while the other is written.
struct ThreadMemo {
  WalkMemo walks[2];
  uint32_t last = 0;
  bool busy = false;  // a walk uses it: one that a signal handler begins meanwhile does not
};

inline constexpr uint32_t kMostMemos = 1024;

// Control thread, once: reserves address space; pages are used as threads come.
void MemosInit();

// The calling thread's, or null.
ThreadMemo* MemoOfThread() noexcept;

}  // namespace gpuprof::tracer
