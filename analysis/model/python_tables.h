// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a recording has of Python itself: calls of its functions, and pauses of its collector. Plain
// data.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/base/column.h"

namespace gpuprof::analysis {

// Calls of Python functions, as gpuprof or another profiler of Python traced them. On the track of
// their thread.
struct PythonTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> name;    // string id: "file.py(12): function", or "nn.Module: Linear_0"
  Column<uint32_t> parent;  // row of the calling function; kNoRow: none
  Column<uint32_t> stack;   // of named frames, the function's own innermost
  Column<int64_t> self_ns;  // time in which no function that it called ran
  // flags << 8 | depth << 16, of calls that gpuprof recorded.
  Column<uint32_t> operation;
  size_t rows() const { return end_ns.size(); }
  static constexpr uint32_t kNoRow = 0xffffffff;
};

// Pauses of CPython's garbage collector, on the track of the thread that collected.
struct GcPauseTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> generation;
  Column<uint64_t> collected;
  Column<uint64_t> uncollectable;
  size_t rows() const { return end_ns.size(); }
};

}  // namespace gpuprof::analysis
