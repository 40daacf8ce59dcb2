// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What memory of a framework is for, by the place that allocated it: rules over names. Any thread.

#pragma once

#include <cstdint>
#include <string_view>

#include "proto/kinds/memory.pb.h"

namespace gpuprof::analysis {

inline constexpr int kMemoryCategories = results::MemoryCategory_MAX + 1;

// A frame of Python or C++. An operation has an empty `file`.
struct MemoryFrame {
  std::string_view file, function;
};

// Returns the category that a frame says. Unknown: it says nothing.
results::MemoryCategory CategoryOfFrame(const MemoryFrame& frame);

// Judges the frames of a stack, innermost first. The first frame that says something decides, with
// two exceptions: a forward pass makes objects, and a graph captures a forward pass.
class MemoryJudge {
 public:
  // Takes the next frame outwards.
  void Add(results::MemoryCategory of_frame);
  results::MemoryCategory category() const { return category_; }

 private:
  results::MemoryCategory category_ = results::MEMORY_CATEGORY_UNKNOWN;
};

}  // namespace gpuprof::analysis
